// A webhook endpoint of a business, and its deliveries, as management sees them (CONTRACT 9). Times are instants; the
// wire's names and forms begin in the route.
import type { Environment } from "../access/entitlement.ts";
import { standardEventTypes, type StoredEvent } from "../events/event.ts";
import type { WebhookId } from "../ids.ts";
import { hourMs, type Instant } from "../time.ts";

/** At most this many endpoints a business, and as many for its sandbox. */
export const maxEndpoints = 20;
/** After a rotation the earlier secret signs beside the new one for a day. */
export const secretOverlapMs = 24 * hourMs;
export type EndpointStatus = "enabled" | "disabled";

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  /** Null: every type of `eventTypes`. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly status: EndpointStatus;
  /** `whsec_…` and the last four characters. */
  readonly secretHint: string;
  readonly createdAt: Instant;
}

export interface NewEndpoint extends Omit<Endpoint, "status"> {
  /** Sealed by storage/webhook-secrets.ts. */
  readonly secretSealed: string;
}

export type EndpointChange = Partial<Pick<Endpoint, "url" | "events" | "description" | "status">>;

/** An endpoint as it is answered once, when it is registered: with its secret. */
export interface RegisteredEndpoint extends Omit<Endpoint, "id" | "events" | "secretHint"> {
  readonly id: WebhookId;
  /** Every type it receives. */
  readonly events: readonly string[];
  readonly environment: Environment;
  readonly secret: string;
}

/** How an endpoint is doing; kept beside its deliveries. */
export interface EndpointHealth {
  readonly consecutiveFailures: number;
  /** When the first failure since the last success was. */
  readonly failingSince: Instant | null;
  /** When the last attempt ended, well or not. */
  readonly lastDeliveryAt: Instant | null;
  /** Null when nothing was sent yet or nobody answered. */
  readonly lastResponseStatus: number | null;
  /** Deliveries that wait or are retried. */
  readonly backlog: number;
  /** When the event of the oldest of them happened. */
  readonly oldestPendingAt: Instant | null;
  /** Those of them that are sent again because somebody asked for what failed. */
  readonly resending: number;
}

/** What a lane needs of its endpoint in order to send. */
export interface EndpointSettings {
  readonly endpointId: string;
  readonly businessId: string;
  /** Rises with every change, so that an older copy never replaces a newer one. */
  readonly revision: number;
  readonly url: string;
  readonly status: EndpointStatus;
  readonly secretSealed: string;
  readonly earlierSecretSealed: string | null;
  readonly earlierSecretUntil: Instant | null;
}

/** `pending`: not tried yet. `retrying`: failed, and comes again. */
export type DeliveryStatus = "pending" | "retrying" | "success" | "abandoned";

/** `http`: an answer that is not 2xx. */
export type DeliveryError = "timeout" | "dns" | "tls" | "connection" | "http";

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  /** Scheduled attempts made; replays do not count. */
  readonly attempt: number;
  readonly responseStatus: number | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number | null;
  readonly nextAttemptAt: Instant | null;
  readonly deliveredAt: Instant | null;
  readonly createdAt: Instant;
}

/** A delivery with the place of its event and where it goes. */
export interface EndpointDelivery {
  readonly url: string;
  readonly seq: number;
  readonly delivery: Delivery;
}

/** What one attempt came to. */
export type AttemptOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly durationMs: number }
  | { readonly kind: "unanswered"; readonly error: Exclude<DeliveryError, "http">; readonly durationMs: number };

/** One delivery on its way to its receiver. */
export interface OutgoingDelivery {
  readonly settings: EndpointSettings;
  readonly event: StoredEvent;
  readonly deliveryId: string;
  readonly attempt: number;
}

/**
 * What sending came to. `deferred`: something of ours was missing, so nothing was sent; `cancelled`: the payload may no longer
 * be read, so nothing will be.
 */
export type SendResult =
  | AttemptOutcome
  | { readonly kind: "deferred"; readonly error: Exclude<DeliveryError, "http"> }
  | { readonly kind: "cancelled" };

/** What a replay needs: the delivery as it stands, its event and where it goes. */
export interface ReplaySource {
  readonly delivery: Delivery;
  readonly sending: OutgoingDelivery;
}

/** What asking for everything that failed came to. */
export interface RecoveryResult {
  readonly queued: number;
  /** More failed than goes out at one time. */
  readonly hasMore: boolean;
}

/** SPEC, Delivery rules 1: any 2xx and nothing else. */
export const isDelivered = (outcome: AttemptOutcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status <= 299;

const defaultEventTypes: ReadonlySet<string> = new Set(standardEventTypes);

/** Whether an endpoint with this choice of events receives a type. */
export const receivesEventType = (events: readonly string[] | null, type: string): boolean =>
  events === null ? defaultEventTypes.has(type) : events.includes(type);

// A delivery's id begins with the first characters of its endpoint's (25 of the 120 random bits), so that it leads to the
// one object, among the twenty a business may have, that holds it.
const idPrefixLength = "whk_".length;
const endpointTagEnd = idPrefixLength + 2 + 5;
const getEndpointTag = (id: string): string => id.slice(idPrefixLength, endpointTagEnd);

export const createDeliveryId = (endpointId: string, fresh: string): string =>
  `dlv_${getEndpointTag(endpointId)}${fresh.slice(endpointTagEnd)}`;
export const canHoldDelivery = (endpointId: string, deliveryId: string): boolean =>
  getEndpointTag(endpointId) === getEndpointTag(deliveryId);
