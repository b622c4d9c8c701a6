// The consent sheet hands its answer back: to the window that opened it, by a message to the bound origin and no other; where that
// window is gone or does not answer, by going back to the page. It decides nothing, and every form works without it.
import "./passkey.ts"; // before what follows: that hides again what leads nowhere

const sheet = document.querySelector<HTMLElement>(".sheet");

const responseTimeoutMs = 1_000; // the page answers a message at once, if it is there
const clickGuardMs = 500; // a window that just came up may take a press that was meant for the page below

if (sheet !== null) {
  const { origin = "", state = "", code } = sheet.dataset;
  const opener = window.opener as Window | null;
  const tell = (type: string, more: object = {}): void => opener?.postMessage({ type, state, ...more }, origin);
  const show = (selector: string, isShown = true): void => {
    for (const part of sheet.querySelectorAll<HTMLElement>(selector)) part.hidden = !isShown;
  };

  let isAnswered = false;
  addEventListener("message", (event: MessageEvent<unknown>) => {
    if (event.origin !== origin || event.source !== opener || opener === null) return;
    const { type, state: of } = (event.data ?? {}) as { readonly type?: unknown; readonly state?: unknown };
    if (of !== state || type !== "svc:received" || code === undefined) return;
    isAnswered = true;
    window.close();
  });

  tell("svc:ready");

  if (code !== undefined) {
    const back = sheet.querySelector<HTMLAnchorElement>("[data-go-back]");
    const goOn = (): void => {
      if (isAnswered) return;
      if (back !== null) location.replace(back.href);
      else {
        show("[data-going]", false);
        show("[data-unanswered]");
      }
    };
    tell("svc:code", { code });
    if (opener === null) goOn();
    else setTimeout(goOn, responseTimeoutMs);
  } else if (opener === null && (sheet.dataset.back ?? "") === "" && sheet.querySelector("[data-decides]") !== null) {
    show("[data-decides]", false);
    show("[data-lost]");
  }

  sheet.querySelector<HTMLAnchorElement>("[data-not-now]")?.addEventListener("click", (event) => {
    if (opener === null) return;
    event.preventDefault();
    tell("svc:closed");
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
    if (persisted) location.replace(location.href); // Back shows what is to be done now, not what was; by GET, so nothing is sent again
  });
}
