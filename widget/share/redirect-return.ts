// The answer in this page's own address: the sheet could not reach an opener. In a window beside the page that asked, the
// answer goes on to that page; in the tab that asked, or if nobody takes it, it is settled here.

import { offers, dispatchShareEvent } from "./offers.ts";
import { type PendingRequest, findPending } from "./pending-requests.ts";
import { openChannel, handleResponse, startRequest } from "./active-requests.ts";

/** Takes the answer out of the address at once and gives its state back. */
export function handleRedirectReturn(): string | undefined {
  const query = new URLSearchParams(location.search);
  const [state, code, error] = ["svc_state", "svc_code", "svc_error"].map((name) => query.get(name) || undefined);
  if (!state) return undefined;
  const pending = findPending(state);
  const { origin, pathname, search, hash } = location;
  const others = search
    .slice(1)
    .split("&")
    .filter((part) => !/^svc_(state|code|error)=/.test(part));
  const fragment = hash || (pending ? new URL(pending.return_href).hash : "");
  history.replaceState(history.state, "", origin + pathname + (others.length ? `?${others.join("&")}` : "") + fragment);
  if (code || error) void deliverResponse({ state, code, error }, pending);
  return state;
}

interface SheetResponse {
  state: string;
  code: string | undefined;
  error: string | undefined;
}

async function deliverResponse(answer: SheetResponse, pending: PendingRequest | undefined): Promise<void> {
  const isElsewhere = pending?.display !== "page" && (await isHandledElsewhere(answer));
  if (isElsewhere) close();
  // Then the tags and forms below this script are there, and a task later so are the buttons.
  await new Promise<unknown>((resolve) => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve);
    else resolve(0);
  });
  await new Promise((resolve) => setTimeout(resolve));
  if (isElsewhere) {
    for (const { button } of offers) button?.setNote("elsewhere");
  } else if (pending) {
    await handleResponse(startRequest(pending), answer.code, answer.error);
  } else {
    offers[0]?.button?.setNote("failed");
    dispatchShareEvent(offers[0] || { key: "", options: {} }, "svc:share-error", { code: "lost_request" });
  }
}

/** Whether the page that asked is there and takes the answer. */
function isHandledElsewhere(answer: SheetResponse): Promise<boolean> {
  const channel = openChannel(answer.state);
  if (!channel) return Promise.resolve(false);
  return new Promise<boolean>((resolve) => {
    channel.onmessage = () => resolve(true);
    setTimeout(() => resolve(false), 1000);
    channel.postMessage(answer);
  }).finally(() => channel.close());
}
