// Delivers the result of the consent sheet: by a message to the opener, restricted to the bound origin, or by returning to the page if
// the opener is closed or does not respond. It does not make decisions; every form works without it.
import "./passkey.ts"; // first: it unhides the passkey form, which this script hides again if no decision can be delivered

const sheet = document.querySelector<HTMLElement>(".sheet");

const responseTimeoutMs = 1_000; // an open page responds to the message immediately
const clickGuardMs = 500; // a window that just appeared may receive a click meant for the page below

if (sheet !== null) {
  const { origin = "", state = "", code } = sheet.dataset;
  const opener = window.opener as Window | null;
  const postToOpener = (type: string, payload: object = {}): void => opener?.postMessage({ type, state, ...payload }, origin);
  const show = (selector: string, isShown = true): void => {
    for (const element of sheet.querySelectorAll<HTMLElement>(selector)) element.hidden = !isShown;
  };

  let isReceived = false;
  addEventListener("message", (event: MessageEvent<unknown>) => {
    if (event.origin !== origin || event.source !== opener || opener === null) return;
    const { type, state: messageState } = (event.data ?? {}) as { readonly type?: unknown; readonly state?: unknown };
    if (messageState !== state || type !== "svc:received" || code === undefined) return;
    isReceived = true;
    window.close();
  });

  postToOpener("svc:ready");

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
    postToOpener("svc:code", { code });
    if (opener === null) returnToPage();
    else setTimeout(returnToPage, responseTimeoutMs);
  } else if (opener === null && (sheet.dataset.back ?? "") === "" && sheet.querySelector("[data-decides]") !== null) {
    show("[data-decides]", false);
    show("[data-lost]");
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
  for (const form of sheet.querySelectorAll<HTMLFormElement>("form[data-decides]"))
    form.addEventListener("submit", (event) => {
      if (isSent || performance.now() - focusedAt < clickGuardMs) event.preventDefault();
      else isSent = true;
    });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.replace(location.href); // the page may be outdated after Back; a GET does not resend a form
  });
}
