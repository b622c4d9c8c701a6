// Waiting for the answer to a request, by whichever way it comes: a message of the sheet, or the code that another window of
// this page brought back. Every answer is known by its state; what does not fit is ignored without a word.

import { fillForm } from "./fill-form.ts";
import { type ShareRequestBase, waitForForm, findOffer, dispatchShareEvent } from "./offers.ts";
import { type PendingRequest, deletePending } from "./pending-requests.ts";
import { redeemCode } from "./redeem.ts";

export interface ActiveRequest extends PendingRequest {
  /** The sheet's window. Unknown after a reload of this page and behind a link, until it speaks. */
  sheet?: Window | null;
  /** The sheet has said that it can reach this page. */
  isReady?: boolean;
  /** The code that is being redeemed, or that failed. */
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

/** What a button waits for: its newest request. */
export function findActiveRequest({ key }: ShareRequestBase): ActiveRequest | undefined {
  return [...activeRequests.values()].reverse().find((request) => request.key === key);
}

/** No answer to this one counts any more. */
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
    const answer = (word: string) => (source as Window).postMessage({ type: word, state }, origin);
    if (!request.sheet) {
      request.sheet = source as Window;
      watchSheet(request);
    }
    if (type === "svc:ready") {
      request.isReady = true;
      answer("svc:hello");
    }
    if (type === "svc:code" && typeof code === "string") {
      answer("svc:received");
      void handleResponse(request, code);
    }
    if (type === "svc:closed") closeRequest(request);
  });
}

/** `closed` is told only where it is known; a window that is cut off looks closed from the moment its contents arrive. */
export function watchSheet(request: ActiveRequest): void {
  const { sheet } = request;
  const timer = setInterval(() => {
    if (!isActive(request) || request.sheet !== sheet) clearInterval(timer);
    else if (sheet?.closed) {
      clearInterval(timer);
      if (request.isReady)
        setTimeout(() => closeRequest(request), 1000); // the answer may have been sent just before
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

/** The person said no. */
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
  // The same answer may come by two ways.
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
    // The sheet gives a decision that is not yet redeemed another code, if it is asked the very same again.
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
  // Missing in older browsers, and refused where storage is: the other ways are left.
  try {
    return new BroadcastChannel(`svc-share:${state}`);
  } catch {
    return undefined;
  }
}
