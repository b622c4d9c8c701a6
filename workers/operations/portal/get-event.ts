import type { BusinessScope } from "../../../core/access/principal.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import { attachDeliveries, type EventWithDeliveries } from "./event-deliveries.ts";

/** Null where there is none at this place. */
export const getEvent = async (
  services: EventSequences,
  { business, environment }: BusinessScope,
  seq: number,
): Promise<EventWithDeliveries | null> => {
  const log = services.eventSequence(business.id, environment);
  const { events } = await log.listEvents(seq - 1, 1, null);
  const [event] = events;
  if (event?.seq !== seq) return null;
  const [told] = attachDeliveries([event], await log.listDeliveriesBetween(seq - 1, seq));
  return told ?? null;
};
