// GET /v1/events returns a business's events in order (SPEC Events).
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
  summary: "List events",
  description:
    "Returns the events after the cursor, oldest first. The feed contains every event that webhooks deliver, except `test.ping`, and is kept permanently. If your webhook receiver was down, continue from your last cursor to get everything it missed, in order. A test key reads sandbox events, which have their own sequence.",
  middleware: apiKeyGuard(),
  request: { query: eventFeedQuerySchema },
  responses: {
    200: successResponse("Events after the cursor.", "EventsResponse", eventFeedPageSchema, {
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
