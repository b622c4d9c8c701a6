// Types for webhook endpoints and deliveries, and which events an endpoint receives. The routes define the JSON formats.
import type { Environment } from "../access/entitlement.ts";
import { standardEventTypes, type StoredEvent } from "../events/event.ts";
import type { WebhookId } from "../ids.ts";
import { dayMs, hourMs, type Instant } from "../time.ts";
import type { HourlyAttempts } from "./hourly-attempts.ts";

/** The maximum number of endpoints per business per environment. */
export const maxEndpoints = 20;
/** How long deliveries are signed with both secrets after a rotation. */
export const secretOverlapMs = 24 * hourMs;
/**
 * How long deliveries are signed with both secrets after the operator replaces a secret. This is longer than after a rotation, because
 * owners learn about the replacement only by email.
 */
export const operatorSecretOverlapMs = 7 * dayMs;

export interface SecretAge {
  readonly endpointId: string;
  /** When the current secret was created. */
  readonly createdAt: Instant;
  /** The end of the period in which deliveries are also signed with the earlier secret; null if there is none. */
  readonly earlierUntil: Instant | null;
}

/**
 * Returns whether the operator can replace the secret. The secret must have been created before `before`. It cannot be replaced while
 * deliveries are also signed with an earlier secret, because the earlier secret would stop working too soon.
 */
export const canReplaceSecret = ({ createdAt, earlierUntil }: SecretAge, before: Instant, now: Instant): boolean =>
  createdAt < before && (earlierUntil === null || earlierUntil <= now);

export type EndpointStatus = "enabled" | "disabled";

export interface Endpoint {
  readonly id: WebhookId;
  readonly url: string;
  /** The selected types; null selects all of `standardEventTypes`, including future ones. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly status: EndpointStatus;
  /** The secret's hint: `whsec_…` and its last four characters. */
  readonly secretHint: string;
  readonly createdAt: Instant;
}

export interface NewEndpoint extends Omit<Endpoint, "status"> {
  /** The signing secret, encrypted by storage/webhook-secrets.ts. */
  readonly secretSealed: string;
}

/** The result of adding an endpoint. `url_taken`: another endpoint of the business in the same environment already has this URL. */
export type AddedEndpoint = "added" | "limit_reached" | "url_taken";

/** Normalizes a URL, so that a URL cannot be registered twice with different spellings. */
export const normalizeEndpointUrl = (url: string): string => new URL(url).href;

export type EndpointChange = Partial<Pick<Endpoint, "url" | "events" | "description" | "status">>;

/** The response to a registration, which contains the whole secret. Later responses contain only the secret's hint. */
export interface RegisteredEndpoint extends Omit<Endpoint, "id" | "events" | "secretHint"> {
  readonly id: WebhookId;
  /** All event types that the endpoint receives. */
  readonly events: readonly string[];
  readonly environment: Environment;
  readonly secret: string;
}

export const deliveryFilters = ["retrying", "abandoned"] as const satisfies readonly DeliveryStatus[];
export type DeliveryFilter = (typeof deliveryFilters)[number];

/** The state of an endpoint's deliveries, as computed by its delivery queue. */
export interface EndpointHealth {
  readonly consecutiveFailures: number;
  /** The time of the first failure since the last success. */
  readonly failingSince: Instant | null;
  /** When the last attempt ended, successful or not. */
  readonly lastDeliveryAt: Instant | null;
  /** The HTTP status in the response to the last attempt; null before the first attempt, and if the last attempt got no response. */
  readonly lastResponseStatus: number | null;
  /** The number of pending and retrying deliveries. */
  readonly backlog: number;
  /** The time of the oldest event in the backlog. */
  readonly oldestPendingAt: Instant | null;
  /** The number of deliveries in the backlog that a recovery queued again. */
  readonly resending: number;
  /**
   * True if events are waiting and the queue is paused, because a limit on attempts to the host was reached or could not be checked. These
   * limits apply until the host has returned a 2xx status for the business.
   */
  readonly isHostLimited: boolean;
}

export interface EndpointActivity {
  readonly health: EndpointHealth;
  readonly hours: readonly HourlyAttempts[];
}

/** The data that a delivery queue needs to send to its endpoint. */
export interface EndpointSettings {
  readonly endpointId: string;
  readonly businessId: string;
  /** The revision of the settings. It increases with every change, so that an older copy never replaces a newer one. */
  readonly revision: number;
  readonly url: string;
  readonly status: EndpointStatus;
  readonly secretSealed: string;
  readonly earlierSecretSealed: string | null;
  readonly earlierSecretUntil: Instant | null;
}

/** `pending`: the delivery has not been attempted yet. `retrying`: an attempt failed, and another one is scheduled. */
export type DeliveryStatus = "pending" | "retrying" | "success" | "abandoned";

