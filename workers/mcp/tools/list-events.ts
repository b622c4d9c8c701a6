// svc_list_events: what the business is told of, in order; live records only.
import { z } from "@hono/zod-openapi";
import { feedPageSchema, toWire } from "../../api/events/schema.ts";
import { readFeed } from "../../operations/events.ts";
import { wholeNumber } from "../arguments.ts";
import { readingHints, tool } from "../tool.ts";

export const listEvents = tool({
  name: "svc_list_events",
  title: "List events",
  descriptions: { business: "Events of this business after a cursor; personal data only while the share is active." },
  hints: readingHints,
  takes: z.strictObject({
    cursor: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).describe("next_cursor of the page before; 0 to begin."),
    limit: wholeNumber(1, 500).default(50).describe("How many events at most."),
  }),
  gives: feedPageSchema,
  foreign: ["data"],
  run: async ({ services, agent: { business } }, { cursor, limit }) => ({
    ok: true,
    data: toWire(await readFeed(services, { environment: "live", business }, { cursor, limit, types: null })),
  }),
});
