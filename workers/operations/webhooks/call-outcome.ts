// The outcome of a webhook request that a member is waiting for.
import { isDelivered, type SendResult, type AttemptOutcome, type AttemptResult } from "../../../core/webhooks/endpoint.ts";

export interface CallOutcome {
  readonly delivered: boolean;
  /** The HTTP status; 0 if there was no response. */
  readonly responseStatus: number;
  readonly durationMs: number;
}

/** Converts the result of a request that a member started. A request that could not be sent is reported as unanswered. */
export const toAttemptResult = (sent: Exclude<SendResult, { kind: "cancelled" }>): AttemptResult =>
  sent.kind === "deferred" ? { kind: "unanswered", error: sent.error, durationMs: 0, exchangeSealed: null } : sent;

export const toCallOutcome = (outcome: AttemptOutcome): CallOutcome => ({
  delivered: isDelivered(outcome),
  responseStatus: outcome.kind === "answered" ? outcome.status : 0,
  durationMs: outcome.durationMs,
});
