// The routes of webhook management (CONTRACT 9): a person's session, an owner's where something is changed or shown once.
import { z } from "@hono/zod-openapi";
import { jsonBody, noBody } from "../../http/body.ts";
import type { MemberCaller } from "../../http/context.ts";
import { answer, success } from "../../http/envelope.ts";
import { guard } from "../../http/guard.ts";
import { countedExactly } from "../../http/guards.ts";
import { idempotent, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, deletedSchema, deletedToWire } from "../../http/wire.ts";
import { listDeliveries, recoverEndpoint, replayDelivery, testEndpoint } from "../../operations/webhooks/deliveries.ts";
import { changeWebhook, deleteWebhook, listWebhooks } from "../../operations/webhooks/endpoints.ts";
import { createWebhook } from "../../operations/webhooks/registration.ts";
import { revealSecret, rotateSecret } from "../../operations/webhooks/secrets.ts";
import * as wire from "./schema.ts";

const createRoute = routesOf("webhooks");

/** The limit that tests and replays share (SPEC, Limits). */
const callCounted = guard<MemberCaller>(
  { when: { rate_limited: "More than 60 tests and replays in ten minutes, or 120 requests a minute, by one person." } },
  async (c, next) => (await countedExactly(c, "WEBHOOK_CALLS", c.var.member.userId)) ?? next(),
);

const noSuch = { not_found: "There is no such endpoint, or it is not yours." } as const;
const noBodyOrBadKey = {
  invalid_request: "There is a body, and it is not JSON: none is needed. Or the idempotency key is not one.",
} as const;
const badAddress = { invalid_webhook_url: "The address breaks a rule, or its host is not public." } as const;

const createdRoute = createRoute({
  method: "post",
  path: "/v1/webhooks",
  operationId: "createWebhook",
  summary: "Register an endpoint",
  description:
    "Owners only. The endpoint receives what happens from now on; what was before is in the event feed. At most 20 a business, and 20 for its sandbox. Unknown members of the body are refused here, so that a misspelt choice of events is not taken for all of them.",
  middleware: behindPortal(ownerOnly, jsonBody, takesKey),
  request: { body: bodyOf(wire.createSchema, wire.requestExample) },
  responses: {
    201: answerOf("The endpoint is registered. Keep the secret.", "CreatedWebhookAnswer", wire.registeredSchema, wire.registeredExample),
  },
  refuses: ["webhook_limit"],
  when: badAddress,
});

const listedRoute = createRoute({
  method: "get",
  path: "/v1/webhooks",
  operationId: "listWebhooks",
  summary: "List your endpoints",
  description: "Live ones, then those of the sandbox; each oldest first, with how it is doing.",
  middleware: behindPortal(),
  responses: {
    200: answerOf("The endpoints.", "WebhooksAnswer", z.object({ webhooks: z.array(wire.webhookSchema) }), {
      webhooks: [wire.webhookExample],
    }),
  },
});

const changedRoute = createRoute({
  method: "patch",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "changeWebhook",
  summary: "Change an endpoint",
  description: "Owners only. What is left out stays as it is.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { params: wire.webhookParam, body: bodyOf(wire.changeSchema, { status: "disabled" }) },
  responses: {
    200: answerOf("The endpoint as it is now.", "WebhookAnswer", wire.webhookSchema, { ...wire.webhookExample, status: "disabled" }),
  },
  when: { ...noSuch, ...badAddress },
});

const secretRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/{webhook_id}/secret",
  operationId: "revealWebhookSecret",
  summary: "Show the signing secret",
  description: "Owners only. Each reading is entered in your audit chain.",
  middleware: behindPortal(ownerOnly),
  request: { params: wire.webhookParam },
  responses: { 200: answerOf("The secret in force.", "WebhookSecretAnswer", wire.secretSchema, wire.secretExample) },
  when: noSuch,
});

const rotatedRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/rotate-secret",
  operationId: "rotateWebhookSecret",
  summary: "Change the signing secret",
  description:
    "Owners only. Deliveries carry two signatures for 24 hours, by the new secret and by the one before; rotating again within that time ends the one before.",
  middleware: behindPortal(ownerOnly, noBody, idempotent),
  request: { params: wire.webhookParam },
  responses: { 200: answerOf("The new secret.", "RotatedSecretAnswer", wire.rotatedSchema, wire.rotatedExample) },
  when: { ...noSuch, ...noBodyOrBadKey },
});

const testedRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/test",
  operationId: "testWebhook",
  summary: "Send a test",
  description: "Posts a signed `test.ping` now. It is in no feed and in no list.",
  middleware: behindPortal(callCounted, noBody, idempotent),
  request: { params: wire.webhookParam },
  responses: { 200: answerOf("What came of it.", "WebhookTestAnswer", wire.callSchema, wire.callExample) },
  when: { ...noSuch, ...noBodyOrBadKey },
});

const deliveriesRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/{webhook_id}/deliveries",
  operationId: "listDeliveries",
  summary: "List recent deliveries",
  description:
    "Newest first. Those that succeeded are kept 30 days, abandoned ones 90. What a receiver answers besides its status is never kept.",
  middleware: behindPortal(),
  request: { params: wire.webhookParam, query: wire.deliveriesQuery },
  responses: {
    200: answerOf("One page of deliveries.", "DeliveriesAnswer", wire.deliveriesSchema, {
      deliveries: [wire.deliveryExample],
      has_more: false,
    }),
  },
  when: noSuch,
});

const replayedRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{delivery_id}/replay",
  operationId: "replayDelivery",
  summary: "Send a past event again",
  description: "Posts the event to the same endpoint with a fresh signature. Delivered, it ends the delivery; failed, it changes nothing.",
  middleware: behindPortal(callCounted, noBody, idempotent),
  request: { params: wire.deliveryParam },
  responses: {
    200: answerOf("What came of it, and the delivery as it is now.", "ReplayAnswer", wire.replaySchema, {
      ...wire.callExample,
      delivery: wire.deliveryExample,
    }),
  },
  when: {
    ...noBodyOrBadKey,
    not_found: "There is no such delivery, or it is not yours.",
    share_inactive: "The event is an update of a share that is no longer active: its data may not be sent any more.",
  },
});

const recoveredRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/recover",
  operationId: "recoverWebhook",
  summary: "Send everything again that failed",
  description:
    "Sends the deliveries that failed since a moment again, given up or still retried, in the order of their events and at most ten a second. It counts as no attempt: what fails again stays where it was. Calling it again does not send twice what is on its way already. One call of the limit that tests and replays share.",
  middleware: behindPortal(callCounted, jsonBody, idempotent),
  request: { params: wire.webhookParam, body: bodyOf(wire.recoverSchema, { since: "2026-03-05T09:12:00.000Z" }) },
  responses: { 200: answerOf("What goes out again.", "WebhookRecoveryAnswer", wire.recoverySchema, wire.recoveryExample) },
  when: noSuch,
});

const deletedRoute = createRoute({
  method: "delete",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "deleteWebhook",
  summary: "Remove an endpoint",
  description: "Owners only. Nothing more is sent to it, and its deliveries go with it; the events stay in the feed.",
  middleware: behindPortal(ownerOnly, noBody),
  request: { params: wire.webhookParam },
  responses: {
    200: answerOf("The endpoint is removed.", "DeletedWebhookAnswer", deletedSchema, deletedToWire(wire.exampleId)),
  },
  when: noSuch,
});

export const webhooks = newApi();

webhooks.openapi(listedRoute, async (c) => {
  const endpoints = await listWebhooks(c.var.services, c.var.member);
  return success(c, 200, { webhooks: endpoints.map(wire.webhookToWire) });
});

webhooks.openapi(createdRoute, async (c) => {
  const { url, events = null, description = null, environment = "live" } = c.req.valid("json");
  const request = { url, events, description, environment, idempotencyKey: sentKey(c) };
  const created = await createWebhook(c.var.services, c.var.member, request);
  if (created.ok && created.value.replayed) c.header("Idempotency-Replayed", "true");
  return answer(c, 201, created, ({ endpoint }) => wire.registeredToWire(endpoint));
});

webhooks.openapi(changedRoute, async (c) => {
  const changed = await changeWebhook(c.var.services, c.var.member, c.req.valid("param").webhook_id, c.req.valid("json"));
  return answer(c, 200, changed, wire.webhookToWire);
});

webhooks.openapi(secretRoute, async (c) => {
  const shown = await revealSecret(c.var.services, c.var.member, c.req.valid("param").webhook_id);
  return answer(c, 200, shown, (secret) => secret);
});

webhooks.openapi(rotatedRoute, async (c) => {
  const { services, member, work } = c.var;
  const rotated = await rotateSecret(services, member, c.req.valid("param").webhook_id, work?.draft ?? (async (sealed) => sealed));
  return answer(c, 200, rotated, wire.rotatedToWire);
});

webhooks.openapi(testedRoute, async (c) => {
  const tested = await testEndpoint(c.var.services, c.var.member.business.id, c.req.valid("param").webhook_id);
  return answer(c, 200, tested, wire.callToWire);
});

webhooks.openapi(deliveriesRoute, async (c) => {
  const { services, member } = c.var;
  const page = await listDeliveries(services, member.business.id, c.req.valid("param").webhook_id, c.req.valid("query"));
  return answer(c, 200, page, wire.deliveriesToWire);
});

webhooks.openapi(replayedRoute, async (c) => {
  const replayed = await replayDelivery(c.var.services, c.var.member.business.id, c.req.valid("param").delivery_id);
  return answer(c, 200, replayed, wire.replayToWire);
});

webhooks.openapi(recoveredRoute, async (c) => {
  const { services, member } = c.var;
  const since = Date.parse(c.req.valid("json").since);
  return answer(c, 200, await recoverEndpoint(services, member.business.id, c.req.valid("param").webhook_id, since), wire.recoveryToWire);
});

webhooks.openapi(deletedRoute, async (c) => {
  const removed = await deleteWebhook(c.var.services, c.var.member, c.req.valid("param").webhook_id);
  return answer(c, 200, removed, deletedToWire);
});
