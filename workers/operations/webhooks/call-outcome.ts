import { isDelivered, type SendResult, type AttemptOutcome } from "../../../core/webhooks/endpoint.ts";

/** How a call that a person waits for ended. */
export interface CallOutcome {
  readonly delivered: boolean;
  /** 0 when nobody answered. */
  readonly responseStatus: number;
  readonly durationMs: number;
}

/** What could not be sent for a reason of ours looks the same as a receiver that is not there: the button is no probe of our network. */
export const toOutcome = (sent: Exclude<SendResult, { kind: "cancelled" }>): AttemptOutcome =>
  sent.kind === "deferred" ? { kind: "unanswered", error: sent.error, durationMs: 0 } : sent;

export const toCallOutcome = (outcome: AttemptOutcome): CallOutcome => ({
  delivered: isDelivered(outcome),
  responseStatus: outcome.kind === "answered" ? outcome.status : 0,
  durationMs: outcome.durationMs,
});
