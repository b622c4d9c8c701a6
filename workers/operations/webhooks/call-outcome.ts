// The outcome of a webhook request that a member is waiting for.
import { isDelivered, type SendResult, type AttemptOutcome, type AttemptResult } from "../../../core/webhooks/endpoint.ts";

export interface CallOutcome {
  readonly delivered: boolean;
  /** The HTTP status, or 0 if there was no response. */
  readonly responseStatus: number;
  readonly durationMs: number;
}

/**
 * Maps a request that was blocked before it was sent to the outcome of an unreachable receiver. Members see no difference, so test
 * deliveries cannot probe the internal network.
 */
export const toOutcome = (sent: Exclude<SendResult, { kind: "cancelled" }>): AttemptResult =>
  sent.kind === "deferred" ? { kind: "unanswered", error: sent.error, durationMs: 0, exchangeSealed: null } : sent;

/** Returns the outcome as shown to the member. */
export const toCallOutcome = (outcome: AttemptOutcome): CallOutcome => ({
  delivered: isDelivered(outcome),
  responseStatus: outcome.kind === "answered" ? outcome.status : 0,
  durationMs: outcome.durationMs,
});
