// Handles a response that the sheet put in this page's URL because it could not reach the window that opened it. If the page that started
// the request is open in a different window, that page gets the response. Otherwise, this page handles it.

import { offers, dispatchShareEvent } from "./offers.ts";
import { type PendingRequest, findPending } from "./pending-requests.ts";
import { openChannel, handleResponse, startRequest } from "./active-requests.ts";

/**
 * Removes the response from the URL immediately, starts handling it, and returns its state. Returns undefined if the URL contains no
 * response.
 */
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

async function deliverResponse(response: SheetResponse, pending: PendingRequest | undefined): Promise<void> {
  const isElsewhere = pending?.display !== "page" && (await isHandledElsewhere(response));
  if (isElsewhere) close();
  // The tags and forms below this script do not exist before DOMContentLoaded, and the buttons are added right after it.
  await new Promise<unknown>((resolve) => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve);
    else resolve(0);
  });
  await new Promise((resolve) => setTimeout(resolve));
  if (isElsewhere) {
    for (const { button } of offers) button?.setNote("elsewhere");
  } else if (pending) {
    await handleResponse(startRequest(pending), response.code, response.error);
  } else {
    offers[0]?.button?.setNote("failed");
    dispatchShareEvent(offers[0] || { key: "", options: {} }, "svc:share-error", { code: "lost_request" });
  }
}

/** Resolves to true if the page that started the request acknowledges the response within one second. */
function isHandledElsewhere(response: SheetResponse): Promise<boolean> {
  const channel = openChannel(response.state);
  if (!channel) return Promise.resolve(false);
  return new Promise<boolean>((resolve) => {
    channel.onmessage = () => resolve(true);
    setTimeout(() => resolve(false), 1000);
    channel.postMessage(response);
  }).finally(() => channel.close());
}
