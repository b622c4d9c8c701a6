// The wire of webhook management (CONTRACT 9): a person's session, an owner's where something is changed or shown once.
import { z } from "@hono/zod-openapi";
import type { Context, Handler, Hono, MiddlewareHandler } from "hono";
import type { MemberSession } from "../../../core/access/session.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { Result } from "../../../core/result.ts";
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  replayWebhookDelivery,
  revealSecret,
  rotateSecret,
  testWebhook,
} from "../../operations/webhooks.ts";
import { jsonOnly, readJsonBody, readOptionalJsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { answer, failure, refusal, success } from "../../http/envelope.ts";
import { limited, preflight } from "../../http/guards.ts";
import { idempotencyKeyOf, idempotent } from "../../http/idempotency.ts";
import { createRoute, mount } from "../../http/openapi.ts";
import { queryOf } from "./query.ts";
import { appOnly, ownerOnly, portal, sameOrigin } from "../../http/session-guards.ts";
import {
  called,
  changeSchema,
  commonExample,
  createSchema,
  createdSchema,
  deliveriesQuery,
  deliveryExample,
  deliveryParam,
  deliverySchema,
  exampleId,
  exampleSecret,
  mostAPage,
  rotatedSchema,
  secretSchema,
  usualLimit,
  webhookExample,
  webhookParam,
  webhookSchema,
} from "./schema.ts";
import { envelope, enveloped, failures, idempotencyHeaders, rateHeaders, repeatHeaders, schemaFault } from "../../http/wire.ts";
import { setHeaders } from "./headers.ts";

// Routes

const memberRefusals = [
  "unauthorized",
  "business_suspended",
  "business_inactive",
  "forbidden",
  "rate_limited",
  "storage_unavailable",
] as const;
const unsafeRefusals = [
  ...memberRefusals,
  "csrf_failed",
  "subscription_past_due",
  "invalid_request",
  "payload_too_large",
  "unsupported_media_type",
] as const;
const noBodyNeeded = "There is a body, and it is not JSON. None is needed.";
const noBodyOrBadKey = "There is a body, and it is not JSON: none is needed. Or the idempotency key is not one.";
const reasons: Partial<Record<RefusalCode, string>> = {
  unauthorized: "No session, or it has ended.",
  forbidden: "A consumer is signed in, not a member of a business.",
  not_found: "There is no such endpoint, or it is not yours.",
  rate_limited: "More than 120 a minute by one person.",
};

interface RouteText {
  readonly method: "get" | "post" | "patch" | "delete";
  readonly path: `/v1/webhooks${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
}

/** A route of the portal: what it answers in success, and its refusals with those that all of them share. */
const portalRoute = (
  text: RouteText,
  request: Parameters<typeof createRoute>[0]["request"],
  success: {
    readonly status?: 201;
    readonly description: string;
    readonly name: string;
    readonly schema: z.ZodType;
    readonly example: object;
  },
  refusals: readonly RefusalCode[] = [],
  when: Partial<Record<RefusalCode, string>> = {},
) =>
  createRoute({
    ...text,
    tags: ["webhooks"],
    security: [{ session: [] }],
    ...(request !== undefined && { request }),
    responses: {
      [success.status ?? 200]: {
        description: success.description,
        headers: text.method === "post" ? repeatHeaders : rateHeaders,
        content: { "application/json": { schema: envelope(success.name, success.schema), example: enveloped(success.example) } },
      },
      ...failures([...(text.method === "get" ? memberRefusals : unsafeRefusals), ...refusals], {
        ...reasons,
        ...(text.method !== "get" && { invalid_request: text.method === "post" ? noBodyOrBadKey : noBodyNeeded }),
        ...when,
      }),
    },
  });

const createdRoute = portalRoute(
  {
    method: "post",
    path: "/v1/webhooks",
    operationId: "createWebhook",
    summary: "Register an endpoint",
    description:
      "Owners only. The endpoint receives what happens from now on; what was before is in the event feed. At most 20 a business. Unknown members of the body are refused here, so that a misspelt choice of events is not taken for all of them.",
  },
  {
    headers: idempotencyHeaders,
    body: {
      required: true,
      content: {
        "application/json": { schema: createSchema, example: { url: commonExample.url, events: commonExample.events, description: "CRM" } },
      },
    },
  },
  {
    status: 201,
    description: "The endpoint is registered. Keep the secret.",
    name: "CreatedWebhookAnswer",
    schema: createdSchema,
    example: { ...commonExample, secret: exampleSecret, created_at: "2026-03-04T05:06:07.089Z" },
  },
  ["owner_required", "invalid_webhook_url", "webhook_limit", "idempotency_conflict"],
  {
    invalid_request: "The message names the input and the rule.",
    invalid_webhook_url: "The address breaks a rule, or its host is not public.",
  },
);

const listedRoute = portalRoute(
  {
    method: "get",
    path: "/v1/webhooks",
    operationId: "listWebhooks",
    summary: "List your endpoints",
    description: "Oldest first, with how each is doing.",
  },
  undefined,
  {
    description: "The endpoints.",
    name: "WebhooksAnswer",
    schema: z.object({ webhooks: z.array(webhookSchema) }),
    example: { webhooks: [webhookExample] },
  },
);

const changedRoute = portalRoute(
  {
    method: "patch",
    path: "/v1/webhooks/{webhook_id}",
    operationId: "changeWebhook",
    summary: "Change an endpoint",
    description: "Owners only. What is left out stays as it is.",
  },
  {
    params: webhookParam,
    body: { required: true, content: { "application/json": { schema: changeSchema, example: { status: "disabled" } } } },
  },
  {
    description: "The endpoint as it is now.",
    name: "WebhookAnswer",
    schema: webhookSchema,
    example: { ...webhookExample, status: "disabled" },
  },
  ["owner_required", "not_found", "invalid_webhook_url"],
  {
    invalid_request: "The message names the input and the rule.",
    invalid_webhook_url: "The address breaks a rule, or its host is not public.",
  },
);

const secretRoute = portalRoute(
  {
    method: "get",
    path: "/v1/webhooks/{webhook_id}/secret",
    operationId: "revealWebhookSecret",
    summary: "Show the signing secret",
    description: "Owners only. Each reading is entered in your audit chain.",
  },
  { params: webhookParam },
  {
    description: "The secret in force.",
    name: "WebhookSecretAnswer",
    schema: secretSchema,
    example: { id: exampleId, secret: exampleSecret },
  },
  ["owner_required", "not_found"],
);

const rotatedRoute = portalRoute(
  {
    method: "post",
    path: "/v1/webhooks/{webhook_id}/rotate-secret",
    operationId: "rotateWebhookSecret",
    summary: "Change the signing secret",
    description:
      "Owners only. Deliveries carry two signatures for 24 hours, by the new secret and by the one before; rotating again within that time ends the one before.",
  },
  { params: webhookParam, headers: idempotencyHeaders },
  {
    description: "The new secret.",
    name: "RotatedSecretAnswer",
    schema: rotatedSchema,
    example: { id: exampleId, secret: exampleSecret, previous_secret_until: "2026-03-05T05:06:07.089Z" },
  },
  ["owner_required", "not_found", "idempotency_conflict"],
);

const callLimit = { rate_limited: "More than 60 tests and replays in ten minutes, or 120 requests a minute, by one person." };

const testedRoute = portalRoute(
  {
    method: "post",
    path: "/v1/webhooks/{webhook_id}/test",
    operationId: "testWebhook",
    summary: "Send a test",
    description: "Posts a signed `test.ping` now. It is in no feed and in no list.",
  },
  { params: webhookParam, headers: idempotencyHeaders },
  {
    description: "What came of it.",
    name: "WebhookTestAnswer",
    schema: z.object(called),
    example: { delivered: true, response_status: 200, duration_ms: 184 },
  },
  ["not_found", "idempotency_conflict"],
  callLimit,
);

const deliveriesRoute = portalRoute(
  {
    method: "get",
    path: "/v1/webhooks/{webhook_id}/deliveries",
    operationId: "listDeliveries",
    summary: "List recent deliveries",
    description:
      "Newest first. Those that succeeded are kept 30 days, abandoned ones 90. What a receiver answers besides its status is never kept.",
  },
  { params: webhookParam, query: deliveriesQuery },
  {
    description: "One page of deliveries.",
    name: "DeliveriesAnswer",
    schema: z.object({ deliveries: z.array(deliverySchema), has_more: z.boolean() }),
    example: { deliveries: [deliveryExample], has_more: false },
  },
  ["not_found", "invalid_request"],
  { invalid_request: "The message names the parameter and the rule." },
);

const replayedRoute = portalRoute(
  {
    method: "post",
    path: "/v1/webhooks/deliveries/{delivery_id}/replay",
    operationId: "replayDelivery",
    summary: "Send a past event again",
    description:
      "Posts the event to the same endpoint with a fresh signature. Delivered, it ends the delivery; failed, it changes nothing.",
  },
  { params: deliveryParam, headers: idempotencyHeaders },
  {
    description: "What came of it, and the delivery as it is now.",
    name: "ReplayAnswer",
    schema: z.object({ ...called, delivery: deliverySchema }),
    example: { delivered: true, response_status: 200, duration_ms: 184, delivery: deliveryExample },
  },
  ["not_found", "share_inactive", "idempotency_conflict"],
  {
    ...callLimit,
    not_found: "There is no such delivery, or it is not yours.",
    share_inactive: "The event is an update of a share that is no longer active: its data may not be sent any more.",
  },
);

const deletedRoute = portalRoute(
  {
    method: "delete",
    path: "/v1/webhooks/{webhook_id}",
    operationId: "deleteWebhook",
    summary: "Remove an endpoint",
    description: "Owners only. Nothing more is sent to it, and its deliveries go with it; the events stay in the feed.",
  },
  { params: webhookParam },
  {
    description: "The endpoint is removed.",
    name: "DeletedWebhookAnswer",
    schema: z.object({ deleted: z.literal(true), id: z.string() }),
    example: { deleted: true, id: exampleId },
  },
  ["owner_required", "not_found"],
);

// Handlers

type MemberHandler = (c: Context<Api>, member: MemberSession) => Promise<Response>;

/** Behind `portal` there is a member; without one the answer is what the guard would have said. */
const asMember =
  (handler: MemberHandler): Handler<Api> =>
  (c) =>
    c.var.member === undefined ? failure(c, "unauthorized") : handler(c, c.var.member);

/** For routes that need no input; a form or a text is refused all the same. */
const withoutInput =
  (work: (c: Context<Api>, member: MemberSession) => Promise<Result<object>>): MemberHandler =>
  async (c, member) => {
    const body = await readOptionalJsonBody(c.req.raw);
    return body.ok ? answer(c, 200, await work(c, member)) : refusal(c, body);
  };

/** The limit that tests and replays share (SPEC, Limits). */
const callCounted: MiddlewareHandler<Api> = async (c, next) => {
  const { member, services } = c.var;
  if (member === undefined) return failure(c, "unauthorized");
  const refused = limited(c, "WEBHOOK_CALLS", await services.takeExactly("WEBHOOK_CALLS", member.userId));
  if (refused !== null) return refused;
  await next();
};

const idOf = (c: Context<Api>): string => c.req.param("webhook_id") ?? "";

const create: MemberHandler = async (c, member) => {
  const body = await readJsonBody(c.req.raw, jsonOnly);
  if (!body.ok) return refusal(c, body);
  const parsed = createSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const idempotencyKey = idempotencyKeyOf(c);
  if (!idempotencyKey.ok) return refusal(c, idempotencyKey);
  const { url, events, description } = parsed.data;
  const made = await createWebhook(c.var.services, member, {
    url,
    events: events ?? null,
    description: description ?? null,
    idempotencyKey: idempotencyKey.value,
  });
  if (!made.ok) return refusal(c, made);
  if (made.value.replayed) setHeaders(c, { "Idempotency-Replayed": "true" });
  return success(c, 201, made.value.webhook);
};

const rotate = (c: Context<Api>, member: MemberSession) =>
  rotateSecret(c.var.services, member, idOf(c), c.var.work?.draft ?? (async (sealed) => sealed));

const change: MemberHandler = async (c, member) => {
  const body = await readJsonBody(c.req.raw, jsonOnly);
  if (!body.ok) return refusal(c, body);
  const parsed = changeSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const { url, events, description, status } = parsed.data;
  const asked = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
  };
  return answer(c, 200, await changeWebhook(c.var.services, member, idOf(c), asked));
};

const deliveries: MemberHandler = async (c, member) => {
  const given = queryOf(c, ["limit", "before"]);
  if (!given.ok) return refusal(c, given);
  const parsed = deliveriesQuery.safeParse(given.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const page = { limit: Math.min(mostAPage, parsed.data.limit ?? usualLimit), before: parsed.data.before ?? null };
  return answer(c, 200, await listDeliveries(c.var.services, member, idOf(c), page));
};

export const mountWebhooks = (app: Hono<Api>): void => {
  app.use("/v1/webhooks", appOnly, sameOrigin);
  app.use("/v1/webhooks/*", appOnly, sameOrigin);
  const asked = preflight("GET, POST, PATCH, DELETE", "Content-Type, Idempotency-Key");
  app.options("/v1/webhooks", asked);
  app.options("/v1/webhooks/*", asked);

  mount(
    app,
    listedRoute,
    ...portal,
    asMember(async (c, member) => success(c, 200, await listWebhooks(c.var.services, member))),
  );
  mount(app, createdRoute, ...portal, ownerOnly, asMember(create));
  mount(app, changedRoute, ...portal, ownerOnly, asMember(change));
  mount(
    app,
    secretRoute,
    ...portal,
    ownerOnly,
    asMember(async (c, member) => answer(c, 200, await revealSecret(c.var.services, member, idOf(c)))),
  );
  mount(app, rotatedRoute, ...portal, ownerOnly, idempotent, asMember(withoutInput(rotate)));
  mount(app, deletedRoute, ...portal, ownerOnly, asMember(withoutInput((c, member) => deleteWebhook(c.var.services, member, idOf(c)))));
  mount(
    app,
    testedRoute,
    ...portal,
    callCounted,
    idempotent,
    asMember(withoutInput((c, member) => testWebhook(c.var.services, member, idOf(c)))),
  );
  mount(app, deliveriesRoute, ...portal, asMember(deliveries));
  mount(
    app,
    replayedRoute,
    ...portal,
    callCounted,
    idempotent,
    asMember(withoutInput((c, member) => replayWebhookDelivery(c.var.services, member, c.req.param("delivery_id") ?? ""))),
  );
};
