// Implements GET /v1/events. Returns the business's event sequence, one page at a time.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { EventData, StoredEvent } from "../../../core/events/event.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import { openEventPayloads, type OpenedPayload } from "../webhooks/open-event-payloads.ts";

export interface FeedQuery {
  readonly cursor: number;
  readonly limit: number;
  /** The types to return; null returns every type. */
  readonly types: readonly string[] | null;
}

export interface FeedPage {
  /** The events of the page. `data` is the decrypted payload, or null if the event has no payload or the payload may no longer be read. */
  readonly events: readonly (Omit<StoredEvent, "dataSealed"> & { readonly data: EventData | null })[];
  readonly nextCursor: number;
  readonly hasMore: boolean;
  readonly newestSeq: number;
}

/**
 * Returns events after the cursor, in order. The reader's environment determines whether these are live or sandbox events (SPEC Events).
 */
export const getEventFeed = async (
  services: ReadDependencies & EventSequences,
  reader: BusinessScope,
  query: FeedQuery,
): Promise<FeedPage> => {
  const page = await services.eventSequence(reader.business.id, reader.environment).listEvents(query.cursor, query.limit, query.types);
  const sealed = page.events.filter(({ dataSealed }) => dataSealed !== null);
  const payloads = sealed.length === 0 ? new Map<string, OpenedPayload>() : await openEventPayloads(services, sealed);
  return {
    events: page.events.map(({ dataSealed: _, ...event }) => ({ ...event, data: payloads.get(event.id)?.data ?? null })),
    nextCursor: page.readThrough,
    hasMore: page.readThrough < page.head,
    newestSeq: page.head,
  };
};
