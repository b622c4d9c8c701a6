import type { BusinessScope } from "../../../core/access/principal.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import { attachDeliveries, type EventWithDeliveries } from "./event-deliveries.ts";

export interface EventList {
  readonly events: readonly EventWithDeliveries[];
  /** The place before which older ones are; null where there are none. */
  readonly nextBefore: number | null;
}

const scanSize = 500;

/** At most `limit` of those before a place, or of all; of one type or of every. */
export const listEvents = async (
  services: EventSequences,
  { business, environment }: BusinessScope,
  { before, type, limit }: { readonly before: number | null; readonly type: string | null; readonly limit: number },
): Promise<EventList> => {
  const log = services.eventSequence(business.id, environment);
  await log.drain();
  const { head } = await log.listEvents(Number.MAX_SAFE_INTEGER, 1, null);
  const upTo = Math.min(head, (before ?? head + 1) - 1);
  const after = Math.max(0, upTo - (type === null ? limit : scanSize));
  const page = upTo === 0 ? [] : (await log.listEvents(after, upTo - after, null)).events;
  const chosen = page.filter((event) => type === null || event.type === type).toReversed();
  const events = chosen.slice(0, limit);
  const oldest = chosen.length > limit ? events.at(-1)?.seq : after + 1;
  const [first, last] = [events.at(-1)?.seq, events[0]?.seq];
  const deliveries = first === undefined || last === undefined ? [] : await log.listDeliveriesBetween(first - 1, last);
  return { events: attachDeliveries(events, deliveries), nextBefore: oldest !== undefined && oldest > 1 ? oldest : null };
};
