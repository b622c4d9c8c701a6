// Follows the newest events: the page is read again every five seconds while it is looked at, and its list put in place of this one.
// Stops by itself after ten minutes. Without script the page has a link that loads it again.
const pollIntervalMs = 5_000;
const maxPollingMs = 10 * 60_000;

const button = document.querySelector<HTMLButtonElement>("[data-follow]");

if (button !== null) {
  const start = button.textContent ?? "";
  const { follow: id = "", stop = "" } = button.dataset;
  let timer: number | null = null;
  let until = 0;

  const end = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    button.textContent = start;
  };

  const look = async (): Promise<void> => {
    if (Date.now() > until) return end();
    if (document.hidden) return;
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return end();
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
    const old = document.getElementById(id);
    // A list that somebody is in with the keyboard stays: the focus would be lost.
    if (fresh !== null && old !== null && !old.contains(document.activeElement) && fresh.innerHTML !== old.innerHTML)
      old.replaceWith(fresh);
  };

  button.hidden = false;
  button.addEventListener("click", () => {
    if (timer !== null) return end();
    until = Date.now() + maxPollingMs;
    button.textContent = stop;
    const turn = (): void => {
      look().catch(end);
    };
    timer = window.setInterval(turn, pollIntervalMs);
    turn();
  });
}
