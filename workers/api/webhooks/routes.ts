// Routes for managing webhook endpoints (SPEC Webhook delivery). They require a member session. Changes and secrets require an owner.
import { z } from "@hono/zod-openapi";
import { jsonBody, noBody } from "../../http/body.ts";
import type { MemberEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { defineGuard } from "../../http/guards/define-guard.ts";
import { enforceLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, getIdempotencyKey, idempotencyKeyGuard, respondIdempotent } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, portalReadGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, deletedSchema, deletedToWire, toWire } from "../../http/wire.ts";
import { getDelivery } from "../../operations/webhooks/get-delivery.ts";
import { revealDelivery } from "../../operations/webhooks/reveal-delivery.ts";
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

/** Tests, replays and recoveries share one limit (SPEC Limits). */
const limitWebhookCalls = defineGuard<MemberEnv>(
  { when: { rate_limited: "More than 60 tests, replays and recoveries in 10 minutes, or 120 requests per minute, by one person." } },
  async (c, next) => (await enforceLimit(c, "WEBHOOK_CALLS", c.var.member.userId)) ?? next(),
);

const webhookNotFoundRefusal = { not_found: "The endpoint does not exist or is not yours." } as const;
const invalidBodyOrKeyRefusal = {
  invalid_request: "The body is not valid JSON (no body is needed), or the idempotency key is malformed.",
} as const;
const invalidUrlRefusal = { invalid_webhook_url: "`url` is invalid, or its host is not public." } as const;

const createWebhookRoute = createRoute({
  method: "post",
  path: "/v1/webhooks",
  operationId: "createWebhook",
  summary: "Add an endpoint",
  description:
    "Owners only. The endpoint receives events from now on; earlier events are in the event feed. A business can have up to 20 live endpoints and 20 sandbox endpoints, each with a different URL. Unknown keys in the body are refused, because a misspelled `events` would select all default event types.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(wire.createWebhookSchema, wire.webhookRequestExample) },
  responses: {
    201: successResponse(
      "The endpoint was added. Store the secret.",
      "CreatedWebhookResponse",
      wire.createdWebhookSchema,
      wire.createdWebhookExample,
    ),
  },
  refuses: ["webhook_limit", "webhook_exists"],
  when: invalidUrlRefusal,
});

const listWebhooksRoute = createRoute({
  method: "get",
  path: "/v1/webhooks",
  operationId: "listWebhooks",
  summary: "List your endpoints",
  description: "Returns all live endpoints and then all sandbox endpoints, oldest first. Each has statistics about recent deliveries.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("Your endpoints.", "WebhooksResponse", z.object({ webhooks: z.array(wire.webhookSchema) }), {
      webhooks: [wire.webhookExample],
    }),
  },
});

const updateWebhookRoute = createRoute({
  method: "patch",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "changeWebhook",
  summary: "Update an endpoint",
  description: "Owners only. Fields that you omit stay the same.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { params: wire.webhookIdParamSchema, body: requestBody(wire.updateWebhookSchema, { status: "disabled" }) },
  responses: {
    200: successResponse("The updated endpoint.", "WebhookResponse", wire.webhookSchema, { ...wire.webhookExample, status: "disabled" }),
  },
  refuses: ["webhook_exists"],
  when: { ...webhookNotFoundRefusal, ...invalidUrlRefusal },
});

const revealSecretRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/{webhook_id}/secret",
  operationId: "revealWebhookSecret",
  summary: "Read the signing secret",
  description: "Owners only. Returns the current signing secret. Each read is recorded in your audit trail.",
  middleware: portalGuard(requireOwner),
  request: { params: wire.webhookIdParamSchema },
  responses: { 200: successResponse("The current secret.", "WebhookSecretResponse", wire.webhookSecretSchema, wire.webhookSecretExample) },
  when: webhookNotFoundRefusal,
});

const rotateSecretRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/rotate-secret",
  operationId: "rotateWebhookSecret",
  summary: "Rotate the signing secret",
  description:
    "Owners only. For 24 hours, deliveries are signed with both the new and the previous secret. If you rotate again within that time, the oldest secret stops working immediately.",
  middleware: portalGuard(requireOwner, noBody, idempotencyGuard),
  request: { params: wire.webhookIdParamSchema },
  responses: { 200: successResponse("The new secret.", "RotatedSecretResponse", wire.rotatedSecretSchema, wire.rotatedSecretExample) },
  when: { ...webhookNotFoundRefusal, ...invalidBodyOrKeyRefusal },
});

const testWebhookRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/test",
  operationId: "testWebhook",
  summary: "Send a test event",
  description: "Sends a signed `test.ping` event now. It does not appear in the event feed or the list of deliveries.",
  middleware: portalGuard(limitWebhookCalls, noBody, idempotencyGuard),
  request: { params: wire.webhookIdParamSchema },
  responses: {
    200: successResponse("Result of the request to your endpoint.", "WebhookTestResponse", wire.webhookCallSchema, wire.webhookCallExample),
  },
  when: { ...webhookNotFoundRefusal, ...invalidBodyOrKeyRefusal },
});

const listDeliveriesRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/{webhook_id}/deliveries",
  operationId: "listDeliveries",
  summary: "List recent deliveries",
  description: "Returns deliveries, newest first. We keep successful deliveries for 30 days and abandoned ones for 90 days.",
  middleware: portalGuard(),
  request: { params: wire.webhookIdParamSchema, query: wire.deliveryListQuerySchema },
  responses: {
    200: successResponse("A page of deliveries.", "DeliveriesResponse", wire.deliveryListSchema, {
      deliveries: [wire.deliveryExample],
      has_more: false,
    }),
  },
  when: webhookNotFoundRefusal,
});

const deliveryNotFoundRefusal = { not_found: "The delivery does not exist or is not yours." } as const;

const getDeliveryRoute = createRoute({
  method: "get",
  path: "/v1/webhooks/deliveries/{delivery_id}/attempts",
  operationId: "getDeliveryAttempts",
  summary: "List the attempts of a delivery",
  description:
    "Returns a delivery with the request and response of each recent attempt (at most 20, from the last 7 days): headers as sent and received, and the first 4 KiB of the response body. For `consumer.updated.*` events, `withheld` is `true`, and everything that could contain the person's details is left out. To read it, call `POST /v1/webhooks/deliveries/{delivery_id}/reveal`.",
  middleware: portalGuard(),
  request: { params: wire.deliveryIdParamSchema },
  responses: {
    200: successResponse("The delivery and its attempts.", "DeliveryDetailResponse", wire.deliveryDetailSchema, wire.deliveryDetailExample),
  },
  when: deliveryNotFoundRefusal,
});

const revealDeliveryRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{delivery_id}/reveal",
  operationId: "revealDelivery",
  summary: "Read a delivery with the person's details",
  description:
    "Returns a delivery and its attempts, including the person's shared details. If there are such details, the call is recorded in your audit trail.",
  middleware: portalReadGuard(noBody),
  request: { params: wire.deliveryIdParamSchema },
  responses: {
    200: successResponse(
      "The delivery and its attempts.",
      "RevealedDeliveryResponse",
      wire.deliveryDetailSchema,
      wire.deliveryDetailExample,
    ),
  },
  when: {
    ...deliveryNotFoundRefusal,
    invalid_request: "The body is not valid JSON. This route does not need a body.",
    share_inactive: "The share is no longer active, so its details can no longer be read.",
  },
});

const replayDeliveryRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{delivery_id}/replay",
  operationId: "replayDelivery",
  summary: "Replay a delivery",
  description:
    "Sends the event to the same endpoint again, with a new signature. If your endpoint returns a 2xx status, the delivery's status becomes `success`. Otherwise, the delivery does not change.",
  middleware: portalGuard(limitWebhookCalls, noBody, idempotencyGuard),
  request: { params: wire.deliveryIdParamSchema },
  responses: {
    200: successResponse("Result of the request to your endpoint, and the delivery.", "ReplayResponse", wire.deliveryReplaySchema, {
      ...wire.webhookCallExample,
      delivery: wire.deliveryExample,
    }),
  },
  when: {
    ...invalidBodyOrKeyRefusal,
    ...deliveryNotFoundRefusal,
    share_inactive: "The event contains values of a share that is no longer active, so it can no longer be sent.",
  },
});

const recoverWebhookRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/{webhook_id}/recover",
  operationId: "recoverWebhook",
  summary: "Recover failed deliveries",
  description:
    "Sends deliveries again whose last attempt failed since a given time, including abandoned ones. They are sent in event order, at most 10 per second and 10,000 per request. A delivery that fails again keeps its status and its number of scheduled attempts. Repeating the request does not send a queued delivery twice. A recovery counts as one request toward the limit on tests and replays.",
  middleware: portalGuard(limitWebhookCalls, jsonBody, idempotencyGuard),
  request: { params: wire.webhookIdParamSchema, body: requestBody(wire.recoverWebhookSchema, { since: "2026-03-05T09:12:00.000Z" }) },
  responses: {
    200: successResponse(
      "The number of deliveries queued again.",
      "WebhookRecoveryResponse",
      wire.webhookRecoverySchema,
      wire.webhookRecoveryExample,
    ),
  },
  when: webhookNotFoundRefusal,
});

const deleteWebhookRoute = createRoute({
  method: "delete",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "deleteWebhook",
  summary: "Delete an endpoint",
  description: "Owners only. Stops deliveries to the endpoint and deletes its delivery history. Events stay in the feed.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: wire.webhookIdParamSchema },
  responses: {
    200: successResponse("The endpoint was deleted.", "DeletedWebhookResponse", deletedSchema, deletedToWire(wire.exampleWebhookId)),
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
  return respondIdempotent(c, await createWebhook(c.var.services, c.var.member, request), wire.createdWebhookToWire);
});

webhookRoutes.openapi(updateWebhookRoute, async (c) => {
  const changed = await updateWebhook(c.var.services, c.var.member, c.req.valid("param").webhook_id, c.req.valid("json"));
  return respond(c, 200, changed, wire.webhookToWire);
});

webhookRoutes.openapi(revealSecretRoute, async (c) => {
  const secret = await revealWebhookSecret(c.var.services, c.var.member, c.req.valid("param").webhook_id);
  return respond(c, 200, secret, (value) => value);
});

webhookRoutes.openapi(rotateSecretRoute, async (c) => {
  const { services, member, claimedRequest } = c.var;
  const rotated = await rotateWebhookSecret(services, member, c.req.valid("param").webhook_id, { saveDraft: claimedRequest?.saveDraft });
  return respond(c, 200, rotated, wire.rotatedSecretToWire);
});

webhookRoutes.openapi(testWebhookRoute, async (c) => {
  const tested = await testEndpoint(c.var.services, c.var.member.business.id, c.req.valid("param").webhook_id);
  return respond(c, 200, tested, (outcome) => toWire(wire.webhookCallSchema, outcome));
});

webhookRoutes.openapi(listDeliveriesRoute, async (c) => {
  const { services, member } = c.var;
  const page = await listDeliveries(services, member.business.id, c.req.valid("param").webhook_id, c.req.valid("query"));
  return respond(c, 200, page, wire.deliveryListToWire);
});

webhookRoutes.openapi(getDeliveryRoute, async (c) => {
  const found = await getDelivery(c.var.services, c.var.member.business.id, c.req.valid("param").delivery_id);
  return respond(c, 200, found, wire.deliveryDetailToWire);
});

webhookRoutes.openapi(revealDeliveryRoute, async (c) => {
  const revealed = await revealDelivery(c.var.services, c.var.member, c.req.valid("param").delivery_id);
  return respond(c, 200, revealed, wire.deliveryDetailToWire);
});

webhookRoutes.openapi(replayDeliveryRoute, async (c) => {
  const replayed = await replayDelivery(c.var.services, c.var.member.business.id, c.req.valid("param").delivery_id);
  return respond(c, 200, replayed, wire.deliveryReplayToWire);
});

webhookRoutes.openapi(recoverWebhookRoute, async (c) => {
  const { services, member } = c.var;
  const since = Date.parse(c.req.valid("json").since);
  return respond(c, 200, await recoverEndpoint(services, member.business.id, c.req.valid("param").webhook_id, since), (recovery) =>
    toWire(wire.webhookRecoverySchema, recovery),
  );
});

webhookRoutes.openapi(deleteWebhookRoute, async (c) => {
  const removed = await deleteWebhook(c.var.services, c.var.member, c.req.valid("param").webhook_id);
  return respond(c, 200, removed, deletedToWire);
});
