// Schemas, examples and mappers for webhook endpoints and deliveries.
import { z } from "@hono/zod-openapi";
import { optInEventTypes, standardEventTypes } from "../../../core/events/event.ts";
import { parseDeliveryId, parseWebhookId } from "../../../core/ids.ts";
import type { DeliveryPage, RegisteredEndpoint } from "../../../core/webhooks/endpoint.ts";
import type { Header } from "../../../core/webhooks/exchange.ts";
import { selectableEventTypes, maxDescriptionLength } from "../../../core/webhooks/event-selection.ts";
import {
  environmentSchema,
  idParamSchema,
  idSchema,
  limitSchema,
  timeSchema,
  instantSchema,
  optionalMember,
  toWire,
} from "../../http/wire.ts";
import type { OpenedDelivery } from "../../operations/webhooks/open-delivery.ts";
import type { ReplayOutcome } from "../../operations/webhooks/replay-delivery.ts";
import type { EndpointState } from "../../operations/webhooks/list-webhooks.ts";
import type { RotatedSecret } from "../../operations/webhooks/rotate-webhook-secret.ts";

export const exampleWebhookId = "whk_00m4x8c1v6b3n9q2t7w0h5k3d8";
const exampleDeliveryId = "dlv_00m4x8c7v5b2n0q9t3w6h1k4d0";
const exampleSecret = "whsec_ExampleOfASecretThatIsNotASecret0123456789AB=";
const exampleCreatedAt = "2026-03-04T05:06:07.089Z";

const commonExample = {
  id: exampleWebhookId,
  url: "https://hooks.example.com/svc",
  events: ["share.revoked", "certificate.revoked"],
  description: "CRM",
  environment: "live",
  status: "enabled",
};
export const webhookExample = {
  ...commonExample,
  secret_hint: "whsec_…9AB=",
  created_at: exampleCreatedAt,
  last_delivery_at: "2026-03-05T10:00:00.250Z",
  last_response_status: 200,
  consecutive_failures: 0,
  failing_since: null,
  backlog: 0,
  oldest_pending_at: null,
};
export const deliveryExample = {
  id: exampleDeliveryId,
  webhook_id: exampleWebhookId,
  event_id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11",
  event_type: "certificate.revoked",
  status: "success",
  attempt: 1,
  response_status: 200,
  error: null,
  duration_ms: 184,
  next_attempt_at: null,
  delivered_at: "2026-03-05T10:00:00.250Z",
  created_at: "2026-03-05T10:00:00.012Z",
};

const eventExample = {
  id: deliveryExample.event_id,
  type: deliveryExample.event_type,
  created_at: deliveryExample.created_at,
  share_id: null,
  cert_id: "cc_00e1k8gs98emr9z9zzvvfe5hbk",
  data: null,
  seq: 1841,
};
export const deliveryDetailExample = {
  delivery: deliveryExample,
  request_body: JSON.stringify(eventExample),
  withheld: false,
  attempts: [
    {
      number: 1,
      resend: false,
      at: "2026-03-05T10:00:00.250Z",
      response_status: 200,
      error: null,
      duration_ms: 184,
      request_headers: [
        { name: "content-type", value: "application/json" },
        { name: "svc-event-id", value: deliveryExample.event_id },
      ],
      response_headers: [{ name: "content-type", value: "application/json" }],
      response_body: '{"ok":true}',
      response_cut: false,
    },
  ],
};

export const webhookRequestExample = { url: commonExample.url, events: commonExample.events, description: commonExample.description };
export const createdWebhookExample = { ...commonExample, secret: exampleSecret, created_at: exampleCreatedAt };
export const webhookSecretExample = { id: exampleWebhookId, secret: exampleSecret };
export const rotatedSecretExample = { ...webhookSecretExample, previous_secret_until: "2026-03-05T05:06:07.089Z" };
export const webhookRecoveryExample = { queued: 41, has_more: false };
export const webhookCallExample = { delivered: true, response_status: 200, duration_ms: 184 };

const urlSchema = z.string().meta({
  description:
    "HTTPS URL that receives events: a public host name, port 443 or 8443, at most 2,048 characters, without a username, password or fragment.",
  example: "https://hooks.example.com/svc",
});
const describeEvents = (preset: string) => ({
  description: `Event types to receive: ${selectableEventTypes.map((type) => `\`${type}\``).join(", ")}. ${preset} ${optInEventTypes.map((type) => `\`${type}\``).join(" and ")} are not default types. To receive them, list them here and set \`emit_certificate_issued\` in your profile.`,
  example: ["certificate.revoked", "share.revoked"],
});
const eventsSchema = z.array(z.string());
const descriptionSchema = z
  .string()
  .meta({ description: `Label, one line of at most ${maxDescriptionLength} characters.`, example: "CRM" });

