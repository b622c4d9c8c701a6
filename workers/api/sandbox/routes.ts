// Sandbox routes (docs/guides/sandbox.md). They require a test key and affect only the sandbox of the key's business.
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
import { optionalMember, successResponse, requestBody, timeSchema } from "../../http/wire.ts";
import { advanceSandboxClock } from "../../operations/sandbox/advance-sandbox-clock.ts";
import { getClockReading, type SandboxActor, type ClockReading } from "../../operations/sandbox/get-clock-reading.ts";
import type { SweepResult } from "../../operations/sandbox/sweep-sandbox.ts";
import { resetSandbox, type ResetResult } from "../../operations/sandbox/reset-sandbox.ts";
import { triggerEvent, triggerableEventTypes, type TriggeredEvent, type TriggerRequest } from "../../operations/sandbox/trigger-event.ts";
import { eventExample, eventSchema } from "../events/schema.ts";
import { fieldKeySchema, shareExample, shareSchema, shareToWire } from "../shares/schema.ts";

const sandboxEnvironmentSchema = z.literal("sandbox");
const exactlyOneIssue = { message: "is required unless you send `to`. Send only one of them", path: ["advance_seconds"] };

const clockAdvanceSchema = z
  .object({
    advance_seconds: optionalMember(z.int().min(1).max(94_694_400)).meta({
      description: "Seconds to advance, 1 to 94,694,400 (1,096 days). Send this or `to`.",
      example: 518_400,
    }),
    to: optionalMember(z.iso.datetime("must be an ISO 8601 time in UTC, such as 2027-11-19T10:05:00.000Z")).meta({
      description: "Time to advance to, ISO 8601 in UTC. Send this or `advance_seconds`.",
      example: "2027-11-19T10:05:00.000Z",
    }),
  })
  .refine(({ advance_seconds: seconds, to }) => (seconds === undefined) !== (to === undefined), exactlyOneIssue)
  .openapi("SandboxClockMove");

const clockAdvanceFromWire = ({ advance_seconds: advanceSeconds, to }: z.output<typeof clockAdvanceSchema>): ClockMove =>
  advanceSeconds === undefined ? { to: Date.parse(to as string) } : { advanceSeconds };

const clockFields = {
  environment: sandboxEnvironmentSchema,
  now: timeSchema.meta({ description: "Current time in your sandbox." }),
  offset_seconds: z.number().meta({ description: "Number of seconds that the sandbox clock is ahead of real time." }),
  moved_at: timeSchema
    .nullable()
    .meta({ description: "When you last advanced the clock, in real time. `null` if the clock shows the real time." }),
};
const clockSchema = z.object(clockFields).openapi("SandboxClock");
const advancedClockSchema = z
  .object({
    ...clockFields,
    swept: z.int().meta({ description: "Number of shares that expired or got an expiry warning because of this request." }),
    more: z
      .literal(true)
      .optional()
      .meta({ description: "`true` if more shares are due, otherwise absent. A job that runs every minute processes them." }),
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
    type: z.enum(triggerableEventTypes).meta({ description: "Event to trigger.", example: "share.revoked" }),
    share_id: z.string().max(64).nullish().meta({
      description:
        "ID of an active test share or, for `business.ceased`, of a revoked test share. Default: a new share is created. Must be omitted for `share.created`.",
    }),
    fields: z.partialRecord(fieldKeySchema, z.string().max(300).nullable()).nullish().meta({
      description:
        "For `consumer.updated.*`: new values for fields of that group in scope. `null` clears a field. Default: one generated value.",
    }),
  })
  .openapi("SandboxTrigger");

