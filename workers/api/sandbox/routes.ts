// The routes of test mode (docs/sandbox.md): by a test key, and about the sandbox of its business alone.
import { z } from "@hono/zod-openapi";
import { mayWrite } from "../../../core/access/entitlement.ts";
import { keyActor, type Principal } from "../../../core/access/principal.ts";
import { eventBody } from "../../../core/events/event.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull, secondMs, type Instant } from "../../../core/time.ts";
import type { ClockMove } from "../../../core/sandbox/clock.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { KeyCaller } from "../../http/context.ts";
import { answer, failure, refusal, success } from "../../http/envelope.ts";
import { guard } from "../../http/guard.ts";
import { behindApiKey, limitByAccount } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { answerOf, bodyOf, time } from "../../http/wire.ts";
import { advanceClock, readClock, type ActingTester, type ClockReading, type Swept } from "../../operations/sandbox/clock.ts";
import { resetSandbox, type ResetOutcome } from "../../operations/sandbox/reset.ts";
import { triggerEvent, triggeredTypes, type Triggered, type TriggerRequest } from "../../operations/sandbox/trigger.ts";
import { eventExample, eventSchema } from "../events/schema.ts";
import { shareExample } from "../shares/examples.ts";
import { fieldKey, shareSchema, shareToWire } from "../shares/schema.ts";

const environment = z.literal("sandbox");
const oneOfTwo = { message: "either this or to must be sent, and not both", path: ["advance_seconds"] };

const moveSchema = z
  .object({
    advance_seconds: z.int().min(1).max(94_694_400).optional().openapi({ description: "Forward by so many seconds.", example: 518_400 }),
    to: z.iso
      .datetime("must be a moment in UTC, such as 2027-11-19T10:05:00.000Z")
      .optional()
      .openapi({ description: "Forward to this moment, UTC.", example: "2027-11-19T10:05:00.000Z" }),
  })
  .refine(({ advance_seconds: seconds, to }) => (seconds === undefined) !== (to === undefined), oneOfTwo)
  .openapi("SandboxClockMove");

const moveFromWire = ({ advance_seconds: advanceSeconds, to }: z.output<typeof moveSchema>): ClockMove =>
  advanceSeconds === undefined ? { to: Date.parse(to as string) } : { advanceSeconds };

const clockFields = {
  environment,
  now: time.openapi({ description: "What your sandbox takes for the time." }),
  offset_seconds: z.number().openapi({ description: "How far that is ahead." }),
  moved_at: time.nullable().openapi({ description: "When it was last moved; null while it goes with the time." }),
};
const clockSchema = z.object(clockFields).openapi("SandboxClock");
const movedSchema = z
  .object({
    ...clockFields,
    swept: z.int().openapi({ description: "Shares that were warned of or expired by this." }),
    more: z.literal(true).optional().openapi({ description: "More is due than one call works through: the next one goes on." }),
  })
  .openapi("MovedSandboxClock");

const clockToWire = ({ now, offsetMs, movedAt }: ClockReading): z.input<typeof clockSchema> => ({
  environment: "sandbox",
  now: isoOf(now),
  offset_seconds: offsetMs / secondMs,
  moved_at: isoOrNull(movedAt),
});
const movedToWire = (moved: ClockReading & Swept): z.input<typeof movedSchema> => ({
  ...clockToWire(moved),
  swept: moved.swept,
  ...(moved.hasMore && { more: true as const }),
});

const triggerSchema = z
  .object({
    type: z.enum(triggeredTypes).openapi({ description: "What is to happen.", example: "share.revoked" }),
    share_id: z.string().max(64).nullish().openapi({
      description: "An active test share of yours (for `business.ceased` one that was revoked). Left out: a fresh one is made.",
    }),
    fields: z
      .partialRecord(fieldKey, z.string().max(300).nullable())
      .nullish()
      .openapi({ description: "For `consumer.updated.*`: new values of the group, null to clear. Left out: another value is made up." }),
  })
  .openapi("SandboxTrigger");

/** Null for a share id that is not spelt as one: there is nothing under it. */
const triggerFromWire = ({ type, share_id: share, fields }: z.output<typeof triggerSchema>): TriggerRequest | null => {
  const shareId = share == null ? null : shareIdOf(share);
  if (share != null && shareId === null) return null;
  return { type, shareId, fields: fields == null ? null : new Map(Object.entries(fields) as [ContactKey, string | null][]) };
};

const triggeredSchema = z.object({ environment, share: shareSchema, event: eventSchema }).openapi("TriggeredEvent");
const triggeredToWire = ({ share, event: { data, ...event } }: Triggered, now: Instant): z.input<typeof triggeredSchema> => ({
  environment: "sandbox",
  share: shareToWire(share, now),
  event: eventBody(event, data),
});

const resetSchema = z
  .object({
    environment,
    ended: z.int().openapi({ description: "Test shares that were active." }),
    more: z.literal(true).optional().openapi({ description: "There are more; call again. The clock is set back with the last of them." }),
  })
  .openapi("SandboxReset");
