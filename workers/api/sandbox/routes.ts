// The routes of test mode (docs/guides/sandbox.md): by a test key, and about the sandbox of its business alone.
import { z } from "@hono/zod-openapi";
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import { actorFromApiKey, type Principal } from "../../../core/access/principal.ts";
import { eventToWire } from "../../../core/events/event.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { parseShareId } from "../../../core/ids.ts";
import { toIso, toIsoOrNull, secondMs, type Instant } from "../../../core/time.ts";
import type { ClockMove } from "../../../core/sandbox/clock.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { ApiKeyEnv } from "../../http/context.ts";
import { respond, failure, refusal, success } from "../../http/envelope.ts";
import { defineGuard } from "../../http/guards/define-guard.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { successResponse, requestBody, timeSchema } from "../../http/wire.ts";
import { advanceSandboxClock } from "../../operations/sandbox/advance-sandbox-clock.ts";
import { getClockReading, type SandboxActor, type ClockReading } from "../../operations/sandbox/get-clock-reading.ts";
import type { SweepResult } from "../../operations/sandbox/sweep-sandbox.ts";
import { resetSandbox, type ResetResult } from "../../operations/sandbox/reset-sandbox.ts";
import { triggerEvent, triggerableEventTypes, type TriggeredEvent, type TriggerRequest } from "../../operations/sandbox/trigger-event.ts";
import { eventExample, eventSchema } from "../events/schema.ts";
import { fieldKeySchema, shareExample, shareSchema, shareToWire } from "../shares/schema.ts";

const sandboxEnvironmentSchema = z.literal("sandbox");
const exactlyOneIssue = { message: "either this or to must be sent, and not both", path: ["advance_seconds"] };

const clockAdvanceSchema = z
  .object({
    advance_seconds: z.int().min(1).max(94_694_400).optional().openapi({ description: "Forward by so many seconds.", example: 518_400 }),
    to: z.iso
      .datetime("must be a moment in UTC, such as 2027-11-19T10:05:00.000Z")
      .optional()
      .openapi({ description: "Forward to this moment, UTC.", example: "2027-11-19T10:05:00.000Z" }),
  })
  .refine(({ advance_seconds: seconds, to }) => (seconds === undefined) !== (to === undefined), exactlyOneIssue)
  .openapi("SandboxClockMove");

const clockAdvanceFromWire = ({ advance_seconds: advanceSeconds, to }: z.output<typeof clockAdvanceSchema>): ClockMove =>
  advanceSeconds === undefined ? { to: Date.parse(to as string) } : { advanceSeconds };

const clockFields = {
  environment: sandboxEnvironmentSchema,
  now: timeSchema.openapi({ description: "What your sandbox takes for the time." }),
  offset_seconds: z.number().openapi({ description: "How far that is ahead." }),
  moved_at: timeSchema.nullable().openapi({ description: "When it was last moved; null while it goes with the time." }),
};
const clockSchema = z.object(clockFields).openapi("SandboxClock");
const advancedClockSchema = z
  .object({
    ...clockFields,
    swept: z.int().openapi({ description: "Shares that were warned of or expired by this." }),
    more: z.literal(true).optional().openapi({ description: "More is due than one call works through: the next one goes on." }),
  })
  .openapi("MovedSandboxClock");

const clockToWire = ({ now, offsetMs, movedAt }: ClockReading): z.input<typeof clockSchema> => ({
  environment: "sandbox",
  now: toIso(now),
  offset_seconds: offsetMs / secondMs,
  moved_at: toIsoOrNull(movedAt),
});
const advancedClockToWire = (moved: ClockReading & SweepResult): z.input<typeof advancedClockSchema> => ({
  ...clockToWire(moved),
  swept: moved.swept,
  ...(moved.hasMore && { more: true as const }),
});

const triggerRequestSchema = z
  .object({
    type: z.enum(triggerableEventTypes).openapi({ description: "What is to happen.", example: "share.revoked" }),
    share_id: z.string().max(64).nullish().openapi({
      description: "An active test share of yours (for `business.ceased` one that was revoked). Left out: a fresh one is made.",
    }),
    fields: z
      .partialRecord(fieldKeySchema, z.string().max(300).nullable())
      .nullish()
      .openapi({ description: "For `consumer.updated.*`: new values of the group, null to clear. Left out: another value is made up." }),
  })
  .openapi("SandboxTrigger");

/** Null for a share id that is not spelt as one: there is nothing under it. */
const triggerRequestFromWire = ({ type, share_id: share, fields }: z.output<typeof triggerRequestSchema>): TriggerRequest | null => {
  const shareId = share == null ? null : parseShareId(share);
  if (share != null && shareId === null) return null;
  return { type, shareId, fields: fields == null ? null : new Map(Object.entries(fields) as [ContactKey, string | null][]) };
};

const triggeredEventSchema = z
  .object({ environment: sandboxEnvironmentSchema, share: shareSchema, event: eventSchema })
  .openapi("TriggeredEvent");
const triggeredEventToWire = (
  { share, event: { data, ...event } }: TriggeredEvent,
  now: Instant,
): z.input<typeof triggeredEventSchema> => ({
  environment: "sandbox",
  share: shareToWire(share, now),
  event: eventToWire(event, data),
});

const resetSchema = z
  .object({
    environment: sandboxEnvironmentSchema,
    ended: z.int().openapi({ description: "Test shares that were active." }),
    more: z.literal(true).optional().openapi({ description: "There are more; call again. The clock is set back with the last of them." }),
  })
  .openapi("SandboxReset");
