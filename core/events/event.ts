// Public events: their types, their stored form, and the JSON body used by the feed and every webhook delivery (SPEC Events). An event says
// what happened to which record. Only update events contain personal data. It is in a payload that stays sealed until it is sent or read.
import type { JsonObject } from "../canonical-json.ts";
import { toIso, type Instant } from "../time.ts";

/** The types that an endpoint receives if it does not select any (SPEC Events). */
export const standardEventTypes = [
  "share.created",
  "share.expiring",
  "share.expired",
  "share.revoked",
  "share.renewed",
  "business.ceased",
  "consumer.updated.email",
  "consumer.updated.phone",
  "consumer.updated.address",
  "consumer.updated.name",
  "certificate.revoked",
] as const;

/** Types that are emitted only for businesses that opt in, and sent only to endpoints that select them. */
export const optInEventTypes = ["certificate.issued", "certificate.entities_withdrawn"] as const;

export type EventType = (typeof standardEventTypes)[number] | (typeof optInEventTypes)[number];

/** An event that has no number yet. The event sequence of its business will assign one. */
export interface UnsequencedEvent {
  /** A UUID v4 that is generated with the change that the event reports. Receivers use it to detect duplicates. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Instant;
  /** The share or certificate that the event is about. At most one of the two IDs is set. */
  readonly shareId: string | null;
  readonly certId: string | null;
  /** The payload of an update, sealed with its share's key; null for every other event. */
  readonly dataSealed: string | null;
}

/** An event with its number: 1, 2, 3 … without gaps in each sequence. */
export interface StoredEvent extends UnsequencedEvent {
  readonly seq: number;
}

/** The payload of an update: the changed fields. */
export type EventData = JsonObject;

/**
 * Returns an event's JSON for deliveries and for the feed, with keys in the order of the specification. `data` is the decrypted payload.
 */
export const eventToWire = (event: Omit<StoredEvent, "dataSealed">, data: EventData | null) => ({
  id: event.id,
  type: event.type,
  created_at: toIso(event.createdAt),
  share_id: event.shareId,
  cert_id: event.certId,
  data,
  seq: event.seq,
});
