// What a business is told of, read page by page.
import type { Principal } from "../../../core/access/principal.ts";
import type { EventData, StoredEvent } from "../../../core/events/event.ts";
import type { EventFeedDependencies } from "./dependencies.ts";
import { openEventPayloads } from "../webhooks/open-event-payloads.ts";

/** Whose events, live or of the sandbox. */
export type FeedReader = Pick<Principal, "environment"> & { readonly business: Pick<Principal["business"], "id"> };

export interface FeedQuery {
  readonly cursor: number;
  readonly limit: number;
  /** Null: every type. */
  readonly types: readonly string[] | null;
}

export interface FeedPage {
  /** `data` is the opened payload; null where there is none, or it may no longer be read. */
  readonly events: readonly (Omit<StoredEvent, "dataSealed"> & { readonly data: EventData | null })[];
  readonly nextCursor: number;
  readonly hasMore: boolean;
  /** The place of the newest event. */
  readonly newestSeq: number;
}

/** The events behind the cursor, in their order: a live key's business, or its sandbox for a test key. */
export const getEventFeed = async (services: EventFeedDependencies, reader: FeedReader, query: FeedQuery): Promise<FeedPage> => {
  const page = await services.eventSequence(reader.business.id, reader.environment).listEvents(query.cursor, query.limit, query.types);
  const sealed = page.events.filter(({ dataSealed }) => dataSealed !== null);
  const payloads = sealed.length === 0 ? new Map<string, EventData>() : await openEventPayloads(services, sealed);
  return {
    events: page.events.map(({ dataSealed: _, ...event }) => ({ ...event, data: payloads.get(event.id) ?? null })),
    nextCursor: page.readThrough,
    hasMore: page.readThrough < page.head,
    newestSeq: page.head,
  };
};