const webhookEnvironmentSchema = environmentSchema.meta({
  description: "Environment whose events the endpoint receives.",
  example: "live",
});

export const createWebhookSchema = z
  .strictObject({
    url: urlSchema,
    events: eventsSchema.nullish().meta(describeEvents("Omit to receive all default event types, including future ones.")),
    description: descriptionSchema.nullish(),
    environment: optionalMember(environmentSchema).meta({
      description: "Environment whose events the endpoint receives. It cannot be changed later. Default: `live`.",
      example: "live",
    }),
  })
  .openapi("WebhookRequest");
export const updateWebhookSchema = z
  .object({
    url: optionalMember(urlSchema),
    events: eventsSchema
      .nullish()
      .meta(describeEvents("Send `null` to receive all default event types, including future ones. Omit to keep the current selection.")),
    description: descriptionSchema.nullish(),
    status: optionalMember(z.enum(["enabled", "disabled"])).meta({
      description: "`disabled`: events are kept and sent when you enable the endpoint again.",
      example: "enabled",
    }),
  })
  .openapi("WebhookChange");

export const webhookIdParamSchema = z.object({
  webhook_id: idParamSchema(parseWebhookId, "ID of the endpoint. Starts with `whk_`.", exampleWebhookId),
});
export const deliveryIdParamSchema = z.object({
  delivery_id: idParamSchema(parseDeliveryId, "ID of the delivery. Starts with `dlv_`.", exampleDeliveryId),
});

export const deliveryListQuerySchema = z.object({
  limit: limitSchema(50, 100),
  before: idSchema(parseDeliveryId, "must be the ID of a delivery to this endpoint").nullable().default(null).meta({
    type: "string",
    description: "ID of the last delivery on the previous page.",
    example: exampleDeliveryId,
  }),
});

const webhookStatusSchema = z.enum(["enabled", "disabled"]);
const commonFields = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).meta({ description: "Event types that the endpoint receives." }),
  description: z.string().nullable(),
  status: webhookStatusSchema,
  environment: webhookEnvironmentSchema,
};
export const createdWebhookSchema = z
  .object({
    ...commonFields,
    secret: z.string().meta({ description: "Secret for verifying the signatures of deliveries. Owners can read it again later." }),
    created_at: timeSchema,
  })
  .openapi("CreatedWebhook");
export const webhookSchema = z
  .object({
    ...commonFields,
    secret_hint: z.string().meta({ description: "Prefix and last four characters of the current secret." }),
    created_at: timeSchema,
    last_delivery_at: timeSchema.nullable().meta({ description: "When the last delivery attempt ended, whether or not it succeeded." }),
    last_response_status: z
      .int()
      .nullable()
      .meta({ description: "HTTP status of the last attempt; `null` if there was no response or no attempt yet." }),
    consecutive_failures: z.int().nullable().meta({ description: "Failed attempts since the last success; `null` if unavailable." }),
    failing_since: timeSchema
      .nullable()
      .meta({ description: "When the first of the `consecutive_failures` occurred; `null` if there are none." }),
    backlog: z.int().nullable().meta({ description: "Number of deliveries that are still to be sent or retried; `null` if unavailable." }),
    oldest_pending_at: timeSchema.nullable().meta({ description: "When the oldest event in `backlog` occurred; `null` if there is none." }),
  })
  .openapi("Webhook");
export const webhookSecretSchema = z.object({ id: z.string(), secret: z.string() }).openapi("WebhookSecret");
export const rotatedSecretSchema = z
  .object({
    id: z.string(),
    secret: z.string().meta({ description: "The new secret." }),
    previous_secret_until: timeSchema.meta({ description: "Time until which deliveries are also signed with the previous secret." }),
  })
  .openapi("RotatedSecret");
const errorSchema = z
  .enum(["timeout", "dns", "tls", "connection", "http"])
  .nullable()
  .meta({ description: "Why the attempt failed, otherwise `null`. `http`: the response status was not 2xx." });
const deliverySchema = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    status: z.enum(["pending", "retrying", "success", "abandoned"]),
    attempt: z.int().meta({ description: "Number of scheduled attempts so far, at most 5. Replays and recoveries do not count." }),
    response_status: z.int().nullable().meta({ description: "HTTP status of the last attempt; `null` if there was no response." }),
    error: errorSchema,
    duration_ms: z.int().nullable(),
    next_attempt_at: timeSchema.nullable(),
    delivered_at: timeSchema.nullable(),
    created_at: timeSchema,
  })
  .openapi("Delivery");
const headersSchema = z.array(z.object({ name: z.string(), value: z.string() }));
const headersToWire = (headers: readonly Header[] | undefined) => headers?.map(([name, value]) => ({ name, value })) ?? null;