/** The reason why an attempt failed. `http`: the response had a status outside 2xx. */
export type DeliveryError = "timeout" | "dns" | "tls" | "connection" | "http";

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  /** The number of scheduled attempts so far, not counting replays and recoveries. */
  readonly attempt: number;
  /** True if a recovery has queued the delivery for resending. */
  readonly isResending: boolean;
  readonly responseStatus: number | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number | null;
  readonly nextAttemptAt: Instant | null;
  readonly deliveredAt: Instant | null;
  readonly createdAt: Instant;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly hasMore: boolean;
}

/** A delivery, its URL, and the sequence number of its event. */
export interface EndpointDelivery {
  readonly url: string;
  readonly seq: number;
  readonly delivery: Delivery;
}

export type AttemptOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly durationMs: number }
  | { readonly kind: "unanswered"; readonly error: Exclude<DeliveryError, "http">; readonly durationMs: number };

export interface RecordedAttempt {
  /** The number that was sent in the `Svc-Attempt` header. */
  readonly number: number;
  /** True if the attempt was part of a replay or a recovery. Such an attempt does not count as a scheduled one. */
  readonly isResend: boolean;
  /** When the attempt ended. */
  readonly at: Instant;
  readonly responseStatus: number | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number;
  /** The `WebhookExchange`, sealed by storage/webhook-exchanges.ts; null if nothing was sent. */
  readonly exchangeSealed: string | null;
}

export type AttemptResult = AttemptOutcome & { readonly exchangeSealed: string | null };

export interface OutgoingDelivery {
  readonly settings: EndpointSettings;
  readonly event: StoredEvent;
  readonly deliveryId: string;
  readonly attempt: number;
}

/**
 * The result of sending. `deferred`: nothing was sent because of a problem in our service. `cancelled`: nothing will be sent, because the
 * business is no longer allowed to read the payload.
 */
export type SendResult =
  | AttemptResult
  | { readonly kind: "deferred"; readonly error: Exclude<DeliveryError, "http"> }
  | { readonly kind: "cancelled" };

/** A delivery with its endpoint, its event and its recorded attempts, newest first. */
export interface DeliveryRecord {
  readonly settings: EndpointSettings;
  readonly delivery: Delivery;
  readonly event: StoredEvent;
  readonly attempts: readonly RecordedAttempt[];
}

export interface RecoveryResult {
  readonly queued: number;
  /** True if more deliveries failed than one recovery can queue. */
  readonly hasMore: boolean;
}

/** Returns true for any 2xx response (SPEC Webhook delivery). */
export const isDelivered = (outcome: AttemptOutcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status <= 299;

const defaultEventTypes: ReadonlySet<string> = new Set(standardEventTypes);

export const receivesEventType = (events: readonly string[] | null, type: string): boolean =>
  events === null ? defaultEventTypes.has(type) : events.includes(type);

/**
 * The event types that anyone can cause in a sandbox. Web pages contain the IDs of test clients, and anyone with such an ID can create test
 * shares.
 */
const publicTestEventTypes: ReadonlySet<string> = new Set(["share.created", "share.expiring", "share.expired"]);
const maxPublicTestReceivers = 3;

/**
 * Returns whether an endpoint receives a type of event. In a sandbox, events that anyone can cause are sent only to the three oldest
 * endpoints that select them, so a stranger's action causes at most three deliveries instead of 20. `endpoints` lists all endpoints of the
 * sandbox, oldest first.
 */
export const isEventReceiver = <E extends { readonly id: string; readonly events: readonly string[] | null }>(
  endpoint: E,
  type: string,
  endpoints: readonly E[],
  environment: Environment,
): boolean => {
  if (!receivesEventType(endpoint.events, type)) return false;
  if (environment === "live" || !publicTestEventTypes.has(type)) return true;
  const receivers = endpoints.filter(({ events }) => receivesEventType(events, type)).slice(0, maxPublicTestReceivers);
  return receivers.some(({ id }) => id === endpoint.id);
};

// After its prefix, a delivery ID starts with the same seven characters as its endpoint's ID: the shard and five random characters (25
// bits). A business has at most twenty endpoints, so these characters are enough to find the endpoint whose Durable Object stores the
// delivery.
const idPrefixLength = "whk_".length;
const endpointTagEnd = idPrefixLength + 2 + 5;
const getEndpointTag = (id: string): string => id.slice(idPrefixLength, endpointTagEnd);

export const createDeliveryId = (endpointId: string, freshId: string): string =>
  `dlv_${getEndpointTag(endpointId)}${freshId.slice(endpointTagEnd)}`;
export const canHoldDelivery = (endpointId: string, deliveryId: string): boolean =>
  getEndpointTag(endpointId) === getEndpointTag(deliveryId);
