// GET /v1/events: a business's events in order (SPEC, Business API).
import { readFeed } from "../../operations/events.ts";
import { success } from "../../http/envelope.ts";
import { behindApiKey } from "../../http/guards.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { answerOf } from "../../http/wire.ts";
import { eventExample, feedPageSchema, feedQuerySchema, toWire } from "./schema.ts";

const createRoute = routesOf("events");

const feedRoute = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "listEvents",
  summary: "Read your events in order",
  description:
    "Everything your webhooks are told, in one sequence that is kept for good. After an outage of your receiver, page from your last cursor: nothing is missing and nothing comes out of order. A test key reads the events of its sandbox, which have a sequence of their own.",
  middleware: behindApiKey(),
  request: { query: feedQuerySchema },
  responses: {
    200: answerOf("The events behind the cursor.", "EventsAnswer", feedPageSchema, {
      events: [eventExample],
      next_cursor: 42,
      has_more: false,
      head: 42,
    }),
  },
});

export const events = newApi();

events.openapi(feedRoute, async (c) => {
  const page = await readFeed(c.var.services, c.var.principal, c.req.valid("query"));
  return success(c, 200, toWire(page));
});
