// svc_list_events returns the business's live events in order.
import { z } from "@hono/zod-openapi";
import { eventFeedPageSchema, eventFeedPageToWire } from "../../api/events/schema.ts";
import { getEventFeed } from "../../operations/events/get-event-feed.ts";
import { integerArgument } from "../tool-arguments.ts";
import { readOnlyHints, defineTool } from "../tool.ts";

export const listEvents = defineTool({
  name: "svc_list_events",
  title: "List events",
  descriptions: { business: "Returns the business's events after a cursor. Events contain personal data only while the share is active." },
  hints: readOnlyHints,
  inputSchema: z.strictObject({
    cursor: integerArgument(0, Number.MAX_SAFE_INTEGER).default(0).describe("next_cursor from the previous page, or 0 to start."),
    limit: integerArgument(1, 500).default(50).describe("Maximum number of events."),
  }),
  outputSchema: eventFeedPageSchema,
  untrustedFields: ["data"],
  run: async ({ services, agent: { business } }, { cursor, limit }) => ({
    ok: true,
    data: eventFeedPageToWire(await getEventFeed(services, { environment: "live", business }, { cursor, limit, types: null })),
  }),
});
