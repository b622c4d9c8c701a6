// The deliveries of an endpoint, the test button and the replay. The last two send from here and not from the lane, so that they
// wait for nothing and take nobody's turn, and neither leaves a trace in the audit chain (SPEC, Events, note 3). Whoever calls
// these has counted the call against their shared limit (WEBHOOK_CALLS).
import type { Environment } from "../../../core/access/entitlement.ts";
import type { Figures } from "../../../core/accounts/activity.ts";
import { firstHome, newId, type BusinessId, type DeliveryId, type WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { isDelivered, type Delivery, type Outcome, type Recovery, type Sent } from "../../../core/webhooks/endpoint.ts";
import { attemptHoursOf, shownHoursSince } from "../../../core/webhooks/hours.ts";
import type { Instant } from "../../../core/time.ts";
import type { Events, Memories, Runtime, Stores } from "../../services.ts";
import { environments, logHolding } from "./logs.ts";
import { sendEvent } from "./sending.ts";

export interface DeliveryQuery {
  readonly limit: number;
  /** The last delivery of the page before; null for the newest. */
  readonly before: DeliveryId | null;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly hasMore: boolean;
}

/** Newest first, from behind `before` on. */
export const listDeliveries = async (
  services: Events,
  businessId: BusinessId,
  endpointId: WebhookId,
  { limit, before }: DeliveryQuery,
): Promise<Result<DeliveryPage, "not_found" | "invalid_request">> => {
  const held = await logHolding(services, businessId, endpointId);
  if (held === null) return refuse("not_found");
  const page = await held.log.deliveries(endpointId, limit, before);
  return page === null ? refuse("invalid_request", "before: must be the id of a delivery to this endpoint.") : ok(page);
};

/** How a call that a person waits for ended. */
export interface CallOutcome {
  readonly delivered: boolean;
  /** 0 when nobody answered. */
  readonly responseStatus: number;
  readonly durationMs: number;
}

export interface ReplayOutcome extends CallOutcome {
  /** As it is now. */
  readonly delivery: Delivery;
}

/** What could not be sent for a reason of ours looks the same as a receiver that is not there: the button is no probe of our network. */
const outcomeOf = (sent: Exclude<Sent, { kind: "cancelled" }>): Outcome =>
  sent.kind === "deferred" ? { kind: "unanswered", error: sent.error, durationMs: 0 } : sent;

const calledOf = (outcome: Outcome): CallOutcome => ({
  delivered: isDelivered(outcome),
  responseStatus: outcome.kind === "answered" ? outcome.status : 0,
  durationMs: outcome.durationMs,
});

/** `test.ping`: an event that is stored nowhere. Refuses `not_found`. */
export const testEndpoint = async (
  services: Runtime & Stores & Memories & Events,
  businessId: BusinessId,
  endpointId: WebhookId,
): Promise<Result<CallOutcome, "not_found">> => {
  const held = await logHolding(services, businessId, endpointId);
  if (held === null) return refuse("not_found");
  const { settings } = held;
  const ping = {
    id: crypto.randomUUID(),
    type: "test.ping",
    createdAt: services.clock(),
    shareId: null,
    certId: null,
    dataSealed: null,
    seq: 0,
  };
  const deliveryId = newId("dlv_", firstHome, services.random);
  const sent = await sendEvent(services, { settings, event: ping, deliveryId, attempt: 1 });
  if (sent.kind === "cancelled") throw new Error("webhook: a test carries nothing that could be withheld");
  return ok(calledOf(outcomeOf(sent)));
};

const sourceOf = async (services: Events, businessId: BusinessId, deliveryId: DeliveryId) => {
  for (const environment of environments) {
    const log = services.businessLog(businessId, environment);
    const source = await log.replaySource(deliveryId);
    if (source !== null) return { log, source };
  }
  return null;
};

/**
 * Sends a past event to its endpoint again, with a fresh signature. Delivered, it ends the delivery; failed, it changes nothing.
 * Refuses `not_found` and, for an update whose share is no longer active, `share_inactive`.
 */
export const replayDelivery = async (
  services: Runtime & Stores & Memories & Events,
  businessId: BusinessId,
  deliveryId: DeliveryId,
): Promise<Result<ReplayOutcome, "not_found" | "share_inactive">> => {
  const found = await sourceOf(services, businessId, deliveryId);
  if (found === null) return refuse("not_found");
  const { log, source } = found;
  const sent = await sendEvent(services, source.sending);
  if (sent.kind === "cancelled") return refuse("share_inactive");
  const outcome = outcomeOf(sent);
  const kept = await log.keepReplay(source.sending.settings.endpointId, deliveryId, outcome);
  return ok({ ...calledOf(outcome), delivery: kept ?? source.delivery });
};

/** How attempts at an endpoint ended in the last two days, by the hour; null where the mode has no such endpoint. */
export const attemptHours = async (
  services: Runtime & Events,
  { business, environment }: { readonly business: { readonly id: BusinessId }; readonly environment: Environment },
  endpointId: WebhookId,
): Promise<readonly Figures[] | null> => {
  const now = services.clock();
  const counted = await services.businessLog(business.id, environment).attemptHours(endpointId, shownHoursSince(now));
  return counted === null ? null : attemptHoursOf(counted, now);
};

/** How many deliveries of an endpoint failed since then; null where there is no such endpoint. */
export const failedSince = async (
  services: Events,
  businessId: BusinessId,
  endpointId: WebhookId,
  since: Instant,
): Promise<number | null> => {
  const held = await logHolding(services, businessId, endpointId);
  return held === null ? null : held.log.failedSince(endpointId, since);
};

/** Everything that failed since then is sent again, the oldest event first, at most ten a second. */
export const recoverEndpoint = async (
  services: Runtime & Events,
  businessId: BusinessId,
  endpointId: WebhookId,
  since: Instant,
): Promise<Result<Recovery, "not_found" | "invalid_request">> => {
  const held = await logHolding(services, businessId, endpointId);
  if (held === null) return refuse("not_found");
  if (since > services.clock()) return refuse("invalid_request", "since: must not lie in the future.");
  const recovery = await held.log.recover(endpointId, since);
  return recovery === null ? refuse("not_found") : ok(recovery);
};
