// The routes of webhook management (CONTRACT 9): a person's session, an owner's where something is changed or shown once.
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { MemberCaller } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { appOrigin, limited } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindPortal, ownerOnly, sameOrigin } from "../../http/session-guards.ts";
import { readFailures, writeFailures } from "../../http/portal-wire.ts";
import { answerOf, badBody, bodyOf, idempotencyHeaders, rateHeaders, repeatHeaders } from "../../http/wire.ts";
import { listDeliveries, recoverEndpoint, replayDelivery, testEndpoint } from "../../operations/webhooks/deliveries.ts";
import { changeWebhook, deleteWebhook, listWebhooks } from "../../operations/webhooks/endpoints.ts";
import { createWebhook } from "../../operations/webhooks/registration.ts";
import { revealSecret, rotateSecret } from "../../operations/webhooks/secrets.ts";
import {
  callExample,
  deliveryExample,
  recoveryExample,
  exampleId,
  registeredExample,
  requestExample,
  rotatedExample,
  secretExample,
  webhookExample,
} from "./examples.ts";
import {
  callSchema,
  callToWire,
  changeSchema,
  createSchema,
  deliveriesQuery,
  deliveriesSchema,
  deliveriesToWire,
  deliveryParam,
  recoverSchema,
  recoverySchema,
  recoveryToWire,
  registeredSchema,
  registeredToWire,
  replaySchema,
  replayToWire,
  rotatedSchema,
  rotatedToWire,
  secretSchema,
  webhookParam,
  webhookSchema,
  webhookToWire,
} from "./schema.ts";

/** The limit that tests and replays share (SPEC, Limits). */
const callCounted = createMiddleware<MemberCaller>(async (c, next) => {
  const refused = limited(c, "WEBHOOK_CALLS", await c.var.services.takeExactly("WEBHOOK_CALLS", c.var.member.userId));
  if (refused !== null) return refused;
  await next();
});

// What the descriptions share

const noSuch = { not_found: "There is no such endpoint, or it is not yours." } as const;
const noBodyOrBadKey = "There is a body, and it is not JSON: none is needed. Or the idempotency key is not one.";
const callReasons = {
  ...noSuch,
  invalid_request: noBodyOrBadKey,
  rate_limited: "More than 60 tests and replays in ten minutes, or 120 requests a minute, by one person.",
};
const inputReasons = {
  ...noSuch,
  ...badBody,
  invalid_webhook_url: "The address breaks a rule, or its host is not public.",
};

const common = { tags: ["webhooks"], security: [{ session: [] }] };

// Routes

const createdRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/webhooks",
  operationId: "createWebhook",
  summary: "Register an endpoint",
  description:
    "Owners only. The endpoint receives what happens from now on; what was before is in the event feed. At most 20 a business, and 20 for its sandbox. Unknown members of the body are refused here, so that a misspelt choice of events is not taken for all of them.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(createSchema, requestExample),
  },
  responses: {
    201: {
      description: "The endpoint is registered. Keep the secret.",
      headers: repeatHeaders,
      content: answerOf("CreatedWebhookAnswer", registeredSchema, registeredExample),
    },
    ...writeFailures(["owner_required", "invalid_webhook_url", "webhook_limit", "idempotency_conflict"], inputReasons),
  },
});

const listedRoute = createRoute({
  ...common,
  method: "get",
  path: "/v1/webhooks",
  operationId: "listWebhooks",
  summary: "List your endpoints",
  description: "Live ones, then those of the sandbox; each oldest first, with how it is doing.",
  middleware: behindPortal(),
  responses: {
    200: {
      description: "The endpoints.",
      headers: rateHeaders,
      content: answerOf("WebhooksAnswer", z.object({ webhooks: z.array(webhookSchema) }), { webhooks: [webhookExample] }),
    },
    ...readFailures(),
  },
});

const changedRoute = createRoute({
  ...common,
  method: "patch",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "changeWebhook",
  summary: "Change an endpoint",
  description: "Owners only. What is left out stays as it is.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: {
    params: webhookParam,
    body: bodyOf(changeSchema, { status: "disabled" }),
  },
  responses: {
    200: {
      description: "The endpoint as it is now.",
      headers: rateHeaders,
      content: answerOf("WebhookAnswer", webhookSchema, { ...webhookExample, status: "disabled" }),
    },
    ...writeFailures(["owner_required", "not_found", "invalid_webhook_url"], inputReasons),
  },
});

