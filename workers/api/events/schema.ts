// The wire of the event feed: what may be asked, and what is answered.
import { z } from "@hono/zod-openapi";
import { eventToWire, standardEventTypes, optInEventTypes } from "../../../core/events/event.ts";
import { limitSchema, timeSchema } from "../../http/wire.ts";
import type { FeedPage } from "../../operations/events/get-event-feed.ts";

const filterableEventTypes: ReadonlySet<string> = new Set([...standardEventTypes, ...optInEventTypes]);

export const eventFeedQuerySchema = z.object({
  cursor: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/, "must be a whole number from 0")
    .transform(Number)
    .refine(Number.isSafeInteger, "must be a whole number from 0 to 9007199254740991")
    .default(0)
    .openapi({
      type: "integer",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "The `next_cursor` of the page before; 0 to begin. One past the newest event is answered with an empty page.",
    }),
  limit: limitSchema(100, 500),
  types: z
    .string()
    .transform((text) => text.split(","))
    .refine((types) => types.every((type) => filterableEventTypes.has(type)), "must name known types of event, separated by commas")
    .nullable()
    .default(null)
    .openapi({
      type: "string",
      description:
        "Types separated by commas; the cursor passes over the others, so a page may be short or empty while `has_more` is true.",
      example: "certificate.revoked",
    }),
});

/** One event, on the feed and as the body of every delivery. */
export const eventSchema = z
  .object({
    id: z.string().openapi({ format: "uuid", description: "The same in every copy: tell repeats apart by it." }),
    type: z.string().openapi({ description: "What happened. New types may come; pass over those you do not know." }),
    created_at: timeSchema,
    share_id: z.string().nullable().openapi({ description: "Set for events about a share." }),
    cert_id: z.string().nullable().openapi({ description: "Set for events about a certificate." }),
    data: z
      .union([z.record(z.string(), z.unknown()), z.null()])
      .openapi({ description: "The new values, for `consumer.updated.*` while the share is active; null otherwise." }),
    seq: z.int().openapi({ description: "Place in your sequence: 1, 2, 3 … without a gap." }),
  })
  .openapi("Event");

export const eventExample = {
  id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11",
  type: "certificate.revoked",
  created_at: "2026-03-04T05:06:07.089Z",
  share_id: null,
  cert_id: "cc_00k3v9d2m4q8x1c7b5n0t6w2h9",
  data: null,
  seq: 42,
};

export const eventFeedPageSchema = z
  .object({
    events: z.array(eventSchema),
    next_cursor: z.int().openapi({ description: "Ask with it for what follows. An empty page repeats yours." }),
    has_more: z.boolean().openapi({ description: "True when the sequence goes on behind `next_cursor`." }),
    head: z.int().openapi({ description: "The place of your newest event; 0 before the first. Ask with it to hear only of what is new." }),
  })
  .openapi("Events");

export const eventFeedPageToWire = ({ events, nextCursor, hasMore, newestSeq }: FeedPage): z.input<typeof eventFeedPageSchema> => ({
  events: events.map(({ data, ...event }) => eventToWire(event, data)),
  next_cursor: nextCursor,
  has_more: hasMore,
  head: newestSeq,
});