const resetToWire = ({ ended, hasMore }: ResetResult): z.input<typeof resetSchema> => ({
  environment: "sandbox",
  ended,
  ...(hasMore && { more: true as const }),
});

const clockExample = {
  environment: "sandbox",
  now: "2026-11-26T10:05:00.000Z",
  offset_seconds: 518_400,
  moved_at: "2026-11-20T10:05:00.000Z",
};
const sandboxShareExample = { ...shareExample, client_id: "pc_test_00f7m2k9x4c1v8b5n3q6t0w2h7", environment: "sandbox" };
const triggeredEventExample = {
  environment: "sandbox",
  share: sandboxShareExample,
  event: { ...eventExample, type: "share.created", share_id: shareExample.id, cert_id: null },
};

const createRoute = createRouteFactory("sandbox");

/** A live key moves nothing here: what it opens is no trial. */
const requireTestKey = defineGuard<ApiKeyEnv>({ when: { sandbox_only: "The key is a live one." } }, async (c, next) => {
  if (c.var.principal.environment === "sandbox") return next();
  return failure(c, "sandbox_only", "This works with a test key only.");
});

const requireWriteAccess = defineGuard<ApiKeyEnv>({ refuses: ["subscription_past_due"] }, async (c, next) => {
  const may = authorizeWrite(c.var.principal.business.status);
  return may.ok ? next() : refusal(c, may);
});

const limitClockChanges = limitByAccount("SANDBOX_CLOCK", "More than 20 a minute by one business, or 120 calls by one key.");

const getClockRoute = createRoute({
  method: "get",
  path: "/v1/sandbox/clock",
  operationId: "readSandboxClock",
  summary: "Read the clock of your sandbox",
  description: "What your sandbox takes for the time, and how far that is ahead.",
  middleware: apiKeyGuard(requireTestKey),
  responses: { 200: successResponse("The clock.", "SandboxClockAnswer", clockSchema, clockExample) },
});

const advanceClockRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/clock",
  operationId: "moveSandboxClock",
  summary: "Move the clock of your sandbox forward",
  description:
    "Forward only, at most 1,096 days ahead of the time in all. Warnings and ends of test shares that become due happen before the answer, a thousand at most. Codes, limits, signatures and retries keep the real time.",
  middleware: apiKeyGuard(limitClockChanges, requireTestKey, requireWriteAccess, jsonBody, idempotencyGuard),
  request: { body: requestBody(clockAdvanceSchema, { advance_seconds: 518_400 }) },
  responses: {
    200: successResponse("The clock as it is now.", "SandboxClockMoveAnswer", advancedClockSchema, { ...clockExample, swept: 1 }),
  },
});

const triggerEventRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/trigger",
  operationId: "triggerSandboxEvent",
  summary: "Make an event happen",
  description:
    "Does in your sandbox what makes such an event: the test person shares, renews, takes back or changes a field, you acknowledge, or the clock goes to the next mark of the share. The event is in the feed, and on its way to the endpoints of the sandbox, when this is answered.",
  middleware: apiKeyGuard(requireTestKey, requireWriteAccess, jsonBody, idempotencyGuard),
  request: { body: requestBody(triggerRequestSchema, { type: "share.created" }) },
  responses: {
    200: successResponse(
      "The share that the event is about, and the event.",
      "SandboxTriggerAnswer",
      triggeredEventSchema,
      triggeredEventExample,
    ),
  },
  refuses: ["share_inactive"],
  when: {
    client_not_found: "There is no test client to share with.",
    not_found: "There is no such share in your sandbox.",
    rate_limited: "More than 120 calls by one key; or there are 10,000 active test shares, which `POST /v1/sandbox/reset` ends.",
    cease_not_open: "Nobody has stopped the share, or it was acknowledged before.",
  },
});

const resetSandboxRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/reset",
  operationId: "resetSandbox",
  summary: "End every test share and set the clock back",
  description: "Active test shares are revoked, 2,000 a call, each with its event. Events, ended shares and endpoints stay.",
  middleware: apiKeyGuard(limitClockChanges, requireTestKey, requireWriteAccess, noBody, idempotencyGuard),
  responses: { 200: successResponse("What was ended.", "SandboxResetAnswer", resetSchema, { environment: "sandbox", ended: 3 }) },
  when: { invalid_request: "There is a body, and it is not JSON: none is needed. Or the idempotency key is not one." },
});

const testerFromPrincipal = (principal: Principal): SandboxActor => ({ ...principal, actor: actorFromApiKey(principal) });

export const sandboxRoutes = createApi();

sandboxRoutes.openapi(getClockRoute, async (c) => success(c, 200, clockToWire(await getClockReading(c.var.services, c.var.principal))));

sandboxRoutes.openapi(advanceClockRoute, async (c) => {
  const moved = await advanceSandboxClock(
    c.var.services,
    c.var.principal,
    clockAdvanceFromWire(c.req.valid("json")),
    c.var.work?.saveDraft,
  );
  return respond(c, 200, moved, advancedClockToWire);
});

sandboxRoutes.openapi(triggerEventRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const asked = triggerRequestFromWire(c.req.valid("json"));
  if (asked === null) return failure(c, "not_found");
  const triggered = await triggerEvent(services, testerFromPrincipal(principal), asked, requestId);
  return respond(c, 200, triggered, (event) => triggeredEventToWire(event, services.clock()));
});

sandboxRoutes.openapi(resetSandboxRoute, async (c) => {
  return respond(c, 200, await resetSandbox(c.var.services, testerFromPrincipal(c.var.principal), c.var.requestId), resetToWire);
});
