// Schemas and mapper for the event feed.
import { z } from "@hono/zod-openapi";
import { eventToWire, standardEventTypes, optInEventTypes } from "../../../core/events/event.ts";
import { limitSchema, timeSchema } from "../../http/wire.ts";
import type { FeedPage } from "../../operations/events/get-event-feed.ts";

const filterableEventTypes: ReadonlySet<string> = new Set([...standardEventTypes, ...optInEventTypes]);

export const eventFeedQuerySchema = z.object({
  cursor: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/, "must be an integer from 0 to 9007199254740991")
    .transform(Number)
    .refine(Number.isSafeInteger, "must be an integer from 0 to 9007199254740991")
    .default(0)
    .meta({
      type: "integer",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: "`next_cursor` from the previous page, or 0 to start. A cursor past the newest event returns an empty page.",
    }),
  limit: limitSchema(100, 500),
  types: z
    .string()
    .transform((text) => text.split(","))
    .refine((types) => types.every((type) => filterableEventTypes.has(type)), "must be known event types, separated by commas")
    .nullable()
    .default(null)
    .meta({
      type: "string",
      description:
        "Event types to return, separated by commas. Default: all types. Events of other types are skipped, so a page can be short or empty even if `has_more` is `true`.",
      example: "certificate.revoked",
    }),
});

/** One event, in the feed and as the body of a webhook delivery (SPEC Events). */
export const eventSchema = z
  .object({
    id: z
      .string()
      .meta({ format: "uuid", description: "ID of the event. All deliveries of an event have the same ID, so you can detect duplicates." }),
    type: z.string().meta({ description: "Event type. Ignore types that you do not recognize, because new ones can be added." }),
    created_at: timeSchema,
    share_id: z.string().nullable().meta({ description: "ID of the share, for events about a share." }),
    cert_id: z.string().nullable().meta({ description: "ID of the certificate, for events about a certificate." }),
    data: z
      .union([z.record(z.string(), z.unknown()), z.null()])
      .meta({ description: "The new values, for `consumer.updated.*` events while the share is active. Otherwise `null`." }),
    seq: z.int().meta({ description: "Position of the event in your event sequence, starting at 1, without gaps." }),
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
    next_cursor: z.int().meta({ description: "Cursor for the next page. Equals the cursor that you sent if there are no newer events." }),
    has_more: z.boolean().meta({ description: "`true` if there are events after `next_cursor`." }),
    head: z.int().meta({ description: "`seq` of your newest event; 0 if there are none. Start from this cursor to get only new events." }),
  })
  .openapi("Events");

export const eventFeedPageToWire = ({ events, nextCursor, hasMore, newestSeq }: FeedPage): z.input<typeof eventFeedPageSchema> => ({
  events: events.map(({ data, ...event }) => eventToWire(event, data)),
  next_cursor: nextCursor,
  has_more: hasMore,
  head: newestSeq,
});
