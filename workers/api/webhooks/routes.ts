// The routes of webhook management (CONTRACT 9): a person's session, an owner's where something is changed or shown once.
import { z } from "@hono/zod-openapi";
import { jsonBody, noBody } from "../../http/body.ts";
import type { MemberEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { defineGuard } from "../../http/guards/define-guard.ts";
import { countExactly } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, deletedSchema, deletedToWire } from "../../http/wire.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { recoverEndpoint } from "../../operations/webhooks/recover-endpoint.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { testEndpoint } from "../../operations/webhooks/test-endpoint.ts";
import { deleteWebhook } from "../../operations/webhooks/delete-webhook.ts";
import { listWebhooks } from "../../operations/webhooks/list-webhooks.ts";
import { updateWebhook } from "../../operations/webhooks/update-webhook.ts";
import { createWebhook } from "../../operations/webhooks/create-webhook.ts";
import { revealWebhookSecret } from "../../operations/webhooks/reveal-webhook-secret.ts";
import { rotateWebhookSecret } from "../../operations/webhooks/rotate-webhook-secret.ts";
import * as wire from "./schema.ts";

const createRoute = createRouteFactory("webhooks");

/** The limit that tests and replays share (SPEC, Limits). */
const limitWebhookCalls = defineGuard<MemberEnv>(
  { when: { rate_limited: "More than 60 tests and replays in ten minutes, or 120 requests a minute, by one person." } },
  async (c, next) => (await countExactly(c, "WEBHOOK_CALLS", c.var.member.userId)) ?? next(),
);

const webhookNotFoundRefusal = { not_found: "There is no such endpoint, or it is not yours." } as const;
const invalidBodyOrKeyRefusal = {
  invalid_request: "There is a body, and it is not JSON: none is needed. Or the idempotency key is not one.",
} as const;
const invalidUrlRefusal = { invalid_webhook_url: "The address breaks a rule, or its host is not public." } as const;

const createWebhookRoute = createRoute({
  method: "post",
  path: "/v1/webhooks",
  operationId: "createWebhook",
  summary: "Register an endpoint",
  description:
    "Owners only. The endpoint receives what happens from now on; what was before is in the event feed. At most 20 a business, and 20 for its sandbox. Unknown members of the body are refused here, so that a misspelt choice of events is not taken for all of them.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(wire.createWebhookSchema, wire.webhookRequestExample) },
  responses: {
    201: successResponse(
      "The endpoint is registered. Keep the secret.",
      "CreatedWebhookAnswer",
      wire.createdWebhookSchema,
      wire.createdWebhookExample,
    ),
  },
  refuses: ["webhook_limit"],
  when: invalidUrlRefusal,
});

const listWebhooksRoute = createRoute({
  method: "get",
  path: "/v1/webhooks",
  operationId: "listWebhooks",
  summary: "List your endpoints",
  description: "Live ones, then those of the sandbox; each oldest first, with how it is doing.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The endpoints.", "WebhooksAnswer", z.object({ webhooks: z.array(wire.webhookSchema) }), {
      webhooks: [wire.webhookExample],
    }),
  },
});

const updateWebhookRoute = createRoute({
  method: "patch",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "changeWebhook",
  summary: "Change an endpoint",
  description: "Owners only. What is left out stays as it is.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { params: wire.webhookIdParamSchema, body: requestBody(wire.updateWebhookSchema, { status: "disabled" }) },
  responses: {
    200: successResponse("The endpoint as it is now.", "WebhookAnswer", wire.webhookSchema, { ...wire.webhookExample, status: "disabled" }),
  },
  when: { ...webhookNotFoundRefusal, ...invalidUrlRefusal },
});

const revealSecretRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/{webhook_id}/secret",
  operationId: "revealWebhookSecret",
  summary: "Show the signing secret",
  description: "Owners only. Each reading is entered in your audit chain.",
  middleware: portalGuard(requireOwner),
  request: { params: wire.webhookIdParamSchema },
  responses: { 200: successResponse("The secret in force.", "WebhookSecretAnswer", wire.webhookSecretSchema, wire.webhookSecretExample) },
  when: webhookNotFoundRefusal,
});

const rotateSecretRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/rotate-secret",
  operationId: "rotateWebhookSecret",
  summary: "Change the signing secret",
  description:
    "Owners only. Deliveries carry two signatures for 24 hours, by the new secret and by the one before; rotating again within that time ends the one before.",
  middleware: portalGuard(requireOwner, noBody, idempotencyGuard),
  request: { params: wire.webhookIdParamSchema },
  responses: { 200: successResponse("The new secret.", "RotatedSecretAnswer", wire.rotatedSecretSchema, wire.rotatedSecretExample) },
  when: { ...webhookNotFoundRefusal, ...invalidBodyOrKeyRefusal },
});

const testWebhookRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/test",
  operationId: "testWebhook",
  summary: "Send a test",
  description: "Posts a signed `test.ping` now. It is in no feed and in no list.",
  middleware: portalGuard(limitWebhookCalls, noBody, idempotencyGuard),
  request: { params: wire.webhookIdParamSchema },
  responses: { 200: successResponse("What came of it.", "WebhookTestAnswer", wire.webhookCallSchema, wire.webhookCallExample) },
  when: { ...webhookNotFoundRefusal, ...invalidBodyOrKeyRefusal },
});

const listDeliveriesRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/{webhook_id}/deliveries",
  operationId: "listDeliveries",
  summary: "List recent deliveries",
  description:
    "Newest first. Those that succeeded are kept 30 days, abandoned ones 90. What a receiver answers besides its status is never kept.",
  middleware: portalGuard(),
  request: { params: wire.webhookIdParamSchema, query: wire.deliveryListQuerySchema },
  responses: {
    200: successResponse("One page of deliveries.", "DeliveriesAnswer", wire.deliveryListSchema, {
      deliveries: [wire.deliveryExample],
      has_more: false,
    }),
  },
  when: webhookNotFoundRefusal,
});

const replayDeliveryRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{delivery_id}/replay",
  operationId: "replayDelivery",
  summary: "Send a past event again",
  description: "Posts the event to the same endpoint with a fresh signature. Delivered, it ends the delivery; failed, it changes nothing.",
  middleware: portalGuard(limitWebhookCalls, noBody, idempotencyGuard),
  request: { params: wire.deliveryIdParamSchema },
  responses: {
    200: successResponse("What came of it, and the delivery as it is now.", "ReplayAnswer", wire.deliveryReplaySchema, {
      ...wire.webhookCallExample,
      delivery: wire.deliveryExample,
    }),
  },
  when: {
    ...invalidBodyOrKeyRefusal,
    not_found: "There is no such delivery, or it is not yours.",
    share_inactive: "The event is an update of a share that is no longer active: its data may not be sent any more.",
  },
});

const recoverWebhookRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/recover",
  operationId: "recoverWebhook",
  summary: "Send everything again that failed",
  description:
    "Sends the deliveries that failed since a moment again, given up or still retried, in the order of their events and at most ten a second. It counts as no attempt: what fails again stays where it was. Calling it again does not send twice what is on its way already. One call of the limit that tests and replays share.",
  middleware: portalGuard(limitWebhookCalls, jsonBody, idempotencyGuard),
  request: { params: wire.webhookIdParamSchema, body: requestBody(wire.recoverWebhookSchema, { since: "2026-03-05T09:12:00.000Z" }) },
  responses: {
    200: successResponse("What goes out again.", "WebhookRecoveryAnswer", wire.webhookRecoverySchema, wire.webhookRecoveryExample),
  },
  when: webhookNotFoundRefusal,
});

const deleteWebhookRoute = createRoute({
  method: "delete",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "deleteWebhook",
  summary: "Remove an endpoint",
  description: "Owners only. Nothing more is sent to it, and its deliveries go with it; the events stay in the feed.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: wire.webhookIdParamSchema },
  responses: {
    200: successResponse("The endpoint is removed.", "DeletedWebhookAnswer", deletedSchema, deletedToWire(wire.exampleWebhookId)),
  },
  when: webhookNotFoundRefusal,
});

export const webhookRoutes = createApi();

webhookRoutes.openapi(listWebhooksRoute, async (c) => {
  const endpoints = await listWebhooks(c.var.services, c.var.member);
  return success(c, 200, { webhooks: endpoints.map(wire.webhookToWire) });
});

webhookRoutes.openapi(createWebhookRoute, async (c) => {
  const { url, events = null, description = null, environment = "live" } = c.req.valid("json");
  const request = { url, events, description, environment, idempotencyKey: getIdempotencyKey(c) };
  const created = await createWebhook(c.var.services, c.var.member, request);
  if (created.ok && created.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, created, ({ endpoint }) => wire.createdWebhookToWire(endpoint));
});

webhookRoutes.openapi(updateWebhookRoute, async (c) => {
  const changed = await updateWebhook(c.var.services, c.var.member, c.req.valid("param").webhook_id, c.req.valid("json"));
  return respond(c, 200, changed, wire.webhookToWire);
});

webhookRoutes.openapi(revealSecretRoute, async (c) => {
  const shown = await revealWebhookSecret(c.var.services, c.var.member, c.req.valid("param").webhook_id);
  return respond(c, 200, shown, (secret) => secret);
});

webhookRoutes.openapi(rotateSecretRoute, async (c) => {
  const { services, member, work } = c.var;
  const rotated = await rotateWebhookSecret(
    services,
    member,
    c.req.valid("param").webhook_id,
    work?.saveDraft ?? (async (sealed) => sealed),
  );
  return respond(c, 200, rotated, wire.rotatedSecretToWire);
});

webhookRoutes.openapi(testWebhookRoute, async (c) => {
  const tested = await testEndpoint(c.var.services, c.var.member.business.id, c.req.valid("param").webhook_id);
  return respond(c, 200, tested, wire.webhookCallToWire);
});

webhookRoutes.openapi(listDeliveriesRoute, async (c) => {
  const { services, member } = c.var;
  const page = await listDeliveries(services, member.business.id, c.req.valid("param").webhook_id, c.req.valid("query"));
  return respond(c, 200, page, wire.deliveryListToWire);
});

webhookRoutes.openapi(replayDeliveryRoute, async (c) => {
  const replayed = await replayDelivery(c.var.services, c.var.member.business.id, c.req.valid("param").delivery_id);
  return respond(c, 200, replayed, wire.deliveryReplayToWire);
});

webhookRoutes.openapi(recoverWebhookRoute, async (c) => {
  const { services, member } = c.var;
  const since = Date.parse(c.req.valid("json").since);
  return respond(
    c,
    200,
    await recoverEndpoint(services, member.business.id, c.req.valid("param").webhook_id, since),
    wire.webhookRecoveryToWire,
  );
});

webhookRoutes.openapi(deleteWebhookRoute, async (c) => {
  const removed = await deleteWebhook(c.var.services, c.var.member, c.req.valid("param").webhook_id);
  return respond(c, 200, removed, deletedToWire);
});
