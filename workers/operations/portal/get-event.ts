// Reads one of a business's events, with its deliveries.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import { attachDeliveries, type EventWithDeliveries } from "./event-deliveries.ts";

/** Returns the event, or null if there is no event with this sequence number. */
export const getEvent = async (
  services: EventSequences,
  { business, environment }: BusinessScope,
  seq: number,
): Promise<EventWithDeliveries | null> => {
  const eventSequence = services.eventSequence(business.id, environment);
  const { events } = await eventSequence.listEvents(seq - 1, 1, null);
  const [event] = events;
  if (event?.seq !== seq) return null;
  const [eventWithDeliveries] = attachDeliveries([event], await eventSequence.listDeliveriesBetween(seq - 1, seq));
  return eventWithDeliveries ?? null;
};