const secretRoute = createRoute({
  ...common,
  method: "get",
  path: "/v1/webhooks/{webhook_id}/secret",
  operationId: "revealWebhookSecret",
  summary: "Show the signing secret",
  description: "Owners only. Each reading is entered in your audit chain.",
  middleware: behindPortal(ownerOnly),
  request: { params: webhookParam },
  responses: {
    200: {
      description: "The secret in force.",
      headers: rateHeaders,
      content: answerOf("WebhookSecretAnswer", secretSchema, secretExample),
    },
    ...readFailures(["owner_required", "not_found"], noSuch),
  },
});

const rotatedRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/webhooks/{webhook_id}/rotate-secret",
  operationId: "rotateWebhookSecret",
  summary: "Change the signing secret",
  description:
    "Owners only. Deliveries carry two signatures for 24 hours, by the new secret and by the one before; rotating again within that time ends the one before.",
  middleware: behindPortal(ownerOnly, optionalJsonBody, idempotent),
  request: { params: webhookParam, headers: idempotencyHeaders },
  responses: {
    200: {
      description: "The new secret.",
      headers: repeatHeaders,
      content: answerOf("RotatedSecretAnswer", rotatedSchema, rotatedExample),
    },
    ...writeFailures(["owner_required", "not_found", "idempotency_conflict"], { ...noSuch, invalid_request: noBodyOrBadKey }),
  },
});

const testedRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/webhooks/{webhook_id}/test",
  operationId: "testWebhook",
  summary: "Send a test",
  description: "Posts a signed `test.ping` now. It is in no feed and in no list.",
  middleware: behindPortal(callCounted, optionalJsonBody, idempotent),
  request: { params: webhookParam, headers: idempotencyHeaders },
  responses: {
    200: { description: "What came of it.", headers: repeatHeaders, content: answerOf("WebhookTestAnswer", callSchema, callExample) },
    ...writeFailures(["not_found", "idempotency_conflict"], callReasons),
  },
});

const deliveriesRoute = createRoute({
  ...common,
  method: "get",
  path: "/v1/webhooks/{webhook_id}/deliveries",
  operationId: "listDeliveries",
  summary: "List recent deliveries",
  description:
    "Newest first. Those that succeeded are kept 30 days, abandoned ones 90. What a receiver answers besides its status is never kept.",
  middleware: behindPortal(),
  request: { params: webhookParam, query: deliveriesQuery },
  responses: {
    200: {
      description: "One page of deliveries.",
      headers: rateHeaders,
      content: answerOf("DeliveriesAnswer", deliveriesSchema, { deliveries: [deliveryExample], has_more: false }),
    },
    ...readFailures(["not_found", "invalid_request"], { ...noSuch, invalid_request: "The message names the parameter and the rule." }),
  },
});

const replayedRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/webhooks/deliveries/{delivery_id}/replay",
  operationId: "replayDelivery",
  summary: "Send a past event again",
  description: "Posts the event to the same endpoint with a fresh signature. Delivered, it ends the delivery; failed, it changes nothing.",
  middleware: behindPortal(callCounted, optionalJsonBody, idempotent),
  request: { params: deliveryParam, headers: idempotencyHeaders },
  responses: {
    200: {
      description: "What came of it, and the delivery as it is now.",
      headers: repeatHeaders,
      content: answerOf("ReplayAnswer", replaySchema, { ...callExample, delivery: deliveryExample }),
    },
    ...writeFailures(["not_found", "share_inactive", "idempotency_conflict"], {
      ...callReasons,
      not_found: "There is no such delivery, or it is not yours.",
      share_inactive: "The event is an update of a share that is no longer active: its data may not be sent any more.",
    }),
  },
});

const recoveredRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/webhooks/{webhook_id}/recover",
  operationId: "recoverWebhook",
  summary: "Send everything again that failed",
  description:
    "Sends the deliveries that failed since a moment again, given up or still retried, in the order of their events and at most ten a second. It counts as no attempt: what fails again stays where it was. Calling it again does not send twice what is on its way already. One call of the limit that tests and replays share.",
  middleware: behindPortal(callCounted, jsonBody, idempotent),
  request: {
    params: webhookParam,
    headers: idempotencyHeaders,
    body: bodyOf(recoverSchema, { since: "2026-03-05T09:12:00.000Z" }),
  },
  responses: {
    200: {
      description: "What goes out again.",
      headers: repeatHeaders,
      content: answerOf("WebhookRecoveryAnswer", recoverySchema, recoveryExample),
    },
    ...writeFailures(["not_found", "idempotency_conflict"], {
      ...callReasons,
      ...badBody,
    }),
  },
});

const deletedRoute = createRoute({
  ...common,
  method: "delete",
  path: "/v1/webhooks/{webhook_id}",
  operationId: "deleteWebhook",
  summary: "Remove an endpoint",
  description: "Owners only. Nothing more is sent to it, and its deliveries go with it; the events stay in the feed.",
  middleware: behindPortal(ownerOnly, optionalJsonBody),
  request: { params: webhookParam },
  responses: {
    200: {
      description: "The endpoint is removed.",
      headers: rateHeaders,
      content: answerOf("DeletedWebhookAnswer", z.object({ deleted: z.literal(true), id: z.string() }), { deleted: true, id: exampleId }),
    },
    ...writeFailures(["owner_required", "not_found"], {
      ...noSuch,
      invalid_request: "There is a body, and it is not JSON. None is needed.",
    }),
  },
});

// Handlers

export const webhooks = newApi();

webhooks.use(
  "/v1/webhooks/*",
  appOrigin({ methods: ["GET", "POST", "PATCH", "DELETE"], headers: ["Content-Type", "Idempotency-Key"] }),
  sameOrigin,
);

webhooks.openapi(listedRoute, async (c) => {
  const endpoints = await listWebhooks(c.var.services, c.var.member);
  return success(c, 200, { webhooks: endpoints.map(webhookToWire) });
});

webhooks.openapi(createdRoute, async (c) => {
  const { url, events = null, description = null, environment = "live" } = c.req.valid("json");
  const idempotencyKey = c.req.valid("header")["Idempotency-Key"] ?? null;
  const created = await createWebhook(c.var.services, c.var.member, { url, events, description, environment, idempotencyKey });
  if (!created.ok) return refusal(c, created);
  if (created.value.replayed) c.header("Idempotency-Replayed", "true");
  return success(c, 201, registeredToWire(created.value.endpoint));
});

webhooks.openapi(changedRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const changed = await changeWebhook(c.var.services, c.var.member, id, c.req.valid("json"));
  return changed.ok ? success(c, 200, webhookToWire(changed.value)) : refusal(c, changed);
});

webhooks.openapi(secretRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const shown = await revealSecret(c.var.services, c.var.member, id);
  return shown.ok ? success(c, 200, shown.value) : refusal(c, shown);
});

webhooks.openapi(rotatedRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const rotated = await rotateSecret(c.var.services, c.var.member, id, c.var.work?.draft ?? (async (sealed) => sealed));
  return rotated.ok ? success(c, 200, rotatedToWire(rotated.value)) : refusal(c, rotated);
});

webhooks.openapi(testedRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const tested = await testEndpoint(c.var.services, c.var.member.business.id, id);
  return tested.ok ? success(c, 200, callToWire(tested.value)) : refusal(c, tested);
});

webhooks.openapi(deliveriesRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const page = await listDeliveries(c.var.services, c.var.member.business.id, id, c.req.valid("query"));
  return page.ok ? success(c, 200, deliveriesToWire(page.value)) : refusal(c, page);
});

webhooks.openapi(replayedRoute, async (c) => {
  const { delivery_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const replayed = await replayDelivery(c.var.services, c.var.member.business.id, id);
  return replayed.ok ? success(c, 200, replayToWire(replayed.value)) : refusal(c, replayed);
});

webhooks.openapi(recoveredRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const recovered = await recoverEndpoint(c.var.services, c.var.member.business.id, id, Date.parse(c.req.valid("json").since));
  return recovered.ok ? success(c, 200, recoveryToWire(recovered.value)) : refusal(c, recovered);
});

webhooks.openapi(deletedRoute, async (c) => {
  const { webhook_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const removed = await deleteWebhook(c.var.services, c.var.member, id);
  return removed.ok ? success(c, 200, { deleted: true as const, id: removed.value }) : refusal(c, removed);
});
