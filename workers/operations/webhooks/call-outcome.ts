// The outcome of a webhook request that a member is waiting for.
import { isDelivered, type SendResult, type AttemptOutcome, type AttemptResult } from "../../../core/webhooks/endpoint.ts";

export interface CallOutcome {
  readonly delivered: boolean;
  /** HTTP status. 0 if there was no response. */
  readonly responseStatus: number;
  readonly durationMs: number;
}

/** Reports a request that was not sent as an unreachable receiver, so that tests cannot probe the internal network. */
export const toOutcome = (sent: Exclude<SendResult, { kind: "cancelled" }>): AttemptResult =>
  sent.kind === "deferred" ? { kind: "unanswered", error: sent.error, durationMs: 0, exchangeSealed: null } : sent;

/** Returns the outcome as shown to the member. */
export const toCallOutcome = (outcome: AttemptOutcome): CallOutcome => ({
  delivered: isDelivered(outcome),
  responseStatus: outcome.kind === "answered" ? outcome.status : 0,
  durationMs: outcome.durationMs,
});
