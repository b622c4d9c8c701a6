// Pairs events with their deliveries.
import type { StoredEvent } from "../../../core/events/event.ts";
import type { EndpointDelivery } from "../../../core/webhooks/endpoint.ts";

export type EventDelivery = Pick<EndpointDelivery, "url" | "delivery">;

export interface EventWithDeliveries {
  readonly event: StoredEvent;
  readonly deliveries: readonly EventDelivery[];
}

export const attachDeliveries = (events: readonly StoredEvent[], deliveries: readonly EndpointDelivery[]): readonly EventWithDeliveries[] =>
  events.map((event) => ({ event, deliveries: deliveries.filter(({ seq }) => seq === event.seq) }));
