// What a business is told of: events are placed in its sequence right after the answer and by the minute cron, and read page
// by page.
import type { Principal } from "../../core/access/principal.ts";
import type { EventData, StoredEvent } from "../../core/events/event.ts";
import type { BusinessId } from "../../core/ids.ts";
import { businessesWithEvents } from "../../storage/events.ts";
import { kindOfError } from "../log.ts";
import type { Platform, Services } from "../services.ts";
import { openPayloads } from "./webhooks/sending.ts";

const businessesASweep = 1_000;
const drainsAtOnce = 5; // a Worker may wait for six connections; one stays free

const drain = async (platform: Platform, businessId: string): Promise<void> => {
  try {
    await platform.businessLog(businessId).drain();
  } catch (error) {
    platform.log.fault({ at: "events", error: kindOfError(error) }); // the rows stay, the next minute tries again
  }
};

/** For whoever has committed a fact with an event: it is in the feed and on its way to the endpoints some milliseconds after the answer. */
export const tellSoon = (services: Services, businessId: BusinessId): void => {
  services.afterAnswer(() => drain(services.platform, businessId));
};

/** What no request has seen to: every business whose events wait. A home that fails does not keep the others waiting. */
export const sweepEvents = async (platform: Platform): Promise<void> => {
  for (const [, db] of platform.homes.all()) {
    try {
      const waiting = [...(await businessesWithEvents(db, businessesASweep))];
      const worker = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await drain(platform, next);
      };
      await Promise.all(Array.from({ length: drainsAtOnce }, worker));
    } catch (error) {
      platform.log.fault({ at: "events", error: kindOfError(error) });
    }
  }
};

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
}

/** The events behind the cursor, in their order. A test key has no feed: records of the sandbox emit nothing. */
export const readFeed = async (services: Services, principal: Principal, query: FeedQuery): Promise<FeedPage> => {
  if (principal.environment === "sandbox") return { events: [], nextCursor: query.cursor, hasMore: false };
  const page = await services.businessLog(principal.business.id).page(query.cursor, query.limit, query.types);
  const sealed = page.events.filter(({ dataSealed }) => dataSealed !== null);
  const payloads = sealed.length === 0 ? new Map<string, EventData>() : await openPayloads(services.platform, sealed);
  return {
    events: page.events.map(({ dataSealed: _, ...event }) => ({ ...event, data: payloads.get(event.id) ?? null })),
    nextCursor: page.readTo,
    hasMore: page.readTo < page.head,
  };
};