/** Returns null if the share ID is malformed. */
const triggerRequestFromWire = ({ type, share_id: id, fields }: z.output<typeof triggerRequestSchema>): TriggerRequest | null => {
  const shareId = id == null ? null : parseShareId(id);
  if (id != null && shareId === null) return null;
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
    ended: z.int().meta({ description: "Number of test shares that were revoked." }),
    more: z.literal(true).optional().meta({
      description:
        "`true` if some test shares are still active, otherwise absent. Repeat the request until it is absent. Only then is the clock reset.",
    }),
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

const requireTestKey = defineGuard<ApiKeyEnv>({ when: { sandbox_only: "The request uses a live key." } }, async (c, next) => {
  if (c.var.principal.environment === "sandbox") return next();
  return failure(c, "sandbox_only", "This operation requires a test key. Use a key that starts with sk_test_.");
});

const requireWriteAccess = defineGuard<ApiKeyEnv>({ refuses: ["subscription_past_due"] }, async (c, next) => {
  const authorized = authorizeWrite(c.var.principal.business.status);
  return authorized.ok ? next() : refusal(c, authorized);
});

const limitClockChanges = limitByAccount(
  "SANDBOX_CLOCK",
  "More than 20 clock changes and resets per minute by one business, or 120 requests per minute with one key.",
);

const getClockRoute = createRoute({
  method: "get",
  path: "/v1/sandbox/clock",
  operationId: "readSandboxClock",
  summary: "Read the sandbox clock",
  description: "Returns the time in your sandbox and how far it is ahead of the real time.",
  middleware: apiKeyGuard(requireTestKey),
  responses: { 200: successResponse("The sandbox clock.", "SandboxClockResponse", clockSchema, clockExample) },
});

const advanceClockRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/clock",
  operationId: "moveSandboxClock",
  summary: "Advance the sandbox clock",
  description:
    "Advances the clock, to at most 1,096 days ahead of the real time. Up to 1,000 test shares that are then due to expire or to get an expiry warning are processed before the response. Codes, rate limits, signatures and retries use the real time.",
  middleware: apiKeyGuard(limitClockChanges, requireTestKey, requireWriteAccess, jsonBody, idempotencyGuard),
  request: { body: requestBody(clockAdvanceSchema, { advance_seconds: 518_400 }) },
  responses: {
    200: successResponse("The updated clock.", "SandboxClockMoveResponse", advancedClockSchema, { ...clockExample, swept: 1 }),
  },
});

const triggerEventRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/trigger",
  operationId: "triggerSandboxEvent",
  summary: "Trigger an event",
  description:
    "Performs the action that causes the event in your sandbox. For example, the test person creates, renews or revokes a share or changes a field, you acknowledge a revocation, or the clock advances to the share's next expiry warning or expiration. When the request returns, the event is in the feed and queued for your sandbox endpoints.",
  middleware: apiKeyGuard(requireTestKey, requireWriteAccess, jsonBody, idempotencyGuard),
  request: { body: requestBody(triggerRequestSchema, { type: "share.created" }) },
  responses: {
    200: successResponse("The share and the event.", "SandboxTriggerResponse", triggeredEventSchema, triggeredEventExample),
  },
  refuses: ["share_inactive"],
  when: {
    client_not_found: "Your business has no test client. Create one first.",
    not_found: "The share does not exist in your sandbox.",
    rate_limited:
      "More than 120 requests per minute with one key. Also returned when the sandbox has 10,000 active shares (to revoke them, call `POST /v1/sandbox/reset`), or has reached 10,000 test records or 100 MB in 30 days.",
    cease_not_open: "The share is not revoked, or its revocation was already acknowledged.",
  },
});

const resetSandboxRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/reset",
  operationId: "resetSandbox",
  summary: "Reset the sandbox",
  description:
    "Revokes up to 2,000 active test shares per request and sends an event for each. When no active test shares are left, resets the clock. Events, inactive shares and endpoints are kept.",
  middleware: apiKeyGuard(limitClockChanges, requireTestKey, requireWriteAccess, noBody, idempotencyGuard),
  responses: {
    200: successResponse("The result of the reset.", "SandboxResetResponse", resetSchema, { environment: "sandbox", ended: 3 }),
  },
  when: { invalid_request: "The body is not valid JSON (no body is needed), or the idempotency key is malformed." },
});

const testerFromPrincipal = (principal: Principal): SandboxActor => ({ ...principal, actor: actorFromApiKey(principal) });

export const sandboxRoutes = createApi();

sandboxRoutes.openapi(getClockRoute, async (c) => success(c, 200, clockToWire(await getClockReading(c.var.services, c.var.principal))));

sandboxRoutes.openapi(advanceClockRoute, async (c) => {
  const { services, principal, claimedRequest } = c.var;
  const moved = await advanceSandboxClock(services, principal, clockAdvanceFromWire(c.req.valid("json")), claimedRequest);
  return respond(c, 200, moved, advancedClockToWire);
});

sandboxRoutes.openapi(triggerEventRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const request = triggerRequestFromWire(c.req.valid("json"));
  if (request === null) return failure(c, "not_found");
  const triggered = await triggerEvent(services, testerFromPrincipal(principal), request, requestId);
  return respond(c, 200, triggered, (event) => triggeredEventToWire(event, services.clock()));
});

sandboxRoutes.openapi(resetSandboxRoute, async (c) => {
  return respond(c, 200, await resetSandbox(c.var.services, testerFromPrincipal(c.var.principal), c.var.requestId), resetToWire);
});