const resetToWire = ({ ended, hasMore }: ResetOutcome): z.input<typeof resetSchema> => ({
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
const sharedExample = { ...shareExample, client_id: "pc_test_00f7m2k9x4c1v8b5n3q6t0w2h7", environment: "sandbox" };
const triggeredExample = {
  environment: "sandbox",
  share: sharedExample,
  event: { ...eventExample, type: "share.created", share_id: shareExample.id, cert_id: null },
};

const createRoute = routesOf("sandbox");

/** A live key moves nothing here: what it opens is no trial. */
const testKeyOnly = guard<KeyCaller>({ when: { sandbox_only: "The key is a live one." } }, async (c, next) => {
  if (c.var.principal.environment === "sandbox") return next();
  return failure(c, "sandbox_only", "This works with a test key only.");
});

const writable = guard<KeyCaller>({ refuses: ["subscription_past_due"] }, async (c, next) => {
  const may = mayWrite(c.var.principal.business.status);
  return may.ok ? next() : refusal(c, may);
});

const clockCounted = limitByAccount("SANDBOX_CLOCK", "More than 20 a minute by one business, or 120 calls by one key.");

const clockRoute = createRoute({
  method: "get",
  path: "/v1/sandbox/clock",
  operationId: "readSandboxClock",
  summary: "Read the clock of your sandbox",
  description: "What your sandbox takes for the time, and how far that is ahead.",
  middleware: behindApiKey(testKeyOnly),
  responses: { 200: answerOf("The clock.", "SandboxClockAnswer", clockSchema, clockExample) },
});

const moveRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/clock",
  operationId: "moveSandboxClock",
  summary: "Move the clock of your sandbox forward",
  description:
    "Forward only, at most 1,096 days ahead of the time in all. Warnings and ends of test shares that become due happen before the answer, a thousand at most. Codes, limits, signatures and retries keep the real time.",
  middleware: behindApiKey(clockCounted, testKeyOnly, writable, jsonBody, idempotent),
  request: { body: bodyOf(moveSchema, { advance_seconds: 518_400 }) },
  responses: { 200: answerOf("The clock as it is now.", "SandboxClockMoveAnswer", movedSchema, { ...clockExample, swept: 1 }) },
});

const triggerRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/trigger",
  operationId: "triggerSandboxEvent",
  summary: "Make an event happen",
  description:
    "Does in your sandbox what makes such an event: the test person shares, renews, takes back or changes a field, you acknowledge, or the clock goes to the next mark of the share. The event is in the feed, and on its way to the endpoints of the sandbox, when this is answered.",
  middleware: behindApiKey(testKeyOnly, writable, jsonBody, idempotent),
  request: { body: bodyOf(triggerSchema, { type: "share.created" }) },
  responses: {
    200: answerOf("The share that the event is about, and the event.", "SandboxTriggerAnswer", triggeredSchema, triggeredExample),
  },
  refuses: ["share_inactive"],
  when: {
    client_not_found: "There is no test client to share with.",
    not_found: "There is no such share in your sandbox.",
    rate_limited: "More than 120 calls by one key; or there are 10,000 active test shares, which `POST /v1/sandbox/reset` ends.",
    cease_not_open: "Nobody has stopped the share, or it was acknowledged before.",
  },
});

const resetRoute = createRoute({
  method: "post",
  path: "/v1/sandbox/reset",
  operationId: "resetSandbox",
  summary: "End every test share and set the clock back",
  description: "Active test shares are revoked, 2,000 a call, each with its event. Events, ended shares and endpoints stay.",
  middleware: behindApiKey(clockCounted, testKeyOnly, writable, noBody, idempotent),
  responses: { 200: answerOf("What was ended.", "SandboxResetAnswer", resetSchema, { environment: "sandbox", ended: 3 }) },
  when: { invalid_request: "There is a body, and it is not JSON: none is needed. Or the idempotency key is not one." },
});

const testerOf = (principal: Principal): ActingTester => ({ ...principal, actor: keyActor(principal) });

export const sandbox = newApi();

sandbox.openapi(clockRoute, async (c) => success(c, 200, clockToWire(await readClock(c.var.services, c.var.principal))));

sandbox.openapi(moveRoute, async (c) => {
  const moved = await advanceClock(c.var.services, c.var.principal, moveFromWire(c.req.valid("json")), c.var.work?.draft);
  return answer(c, 200, moved, movedToWire);
});

sandbox.openapi(triggerRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const asked = triggerFromWire(c.req.valid("json"));
  if (asked === null) return failure(c, "not_found");
  const triggered = await triggerEvent(services, testerOf(principal), asked, requestId);
  return answer(c, 200, triggered, (event) => triggeredToWire(event, services.clock()));
});

sandbox.openapi(resetRoute, async (c) => {
  return answer(c, 200, await resetSandbox(c.var.services, testerOf(c.var.principal), c.var.requestId), resetToWire);
});
