// Loads the data for the portal's event list.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import { attachDeliveries, type EventWithDeliveries } from "./event-deliveries.ts";

export interface EventList {
  readonly events: readonly EventWithDeliveries[];
  /** The sequence number to pass as `before` to read older events; null if there are none. */
  readonly nextBefore: number | null;
}

/** The number of events to search for each page if a type is selected, because only some events match. */
const scanSize = 500;

/**
 * Lists up to `limit` events with a sequence number below `before`, newest first, with their deliveries. If `type` is given, a page can be
 * short or empty even if older events exist. In that case, `nextBefore` is not null.
 */
export const listEvents = async (
  services: EventSequences,
  { business, environment }: BusinessScope,
  { before, type, limit }: { readonly before: number | null; readonly type: string | null; readonly limit: number },
): Promise<EventList> => {
  const eventSequence = services.eventSequence(business.id, environment);
  await eventSequence.drain();
  const { head } = await eventSequence.listEvents(Number.MAX_SAFE_INTEGER, 1, null);
  const upTo = Math.min(head, (before ?? head + 1) - 1);
  const after = Math.max(0, upTo - (type === null ? limit : scanSize));
  const page = upTo === 0 ? [] : (await eventSequence.listEvents(after, upTo - after, null)).events;
  const chosen = page.filter((event) => type === null || event.type === type).toReversed();
  const events = chosen.slice(0, limit);
  const oldest = chosen.length > limit ? events.at(-1)?.seq : after + 1;
  const [first, last] = [events.at(-1)?.seq, events[0]?.seq];
  const deliveries = first === undefined || last === undefined ? [] : await eventSequence.listDeliveriesBetween(first - 1, last);
  return { events: attachDeliveries(events, deliveries), nextBefore: oldest !== undefined && oldest > 1 ? oldest : null };
};
