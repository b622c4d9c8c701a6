// The routes of test mode (docs/sandbox.md): by a test key, and about the sandbox of its business alone.
import { mayWrite } from "../../../core/access/entitlement.ts";
import { keyActor, type Principal } from "../../../core/access/principal.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { KeyCaller } from "../../http/context.ts";
import { answer, failure, refusal, success } from "../../http/envelope.ts";
import { guard } from "../../http/guard.ts";
import { behindApiKey, limitExactly } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { advanceClock, readClock, type ActingTester } from "../../operations/sandbox/clock.ts";
import { resetSandbox } from "../../operations/sandbox/reset.ts";
import { triggerEvent } from "../../operations/sandbox/trigger.ts";
import {
  clockExample,
  clockSchema,
  clockToWire,
  movedSchema,
  movedToWire,
  moveFromWire,
  moveSchema,
  resetSchema,
  resetToWire,
  triggeredExample,
  triggeredSchema,
  triggeredToWire,
  triggerFromWire,
  triggerSchema,
} from "./schema.ts";

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

const clockCounted = limitExactly<KeyCaller>(
  "SANDBOX_CLOCK",
  ({ principal }) => principal.business.id,
  "More than 20 a minute by one business, or 120 calls by one key.",
);

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
