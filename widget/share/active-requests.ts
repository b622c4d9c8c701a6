// Waits for the response to a share request. The response is a message from the consent sheet, or comes from another window that received
// it in its URL. Ignores responses with the `state` of a different request.

import { fillForm } from "./fill-form.ts";
import { waitForForm, findOffer, dispatchShareEvent } from "./offers.ts";
import type { ShareRequestBase } from "./options.ts";
import { type PendingRequest, deletePending } from "./pending-requests.ts";
import { redeemCode } from "./redeem.ts";

export interface ActiveRequest extends PendingRequest {
  /** The sheet's window. It is unknown if this page was reloaded or a link opened the sheet, until the sheet sends its first message. */
  sheet?: Window | null;
  /** Whether the sheet has sent svc:ready, which shows that it can reach this page. */
  isReady?: boolean;
  /** The code that is being redeemed, or that could not be redeemed. */
  code?: string;
  isRedeeming?: boolean;
  channel?: BroadcastChannel | undefined;
}

const activeRequests = new Map<string, ActiveRequest>();

export function startRequest(pending: PendingRequest): ActiveRequest {
  const request: ActiveRequest = Object.assign({}, pending);
  const channel = openChannel(request.state);
  if (channel) {
    channel.onmessage = ({ data }) => {
      const { code, error } = Object(data);
      if (!code && !error) return;
      channel.postMessage({ received: true });
      void handleResponse(request, code, error);
    };
    request.channel = channel;
  }
  activeRequests.set(request.state, request);
  return request;
}

function isActive(request: ActiveRequest): boolean {
  return activeRequests.get(request.state) === request;
}

/** Finds the newest request of an offer. */
export function findActiveRequest({ key }: ShareRequestBase): ActiveRequest | undefined {
  return [...activeRequests.values()].reverse().find((request) => request.key === key);
}

/** Drops a request. Later responses to it are ignored. */
export function dropRequest({ state }: PendingRequest): void {
  activeRequests.get(state)?.channel?.close();
  activeRequests.delete(state);
  deletePending(state);
}

export function listenForSheetMessages(): void {
  addEventListener("message", ({ data, origin, source }) => {
    const { type, state, code } = Object(data);
    const request = activeRequests.get(state);
    if (!request || origin !== new URL(request.address).origin || (request.sheet && source !== request.sheet)) return;
    const reply = (replyType: string) => (source as Window).postMessage({ type: replyType, state }, origin);
    if (!request.sheet) {
      request.sheet = source as Window;
      watchSheet(request);
    }
    if (type === "svc:ready") {
      request.isReady = true;
      reply("svc:hello");
    }
    if (type === "svc:code" && typeof code === "string") {
      reply("svc:received");
      void handleResponse(request, code);
    }
    if (type === "svc:closed") closeRequest(request);
  });
}

/**
 * Polls until the sheet's window is closed, because no event reports this. If a page in the window has an opener policy that disconnects
 * the window from this page, the window looks closed as soon as that page loads.
 */
export function watchSheet(request: ActiveRequest): void {
  const { sheet } = request;
  const timer = setInterval(() => {
    if (!isActive(request) || request.sheet !== sheet) clearInterval(timer);
    else if (sheet?.closed) {
      clearInterval(timer);
      if (request.isReady)
        setTimeout(() => closeRequest(request), 1000); // a message that was sent just before closing may still arrive
      else markSevered(request);
    }
  }, 200);
}

function markSevered(request: ActiveRequest): void {
  const offer = findOffer(request);
  if (self !== top) {
    dispatchShareEvent(request, "svc:share-error", { code: "popup_severed" });
    offer?.button?.setNote("failed");
  } else if (offer) {
    offer.isSevered = true;
    offer.button?.setLabel("severed");
  }
}

/** Ends a request if the person declined it, or if its window was closed without a response. */
function closeRequest(request: ActiveRequest): void {
  if (!isActive(request) || request.code) return;
  dropRequest(request);
  showOutcome(request, "closed");
  dispatchShareEvent(request, "svc:closed", {});
}

function showOutcome(request: ActiveRequest, note: "done" | "closed" | "failed"): void {
  const offer = findOffer(request);
  if (!offer) return;
  offer.isSevered = false;
  offer.button?.setLabel("share");
  offer.button?.setNote(note);
}

export async function handleResponse(request: ActiveRequest, code?: string, error?: string): Promise<void> {
  if (error === "access_denied") return closeRequest(request);
  // The same response may arrive both as a message and through the BroadcastChannel.
  if (!isActive(request) || request.isRedeeming || (code && code === request.code)) return;
  const offer = findOffer(request);
  offer?.button?.setNote("busy");
  if (code) {
    request.code = code;
    request.isRedeeming = true;
  }
  const { data, problem } = code ? await redeemCode(request, code) : { problem: { code: error } };
  request.isRedeeming = false;
  if (!data) {
    // The person has already decided, but the code expired before it was redeemed. If the same request is opened again, the sheet issues a
    // new code for that decision.
    if (offer && problem.code === "code_expired") offer.retry = request;
    showOutcome(request, "failed");
    dispatchShareEvent(request, "svc:share-error", problem);
    return;
  }
  const { share_id, fingerprint, scope, expires_at, fields } = data;
  const form = await waitForForm(request);
  if (form) fillForm(form, request.options.fieldMap, data);
  dropRequest(request);
  showOutcome(request, "done");
  dispatchShareEvent(request, "svc:share", { share_id, fingerprint, scope, expires_at, fields });
}

export function openChannel(state: string): BroadcastChannel | undefined {
  // BroadcastChannel is missing in older browsers, and throws where storage is blocked. Messages and redirects work without it.
  try {
    return new BroadcastChannel(`svc-share:${state}`);
  } catch {
    return undefined;
  }
}
