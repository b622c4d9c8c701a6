// GET /v1/events: a business's events in order (SPEC, Business API).
import { readFeed } from "../../operations/events.ts";
import { success } from "../../http/envelope.ts";
import { behindApiKey } from "../../http/guards.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { answerOf, failures, rateHeaders } from "../../http/wire.ts";
import { eventExample, feedPageSchema, feedQuerySchema, toWire } from "./schema.ts";

const feedRoute = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "listEvents",
  tags: ["events"],
  summary: "Read your events in order",
  description:
    "Everything your webhooks are told, in one sequence that is kept for good. After an outage of your receiver, page from your last cursor: nothing is missing and nothing comes out of order. A test key reads the events of its sandbox, which have a sequence of their own.",
  security: [{ apiKey: [] }],
  middleware: behindApiKey(),
  request: { query: feedQuerySchema },
  responses: {
    200: {
      description: "The events behind the cursor.",
      headers: rateHeaders,
      content: answerOf("EventsAnswer", feedPageSchema, { events: [eventExample], next_cursor: 42, has_more: false, head: 42 }),
    },
    ...failures(["invalid_request", "unauthorized", "business_suspended", "business_inactive", "rate_limited", "storage_unavailable"], {
      invalid_request: "The message names the parameter and the rule.",
    }),
  },
});

export const events = newApi();

events.openapi(feedRoute, async (c) => {
  const page = await readFeed(c.var.services, c.var.principal, c.req.valid("query"));
  return success(c, 200, toWire(page));
});
