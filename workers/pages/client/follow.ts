// Follows a list of events: fetches the page every five seconds while it is visible and replaces the list. Stops after ten minutes.
// Without scripts, the page has a link that reloads it.
const pollIntervalMs = 5_000;
const maxPollingMs = 10 * 60_000;

const button = document.querySelector<HTMLButtonElement>("[data-follow]");

if (button !== null) {
  const startLabel = button.textContent ?? "";
  const { follow: listId = "", stop: stopLabel = "" } = button.dataset;
  let timer: number | null = null;
  let endsAt = 0;

  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    button.textContent = startLabel;
  };

  const refresh = async (): Promise<void> => {
    if (Date.now() > endsAt) return stop();
    if (document.hidden) return;
    const response = await fetch(location.href, { credentials: "same-origin" });
    if (!response.ok || response.redirected) return stop();
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(listId);
    const old = document.getElementById(listId);
    // A list that contains the keyboard focus is not replaced, because the focus would be lost.
    if (fresh !== null && old !== null && !old.contains(document.activeElement) && fresh.innerHTML !== old.innerHTML)
      old.replaceWith(fresh);
  };

  button.hidden = false;
  button.addEventListener("click", () => {
    if (timer !== null) return stop();
    endsAt = Date.now() + maxPollingMs;
    button.textContent = stopLabel;
    const poll = (): void => {
      refresh().catch(stop);
    };
    timer = window.setInterval(poll, pollIntervalMs);
    poll();
  });
}
