// What a business is told: the kinds of event, an event as it is stored, and the one body that the feed and every delivery
// carry (SPEC, Resources, Event). An event names what happened and to which record; it never names a person, except in the
// payload of an update, which stays sealed until the moment it is sent or read.
import type { JsonObject } from "../canonical-json.ts";
import { toIso, type Instant } from "../time.ts";

/** SPEC, Events. What an endpoint receives that does not choose. */
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

/** Emitted for businesses that ask for them, and sent to endpoints that name them; the feed of everybody else stays as in SPEC. */
export const optInEventTypes = ["certificate.issued", "certificate.entities_withdrawn"] as const;

export type EventType = (typeof standardEventTypes)[number] | (typeof optInEventTypes)[number];

/** On its way into a business's sequence, which gives it its place. */
export interface UnsequencedEvent {
  /** UUID v4, generated with the change it tells of; what receivers tell copies apart by. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Instant;
  /** At most one of the two is set. */
  readonly shareId: string | null;
  readonly certId: string | null;
  /** The payload of an update, sealed under its share's key; null for every other event. */
  readonly dataSealed: string | null;
}

/** An event with its place: 1, 2, 3 … without a gap in each business. */
export interface StoredEvent extends UnsequencedEvent {
  readonly seq: number;
}

/** The payload of an update: the fields that changed. */
export type EventData = JsonObject;

/**
 * The event as a receiver sees it, keys in the order in which SPEC lists them: the body of a delivery, and of the feed. `data` is the
 * opened payload.
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
