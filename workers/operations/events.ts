// What a business is told of, read page by page.
import type { Principal } from "../../core/access/principal.ts";
import type { Json } from "../../core/canonical-json.ts";
import { eventBody } from "../../core/events/event.ts";
import type { Services } from "../services.ts";
import { openPayloads } from "./webhook-sending.ts";

export interface FeedQuery {
  readonly cursor: number;
  readonly limit: number;
  readonly types: readonly string[] | null;
}

/**
 * The events behind the cursor, in their order. A payload that may no longer be read is null; the event stays. A test key has
 * no feed: records of the sandbox emit nothing.
 */
export const readFeed = async (services: Services, principal: Principal, query: FeedQuery): Promise<{ readonly [key: string]: Json }> => {
  if (principal.environment === "sandbox") return { events: [], next_cursor: query.cursor, has_more: false };
  const page = await services.businessLog(principal.business.id).page(query.cursor, query.limit, query.types);
  const sealed = page.events.filter(({ dataSealed }) => dataSealed !== null);
  const payloads = sealed.length === 0 ? new Map<string, Json>() : await openPayloads(services.platform, sealed);
  return {
    events: page.events.map((event) => eventBody(event, payloads.get(event.id) ?? null)),
    next_cursor: page.readTo,
    has_more: page.readTo < page.head,
  };
};
