// The outcome of a webhook request for which a member is waiting.
import { isDelivered, type SendResult, type AttemptOutcome, type AttemptResult } from "../../../core/webhooks/endpoint.ts";

export interface CallOutcome {
  readonly delivered: boolean;
  /** The HTTP status; 0 if there was no response. */
  readonly responseStatus: number;
  readonly durationMs: number;
}

/**
 * Converts the result of a request for a member. A request that was blocked before it was sent looks like one to an unreachable receiver,
 * so that test deliveries cannot be used to probe the internal network.
 */
export const toOutcome = (sent: Exclude<SendResult, { kind: "cancelled" }>): AttemptResult =>
  sent.kind === "deferred" ? { kind: "unanswered", error: sent.error, durationMs: 0, exchangeSealed: null } : sent;

/** Returns the outcome as shown to the member. */
export const toCallOutcome = (outcome: AttemptOutcome): CallOutcome => ({
  delivered: isDelivered(outcome),
  responseStatus: outcome.kind === "answered" ? outcome.status : 0,
  durationMs: outcome.durationMs,
});
