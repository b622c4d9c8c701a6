// GET /v1/events: a business's events in order (SPEC, Business API).
import { getEventFeed } from "../../operations/events/get-event-feed.ts";
import { success } from "../../http/envelope.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { successResponse } from "../../http/wire.ts";
import { eventExample, eventFeedPageSchema, eventFeedQuerySchema, eventFeedPageToWire } from "./schema.ts";

const createRoute = createRouteFactory("events");

const listEventsRoute = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "listEvents",
  summary: "Read your events in order",
  description:
    "Everything your webhooks are told, in one sequence that is kept for good. After an outage of your receiver, page from your last cursor: nothing is missing and nothing comes out of order. A test key reads the events of its sandbox, which have a sequence of their own.",
  middleware: apiKeyGuard(),
  request: { query: eventFeedQuerySchema },
  responses: {
    200: successResponse("The events behind the cursor.", "EventsAnswer", eventFeedPageSchema, {
      events: [eventExample],
      next_cursor: 42,
      has_more: false,
      head: 42,
    }),
  },
});

export const eventRoutes = createApi();

eventRoutes.openapi(listEventsRoute, async (c) => {
  const page = await getEventFeed(c.var.services, c.var.principal, c.req.valid("query"));
  return success(c, 200, eventFeedPageToWire(page));
});
