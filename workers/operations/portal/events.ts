// A business's events as its people look at them: newest first, each with what became of it at every endpoint. Payloads stay sealed.
import type { Reader } from "../../../core/access/principal.ts";
import type { StoredEvent } from "../../../core/events/event.ts";
import type { EndpointDelivery } from "../../../core/webhooks/endpoint.ts";
import type { Events } from "../../services.ts";

export type Told = Pick<EndpointDelivery, "url" | "delivery">;

export interface ToldEvent {
  readonly event: StoredEvent;
  readonly deliveries: readonly Told[];
}

export interface EventList {
  readonly events: readonly ToldEvent[];
  /** The place before which older ones are; null where there are none. */
  readonly olderBefore: number | null;
}

const readAtOnce = 500; // of them some are of the type that is asked for

const toldOf = (events: readonly StoredEvent[], deliveries: readonly EndpointDelivery[]): readonly ToldEvent[] =>
  events.map((event) => ({ event, deliveries: deliveries.filter(({ seq }) => seq === event.seq) }));

/** At most `limit` of those before a place, or of all; of one type or of every. */
export const listEvents = async (
  services: Events,
  { business, environment }: Reader,
  { before, type, limit }: { readonly before: number | null; readonly type: string | null; readonly limit: number },
): Promise<EventList> => {
  const log = services.businessLog(business.id, environment);
  await log.drain();
  const { head } = await log.page(Number.MAX_SAFE_INTEGER, 1, null);
  const upTo = Math.min(head, (before ?? head + 1) - 1);
  const after = Math.max(0, upTo - (type === null ? limit : readAtOnce));
  const page = upTo === 0 ? [] : (await log.page(after, upTo - after, null)).events;
  const chosen = page.filter((event) => type === null || event.type === type).toReversed();
  const events = chosen.slice(0, limit);
  const oldest = chosen.length > limit ? events.at(-1)?.seq : after + 1;
  const [first, last] = [events.at(-1)?.seq, events[0]?.seq];
  const deliveries = first === undefined || last === undefined ? [] : await log.deliveriesOf(first - 1, last);
  return { events: toldOf(events, deliveries), olderBefore: oldest !== undefined && oldest > 1 ? oldest : null };
};

/** Null where there is none at this place. */
export const readEvent = async (services: Events, { business, environment }: Reader, seq: number): Promise<ToldEvent | null> => {
  const log = services.businessLog(business.id, environment);
  const { events } = await log.page(seq - 1, 1, null);
  const [event] = events;
  if (event?.seq !== seq) return null;
  const [told] = toldOf([event], await log.deliveriesOf(seq - 1, seq));
  return told ?? null;
};