const attemptSchema = z
  .object({
    number: z.int().meta({ description: "Number sent in `Svc-Attempt`." }),
    resend: z.boolean().meta({
      description: "`true` for a replay or a recovery. These attempts are not counted in the delivery's `attempt`.",
    }),
    at: timeSchema.meta({ description: "When the attempt ended." }),
    response_status: z.int().nullable().meta({ description: "HTTP status; `null` if there was no response." }),
    error: errorSchema,
    duration_ms: z.int(),
    request_headers: headersSchema
      .nullable()
      .meta({ description: "Headers as sent. `null` if nothing was sent, or if `withheld` is `true`." }),
    response_headers: headersSchema
      .nullable()
      .meta({ description: "Headers, with names in lowercase. `null` if there was no response, or if `withheld` is `true`." }),
    response_body: z
      .string()
      .nullable()
      .meta({ description: "First 4 KiB of the response body, as text. `null` if there was no response, or if `withheld` is `true`." }),
    response_cut: z.boolean().meta({ description: "`true` if the response body was longer than 4 KiB." }),
  })
  .openapi("DeliveryAttempt");
export const deliveryDetailSchema = z
  .object({
    delivery: deliverySchema,
    request_body: z.string().meta({ description: "Body of the request. It is the same for every attempt." }),
    withheld: z.boolean().meta({
      description:
        "`true` if this response leaves out the person's shared details. In this case, `data` in `request_body`, all headers and all response bodies are `null`.",
    }),
    attempts: z.array(attemptSchema).meta({ description: "Attempts in the last 7 days, newest first, at most 20." }),
  })
  .openapi("DeliveryDetail");
export const deliveryListSchema = z.object({ deliveries: z.array(deliverySchema), has_more: z.boolean() });
export const webhookCallSchema = z.object({
  delivered: z.boolean().meta({ description: "`true` if your endpoint returned a 2xx status." }),
  response_status: z.int().meta({ description: "HTTP status; 0 if there was no response." }),
  duration_ms: z.int(),
});
export const recoverWebhookSchema = z
  .object({
    since: instantSchema.meta({
      format: "date-time",
      description: "Time in ISO 8601, not in the future. Deliveries whose last attempt failed at or after this time are sent again.",
      example: "2026-03-05T09:12:00.000Z",
    }),
  })
  .openapi("WebhookRecovery");
export const webhookRecoverySchema = z.object({
  queued: z.int().meta({ description: "Number of deliveries that will be sent again, at most 10 per second, oldest event first." }),
  has_more: z.boolean().meta({
    description:
      "`true` if more than 10,000 deliveries failed. This request queued only the 10,000 with the oldest events. Repeat it after they have been sent.",
  }),
});
export const deliveryReplaySchema = webhookCallSchema.extend({ delivery: deliverySchema });

export const createdWebhookToWire = (endpoint: RegisteredEndpoint): z.input<typeof createdWebhookSchema> =>
  toWire(createdWebhookSchema, endpoint);

const unknownHealth = {
  lastDeliveryAt: null,
  lastResponseStatus: null,
  consecutiveFailures: null,
  failingSince: null,
  backlog: null,
  oldestPendingAt: null,
};
export const webhookToWire = ({ endpoint, environment, health }: EndpointState): z.input<typeof webhookSchema> =>
  toWire(webhookSchema, { ...(health ?? unknownHealth), ...endpoint, events: endpoint.events ?? standardEventTypes, environment });

export const rotatedSecretToWire = (secret: RotatedSecret): z.input<typeof rotatedSecretSchema> =>
  toWire(rotatedSecretSchema, { ...secret, previousSecretUntil: secret.previousUntil });

export const deliveryListToWire = ({ deliveries, hasMore }: DeliveryPage): z.input<typeof deliveryListSchema> => ({
  deliveries: deliveries.map((delivery) => toWire(deliverySchema, delivery)),
  has_more: hasMore,
});

export const deliveryDetailToWire = (detail: OpenedDelivery): z.input<typeof deliveryDetailSchema> => ({
  delivery: toWire(deliverySchema, detail.delivery),
  request_body: detail.requestBody,
  withheld: detail.isWithheld,
  attempts: detail.attempts.map(({ exchange, ...attempt }) =>
    toWire(attemptSchema, {
      ...attempt,
      resend: attempt.isResend,
      requestHeaders: headersToWire(exchange?.requestHeaders),
      responseHeaders: headersToWire(exchange?.response?.headers),
      responseBody: exchange?.response?.body ?? null,
      responseCut: exchange?.response?.isCut ?? false,
    }),
  ),
});

export const deliveryReplayToWire = (replay: ReplayOutcome): z.input<typeof deliveryReplaySchema> => ({
  ...toWire(webhookCallSchema, replay),
  delivery: toWire(deliverySchema, replay.delivery),
});
