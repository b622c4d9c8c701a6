// Updates an open certificate page while something on it is pending: an entry in the audit log or the public log, or the website's
// policies.
import { addIcons } from "../live/add-icons.ts";

const firstDelayMs = 5_000;
const delayGrowth = 1.5; // the delays grow from 5 s to a minute, which makes about 15 requests in ten minutes
const maxDelayMs = 60_000;
const maxPollingMs = 10 * 60_000;

/** The parts of the page that change when pending work is done. */
const followedIds = ["timeline", "policies", "checks", "published"] as const;

/** Tells the service that this request is not another visit, so the service neither records nor counts it. */
const refreshHeader = { "svc-refresh": "1" };

/** Returns each part as the service sent it. Call this before the page script changes the checks. */
const readParts = (page: Document): Map<string, Element> =>
  new Map(
    followedIds.flatMap((id) => {
      const part = page.getElementById(id);
      return part === null ? [] : [[id, part.cloneNode(true) as Element] as const];
    }),
  );

const isPending = (page: ParentNode): boolean => page.querySelector("[data-pending]") !== null;

/**
 * Fetches the page from time to time, replaces the parts that changed, and then calls `onChange`. Stops when nothing is pending, after ten
 * minutes, or when a request fails.
 */
export const refreshWhilePending = (onChange: () => Promise<void>): void => {
  const known = readParts(document);
  const endsAt = Date.now() + maxPollingMs;

  const refresh = async (): Promise<boolean> => {
    if (document.hidden) return true;
    const response = await fetch(location.href, { credentials: "same-origin", headers: refreshHeader });
    if (!response.ok || response.redirected) return false;
    const newest = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = readParts(newest);
    let hasChanged = false;
    addIcons(newest);
    for (const [id, part] of fresh) {
      const shown = document.getElementById(id);
      if (shown === null || shown.contains(document.activeElement) || known.get(id)?.outerHTML === part.outerHTML) continue;
      shown.replaceWith(part.cloneNode(true));
      known.set(id, part);
      hasChanged = true;
    }
    if (hasChanged) await onChange();
    return isPending(document);
  };

  const schedule = (delayMs: number): void => {
    if (!isPending(document) || Date.now() > endsAt) return;
    setTimeout(() => {
      void refresh().then(
        (isStillPending) => isStillPending && schedule(Math.min(delayMs * delayGrowth, maxDelayMs)),
        () => undefined,
      );
    }, delayMs);
  };
  schedule(firstDelayMs);
};
