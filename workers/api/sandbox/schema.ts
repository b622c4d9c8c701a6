// The wire of test mode: its clock, what makes events happen, and the way back.
import { z } from "@hono/zod-openapi";
import { eventBody } from "../../../core/events/event.ts";
import { contactKeys, type ContactKey } from "../../../core/shares/fields.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull, secondMs, type Instant } from "../../../core/time.ts";
import type { ClockMove } from "../../../core/sandbox/clock.ts";
import type { ClockReading, Swept } from "../../operations/sandbox/clock.ts";
import type { ResetOutcome } from "../../operations/sandbox/reset.ts";
import { triggeredTypes, type Triggered, type TriggerRequest } from "../../operations/sandbox/trigger.ts";
import { eventExample, eventSchema } from "../events/schema.ts";
import { shareExample } from "../shares/examples.ts";
import { shareSchema, shareToWire } from "../shares/schema.ts";

const environment = z.literal("sandbox");
const oneOfTwo = { message: "either this or to must be sent, and not both", path: ["advance_seconds"] };

export const moveSchema = z
  .object({
    advance_seconds: z.int().min(1).max(94_694_400).optional().openapi({ description: "Forward by so many seconds.", example: 518_400 }),
    to: z.iso
      .datetime("must be a moment in UTC, such as 2027-11-19T10:05:00.000Z")
      .optional()
      .openapi({ description: "Forward to this moment, UTC.", example: "2027-11-19T10:05:00.000Z" }),
  })
  .refine(({ advance_seconds: seconds, to }) => (seconds === undefined) !== (to === undefined), oneOfTwo)
  .openapi("SandboxClockMove");

export const moveFromWire = ({ advance_seconds: advanceSeconds, to }: z.output<typeof moveSchema>): ClockMove =>
  advanceSeconds === undefined ? { to: Date.parse(to as string) } : { advanceSeconds };

const clockFields = {
  environment,
  now: z.string().openapi({ format: "date-time", description: "What your sandbox takes for the time." }),
  offset_seconds: z.number().openapi({ description: "How far that is ahead." }),
  moved_at: z
    .string()
    .nullable()
    .openapi({ format: "date-time", description: "When it was last moved; null while it goes with the time." }),
};
export const clockSchema = z.object(clockFields).openapi("SandboxClock");
export const movedSchema = z
  .object({
    ...clockFields,
    swept: z.int().openapi({ description: "Shares that were warned of or expired by this." }),
    more: z.literal(true).optional().openapi({ description: "More is due than one call works through: the next one goes on." }),
  })
  .openapi("MovedSandboxClock");

export const clockToWire = ({ now, offsetMs, movedAt }: ClockReading): z.input<typeof clockSchema> => ({
  environment: "sandbox",
  now: isoOf(now),
  offset_seconds: offsetMs / secondMs,
  moved_at: isoOrNull(movedAt),
});
export const movedToWire = (moved: ClockReading & Swept): z.input<typeof movedSchema> => ({
  ...clockToWire(moved),
  swept: moved.swept,
  ...(moved.hasMore && { more: true as const }),
});

const key = z.enum(contactKeys as [ContactKey, ...ContactKey[]]);
export const triggerSchema = z
  .object({
    type: z.enum(triggeredTypes).openapi({ description: "What is to happen.", example: "share.revoked" }),
    share_id: z.string().max(64).nullish().openapi({
      description: "An active test share of yours (for `business.ceased` one that was revoked). Left out: a fresh one is made.",
    }),
    fields: z
      .partialRecord(key, z.string().max(300).nullable())
      .nullish()
      .openapi({ description: "For `consumer.updated.*`: new values of the group, null to clear. Left out: another value is made up." }),
  })
  .openapi("SandboxTrigger");

/** Null for a share id that is not spelt as one: there is nothing under it. */
export const triggerFromWire = ({ type, share_id: share, fields }: z.output<typeof triggerSchema>): TriggerRequest | null => {
  const shareId = share == null ? null : shareIdOf(share);
  if (share != null && shareId === null) return null;
  return { type, shareId, fields: fields == null ? null : new Map(Object.entries(fields) as [ContactKey, string | null][]) };
};

export const triggeredSchema = z.object({ environment, share: shareSchema, event: eventSchema }).openapi("TriggeredEvent");
export const triggeredToWire = ({ share, event: { data, ...event } }: Triggered, now: Instant): z.input<typeof triggeredSchema> => ({
  environment: "sandbox",
  share: shareToWire(share, now),
  event: eventBody(event, data),
});

export const resetSchema = z
  .object({
    environment,
    ended: z.int().openapi({ description: "Test shares that were active." }),
    more: z.literal(true).optional().openapi({ description: "There are more; call again. The clock is set back with the last of them." }),
  })
  .openapi("SandboxReset");
export const resetToWire = ({ ended, hasMore }: ResetOutcome): z.input<typeof resetSchema> => ({
  environment: "sandbox",
  ended,
  ...(hasMore && { more: true as const }),
});

export const clockExample = {
  environment: "sandbox",
  now: "2026-11-26T10:05:00.000Z",
  offset_seconds: 518_400,
  moved_at: "2026-11-20T10:05:00.000Z",
};
const sharedExample = { ...shareExample, client_id: "pc_test_00f7m2k9x4c1v8b5n3q6t0w2h7", environment: "sandbox" };
export const triggeredExample = {
  environment: "sandbox",
  share: sharedExample,
  event: { ...eventExample, type: "share.created", share_id: shareExample.id, cert_id: null },
};
