// Keeps a list up to date: fetches the page every five seconds while it is visible, and replaces the list. Stops after ten minutes. On the
// list of events, a button starts and stops the updates. An element with `data-follows` updates from the start. Without scripts, a link
// reloads the page.
import "./copy.ts";
import { addIcons } from "./live/add-icons.ts";

const pollIntervalMs = 5_000;
const maxPollingMs = 10 * 60_000;

/**
 * Replaces the element with its newest version. Returns false if updating is no longer possible, for example because the session has ended.
 */
const refresh = async (id: string): Promise<boolean> => {
  const response = await fetch(location.href, { credentials: "same-origin" });
  if (!response.ok || response.redirected) return false;
  const newest = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = newest.getElementById(id);
  const old = document.getElementById(id);
  if (fresh === null || old === null) return false;
  // Do not replace an element that contains the keyboard focus, because the focus would be lost.
  if (old.contains(document.activeElement) || fresh.innerHTML === old.innerHTML) return true;
  addIcons(newest);
  old.replaceWith(fresh);
  return true;
};

/** Updates the element regularly, and returns a function that stops the updates. Calls `onEnd` if the updates stop for any other reason. */
const follow = (id: string, onEnd: () => void): (() => void) => {
  const endsAt = Date.now() + maxPollingMs;
  const stop = (): void => clearInterval(timer);
  const end = (): void => {
    stop();
    onEnd();
  };
  const poll = (): void => {
    if (Date.now() > endsAt) end();
    else if (!document.hidden)
      refresh(id).then((isFollowable) => {
        if (!isFollowable) end();
      }, end);
  };
  const timer = setInterval(poll, pollIntervalMs);
  poll();
  return stop;
};

const button = document.querySelector<HTMLButtonElement>("[data-follow]");

if (button !== null) {
  const startLabel = button.textContent ?? "";
  const { follow: listId = "", stop: stopLabel = "" } = button.dataset;
  let stop: (() => void) | null = null;

  const showStopped = (): void => {
    stop = null;
    button.textContent = startLabel;
  };

  button.hidden = false;
  button.addEventListener("click", () => {
    if (stop !== null) {
      stop();
      return showStopped();
    }
    button.textContent = stopLabel;
    stop = follow(listId, showStopped);
  });
}

const followed = document.querySelector<HTMLElement>("[data-follows]");
if (followed !== null) setTimeout(() => follow(followed.id, () => undefined), pollIntervalMs);
