// The wire of the event feed.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { eventTypes, namedOnlyEventTypes } from "../../core/events/event.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { readFeed, type FeedQuery } from "../operations/events.ts";
import type { Api } from "./context.ts";
import { failure, refusal, success } from "./envelope.ts";
import { apiKey } from "./guards.ts";
import { createRoute, mount } from "./openapi.ts";
import { queryOf } from "./query.ts";
import { envelope, enveloped, failures, rateHeaders, schemaFault } from "./wire.ts";

const usualLimit = 100;
const mostAPage = 500;
const knownTypes: ReadonlySet<string> = new Set([...eventTypes, ...namedOnlyEventTypes]);

const feedQuerySchema = z.object({
  cursor: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/)
    .transform(Number)
    .refine(Number.isSafeInteger)
    .optional()
    .openapi({
      type: "integer",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "The `next_cursor` of the page before; 0 to begin. One past the newest event is answered with an empty page.",
    }),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,39}$/)
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      minimum: 1,
      default: usualLimit,
      description: `At most ${mostAPage}; larger is answered as ${mostAPage}.`,
    }),
  types: z
    .string()
    .refine((text) => text.split(",").every((type) => knownTypes.has(type)))
    .optional()
    .openapi({
      description:
        "Types separated by commas; the cursor passes over the others, so a page may be short or empty while `has_more` is true.",
      example: "certificate.revoked",
    }),
});

/** One event, on the feed and as the body of every delivery. */
const eventSchema = z
  .object({
    id: z.string().openapi({ format: "uuid", description: "The same in every copy: tell repeats apart by it." }),
    type: z.string().openapi({ description: "What happened. New types may come; pass over those you do not know." }),
    created_at: z.string().openapi({ format: "date-time" }),
    share_id: z.string().nullable().openapi({ description: "Set for events about a share." }),
    cert_id: z.string().nullable().openapi({ description: "Set for events about a certificate." }),
    data: z
      .union([z.record(z.string(), z.unknown()), z.null()])
      .openapi({ description: "The new values, for `consumer.updated.*` while the share is active; null otherwise." }),
    seq: z.int().openapi({ description: "Place in your sequence: 1, 2, 3 … without a gap." }),
  })
  .openapi("Event");

const eventExample = {
  id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11",
  type: "certificate.revoked",
  created_at: "2026-03-04T05:06:07.089Z",
  share_id: null,
  cert_id: "cc_00k3v9d2m4q8x1c7b5n0t6w2h9",
  data: null,
  seq: 42,
};

const feedRoute = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "listEvents",
  tags: ["events"],
  summary: "Read your events in order",
  description:
    "Everything your webhooks are told, in one sequence that is kept for good. After an outage of your receiver, page from your last cursor: nothing is missing and nothing comes out of order. Records of the sandbox emit no events, so a test key reads an empty feed.",
  security: [{ apiKey: [] }],
  request: { query: feedQuerySchema },
  responses: {
    200: {
      description: "The events behind the cursor.",
      headers: rateHeaders,
      content: {
        "application/json": {
          schema: envelope(
            "EventsAnswer",
            z
              .object({
                events: z.array(eventSchema),
                next_cursor: z.int().openapi({ description: "Ask with it for what follows. An empty page repeats yours." }),
                has_more: z.boolean().openapi({ description: "True when the sequence goes on behind `next_cursor`." }),
              })
              .openapi("Events"),
          ),
          example: enveloped({ events: [eventExample], next_cursor: 42, has_more: false }),
        },
      },
    },
    ...failures(["invalid_request", "unauthorized", "business_suspended", "business_inactive", "rate_limited", "storage_unavailable"], {
      invalid_request: "The message names the parameter and the rule.",
    }),
  },
});

const feedQueryOf = (c: Context<Api>): Result<FeedQuery, "invalid_request"> => {
  const given = queryOf(c, ["cursor", "limit", "types"]);
  if (!given.ok) return given;
  const parsed = feedQuerySchema.safeParse(given.value);
  if (!parsed.success) return refuse("invalid_request", schemaFault(parsed.error));
  const { cursor = 0, limit = usualLimit, types } = parsed.data;
  return ok({ cursor, limit: Math.min(mostAPage, limit), types: types?.split(",") ?? null });
};

const feed = async (c: Context<Api>): Promise<Response> => {
  const query = feedQueryOf(c);
  if (!query.ok || c.var.principal === undefined) return query.ok ? failure(c, "unauthorized") : refusal(c, query);
  return success(c, 200, await readFeed(c.var.services, c.var.principal, query.value));
};

export const mountEvents = (app: Hono<Api>): void => {
  mount(app, feedRoute, apiKey, feed);
};
