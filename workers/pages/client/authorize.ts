// Connects the consent sheet to the page that opened it, with messages restricted to the request's origin. The script confirms that the
// page made the request, and delivers the result. If the opener is closed or does not respond, the script navigates to the return URL, if
// any.
import "./passkey.ts"; // shows the passkey form if the browser supports passkeys

const sheet = document.querySelector<HTMLElement>("[data-origin]");

const responseTimeoutMs = 1_000; // enough, because a page that is still open responds immediately
const clickGuardMs = 500; // ignores clicks right after the window appears, which may be meant for the page below it

if (sheet !== null) {
  const { origin = "", state = "", code } = sheet.dataset;
  const opener = window.opener as Window | null;
  const postToOpener = (type: string, payload: object = {}): void => opener?.postMessage({ type, state, ...payload }, origin);
  const show = (selector: string, isShown = true): void => {
    for (const element of sheet.querySelectorAll<HTMLElement>(selector)) element.hidden = !isShown;
  };
  const confirmation = sheet.querySelector<HTMLFormElement>("form[data-confirms]");

  let isReceived = false;
  let isConfirmed = false;
  addEventListener("message", (event: MessageEvent<unknown>) => {
    if (event.origin !== origin || event.source !== opener || opener === null) return;
    const { type, state: messageState } = (event.data ?? {}) as { readonly type?: unknown; readonly state?: unknown };
    if (messageState !== state) return;
    // The opener replies only to a `state` that it created, so a reply proves that the opener made the request. If `state` is empty, a
    // reply proves nothing.
    if (type === "svc:hello" && confirmation !== null && state !== "" && !isConfirmed) {
      isConfirmed = true;
      (confirmation.elements.namedItem("opener_origin") as HTMLInputElement).value = event.origin;
      confirmation.submit();
    }
    if (type === "svc:received" && code !== undefined) {
      isReceived = true;
      window.close();
    }
  });

  postToOpener("svc:ready");

  if (confirmation !== null && opener !== null && state !== "") {
    const showConfirming = (isConfirming: boolean): void => {
      show("[data-confirming]", isConfirming);
      show("[data-unconfirmed]", !isConfirming);
    };
    showConfirming(true);
    setTimeout(() => showConfirming(isConfirmed), responseTimeoutMs);
  }

  if (code !== undefined) {
    const returnLink = sheet.querySelector<HTMLAnchorElement>("[data-go-back]");
    const returnToPage = (): void => {
      if (isReceived) return;
      if (returnLink !== null) location.replace(returnLink.href);
      else {
        show("[data-going]", false);
        show("[data-unanswered]");
      }
    };
    show("[data-going]");
    postToOpener("svc:code", { code });
    if (opener === null) returnToPage();
    else setTimeout(returnToPage, responseTimeoutMs);
  } else if ((sheet.dataset.back ?? "") === "") {
    // Without a return URL, only the opener can receive the result, so the decision is shown only if there is an opener.
    show(opener === null ? "[data-lost-opener]" : "[data-decides]");
    if (opener !== null) show("[data-lost]", false);
  }

  sheet.querySelector<HTMLAnchorElement>("[data-not-now]")?.addEventListener("click", (event) => {
    if (opener === null) return;
    event.preventDefault();
    postToOpener("svc:closed");
    window.close();
  });

  let focusedAt = performance.now();
  addEventListener("focus", () => {
    focusedAt = performance.now();
  });
  let isSent = false;
  for (const form of sheet.querySelectorAll<HTMLFormElement>("form[data-guarded]"))
    form.addEventListener("submit", (event) => {
      if (isSent || performance.now() - focusedAt < clickGuardMs) event.preventDefault();
      else isSent = true;
    });
  addEventListener("pageshow", ({ persisted }) => {
    // After the Back button, the page may be outdated. Reloading it with GET does not resend a form.
    if (persisted) location.replace(location.href);
  });
}
