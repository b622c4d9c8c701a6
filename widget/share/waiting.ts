// Waiting for the answer to a request, by whichever way it comes: a message of the sheet, or the code that another window of
// this page brought back. Every answer is known by its state; what does not fit is ignored without a word.

import { fillForm } from "./fill.ts";
import { type Asked, formWhenRendered, offerOf, tell } from "./offers.ts";
import { type Pending, forget } from "./pending.ts";
import { redeem } from "./redeem.ts";

export interface Waiting extends Pending {
  /** The sheet's window. Unknown after a reload of this page and behind a link, until it speaks. */
  sheet?: Window | null;
  /** The sheet has said that it can reach this page. */
  isReady?: boolean;
  /** The code that is being redeemed, or that failed. */
  code?: string;
  isRedeeming?: boolean;
  channel?: BroadcastChannel | undefined;
}

const waiting = new Map<string, Waiting>();

export function waitFor(pending: Pending): Waiting {
  const request: Waiting = Object.assign({}, pending);
  const channel = channelOf(request.state);
  if (channel) {
    channel.onmessage = ({ data }) => {
      const { code, error } = Object(data);
      if (!code && !error) return;
      channel.postMessage({ received: true });
      void take(request, code, error);
    };
    request.channel = channel;
  }
  waiting.set(request.state, request);
  return request;
}

function isWaiting(request: Waiting): boolean {
  return waiting.get(request.state) === request;
}

/** What a button waits for: its newest request. */
export function waitedForBy({ key }: Asked): Waiting | undefined {
  return [...waiting.values()].reverse().find((request) => request.key === key);
}

/** No answer to this one counts any more. */
export function drop({ state }: Pending): void {
  waiting.get(state)?.channel?.close();
  waiting.delete(state);
  forget(state);
}

export function listenToSheets(): void {
  addEventListener("message", ({ data, origin, source }) => {
    const { type, state, code } = Object(data);
    const request = waiting.get(state);
    if (!request || origin !== new URL(request.address).origin || (request.sheet && source !== request.sheet)) return;
    const answer = (word: string) => (source as Window).postMessage({ type: word, state }, origin);
    if (!request.sheet) {
      request.sheet = source as Window;
      watch(request);
    }
    if (type === "svc:ready") {
      request.isReady = true;
      answer("svc:hello");
    }
    if (type === "svc:code" && typeof code === "string") {
      answer("svc:received");
      void take(request, code);
    }
    if (type === "svc:closed") end(request);
  });
}

/** `closed` is told only where it is known; a window that is cut off looks closed from the moment its contents arrive. */
export function watch(request: Waiting): void {
  const { sheet } = request;
  const timer = setInterval(() => {
    if (!isWaiting(request) || request.sheet !== sheet) clearInterval(timer);
    else if (sheet?.closed) {
      clearInterval(timer);
      if (request.isReady)
        setTimeout(() => end(request), 1000); // the answer may have been sent just before
      else sever(request);
    }
  }, 200);
}

function sever(request: Waiting): void {
  const offer = offerOf(request);
  if (self !== top) {
    tell(request, "svc:share-error", { code: "popup_severed" });
    offer?.button?.note("failed");
  } else if (offer) {
    offer.isSevered = true;
    offer.button?.label("severed");
  }
}

/** The person said no. */
function end(request: Waiting): void {
  if (!isWaiting(request) || request.code) return;
  drop(request);
  settle(request, "closed");
  tell(request, "svc:closed", {});
}

function settle(request: Waiting, note: "done" | "closed" | "failed"): void {
  const offer = offerOf(request);
  if (!offer) return;
  offer.isSevered = false;
  offer.button?.label("share");
  offer.button?.note(note);
}

export async function take(request: Waiting, code?: string, error?: string): Promise<void> {
  if (error === "access_denied") return end(request);
  // The same answer may come by two ways.
  if (!isWaiting(request) || request.isRedeeming || (code && code === request.code)) return;
  const offer = offerOf(request);
  offer?.button?.note("busy");
  if (code) {
    request.code = code;
    request.isRedeeming = true;
  }
  const { data, problem } = code ? await redeem(request, code) : { problem: { code: error } };
  request.isRedeeming = false;
  if (!data) {
    // The sheet gives a decision that is not yet redeemed another code, if it is asked the very same again.
    if (offer && problem.code === "code_expired") offer.retry = request;
    settle(request, "failed");
    tell(request, "svc:share-error", problem);
    return;
  }
  const { share_id, fingerprint, scope, expires_at, fields } = data;
  const form = await formWhenRendered(request);
  if (form) fillForm(form, request.options.fieldMap, data);
  drop(request);
  settle(request, "done");
  tell(request, "svc:share", { share_id, fingerprint, scope, expires_at, fields });
}

export function channelOf(state: string): BroadcastChannel | undefined {
  // Missing in older browsers, and refused where storage is: the other ways are left.
  try {
    return new BroadcastChannel(`svc-share:${state}`);
  } catch {
    return undefined;
  }
}
