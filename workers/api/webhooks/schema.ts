// The wire of webhook management: what it takes and gives.
import { z } from "@hono/zod-openapi";
import { standardEventTypes } from "../../../core/events/event.ts";
import { parseDeliveryId, parseWebhookId } from "../../../core/ids.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import type { Delivery, RecoveryResult, RegisteredEndpoint } from "../../../core/webhooks/endpoint.ts";
import { selectableEventTypes, maxDescriptionLength } from "../../../core/webhooks/event-selection.ts";
import { environmentSchema, idParamSchema, idSchema, limitSchema, timeSchema, instantSchema } from "../../http/wire.ts";
import type { CallOutcome } from "../../operations/webhooks/call-outcome.ts";
import type { DeliveryPage } from "../../operations/webhooks/list-deliveries.ts";
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

export const webhookRequestExample = { url: commonExample.url, events: commonExample.events, description: commonExample.description };
export const createdWebhookExample = { ...commonExample, secret: exampleSecret, created_at: exampleCreatedAt };
export const webhookSecretExample = { id: exampleWebhookId, secret: exampleSecret };
export const rotatedSecretExample = { ...webhookSecretExample, previous_secret_until: "2026-03-05T05:06:07.089Z" };
export const webhookRecoveryExample = { queued: 41, has_more: false };
export const webhookCallExample = { delivered: true, response_status: 200, duration_ms: 184 };

const urlSchema = z.string().openapi({
  description:
    "Where events are posted: https, a public host name, port 443 or 8443, at most 2,048 characters, without user, password or fragment.",
  example: "https://hooks.example.com/svc",
});
const eventsSchema = z.array(z.string()).openapi({
  description: `Types to receive, of: ${selectableEventTypes.map((type) => `\`${type}\``).join(", ")}. Left out or null: all but \`certificate.issued\`, and those that come later.`,
  example: ["certificate.revoked", "share.revoked"],
});
const descriptionSchema = z
  .string()
  .openapi({ description: `For people, at most ${maxDescriptionLength} characters on one line.`, example: "CRM" });

const webhookEnvironmentSchema = environmentSchema.openapi({ description: "Of which records it hears.", example: "live" });

export const createWebhookSchema = z
  .strictObject({
    url: urlSchema,
    events: eventsSchema.nullish(),
    description: descriptionSchema.nullish(),
    environment: environmentSchema
      .optional()
      .openapi({ description: "Of which records it is to hear, for good: `live` unless given.", example: "live" }),
  })
  .openapi("WebhookRequest");
export const updateWebhookSchema = z
  .object({
    url: urlSchema.optional(),
    events: eventsSchema.nullish(),
    description: descriptionSchema.nullish(),
    status: z
      .enum(["enabled", "disabled"])
      .optional()
      .openapi({ description: "`disabled` keeps what happens meanwhile and sends it when enabled again.", example: "enabled" }),
  })
  .openapi("WebhookChange");

export const webhookIdParamSchema = z.object({
  webhook_id: idParamSchema(parseWebhookId, "Id of the endpoint, prefix `whk_`.", exampleWebhookId),
});
export const deliveryIdParamSchema = z.object({
  delivery_id: idParamSchema(parseDeliveryId, "Id of the delivery, prefix `dlv_`.", exampleDeliveryId),
});

export const deliveryListQuerySchema = z.object({
  limit: limitSchema(50, 100),
  before: idSchema(parseDeliveryId, "must be the id of a delivery to this endpoint").nullable().default(null).openapi({
    type: "string",
    description: "Id of the last delivery of the page before; the page goes on behind it.",
    example: exampleDeliveryId,
  }),
});

const webhookStatusSchema = z.enum(["enabled", "disabled"]);
const commonFields = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).openapi({ description: "Types it receives." }),
  description: z.string().nullable(),
  status: webhookStatusSchema,
  environment: webhookEnvironmentSchema,
};
export const createdWebhookSchema = z
  .object({
    ...commonFields,
    secret: z.string().openapi({ description: "Signs every delivery. Shown here once; an owner can have it shown again." }),
    created_at: timeSchema,
  })
  .openapi("CreatedWebhook");
export const webhookSchema = z
  .object({
    ...commonFields,
    secret_hint: z.string().openapi({ description: "The end of the secret in force." }),
    created_at: timeSchema,
    last_delivery_at: timeSchema.nullable().openapi({ description: "When the last attempt ended, well or not." }),
    last_response_status: z.int().nullable().openapi({ description: "Null when nobody answered, or nothing was sent yet." }),
    consecutive_failures: z
      .int()
      .nullable()
      .openapi({ description: "Attempts failed since the last success; null when nobody can tell just now." }),
    failing_since: timeSchema.nullable().openapi({ description: "The first of them." }),
    backlog: z.int().nullable().openapi({ description: "Deliveries that wait or are tried again." }),
    oldest_pending_at: timeSchema.nullable().openapi({ description: "When the event of the oldest of them happened." }),
  })
  .openapi("Webhook");
export const webhookSecretSchema = z.object({ id: z.string(), secret: z.string() }).openapi("WebhookSecret");
export const rotatedSecretSchema = z
  .object({
    id: z.string(),
    secret: z.string().openapi({ description: "The new secret." }),
    previous_secret_until: timeSchema.openapi({ description: "Until then the one before signs too." }),
  })
  .openapi("RotatedSecret");
const deliverySchema = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    status: z.enum(["pending", "retrying", "success", "abandoned"]),
    attempt: z.int().openapi({ description: "Scheduled attempts made, of five; replays are not counted." }),
    response_status: z.int().nullable().openapi({ description: "Of the last attempt; null when nobody answered." }),
    error: z
      .enum(["timeout", "dns", "tls", "connection", "http"])
      .nullable()
      .openapi({ description: "`http`: an answer that is not 2xx." }),
    duration_ms: z.int().nullable(),
    next_attempt_at: timeSchema.nullable(),
    delivered_at: timeSchema.nullable(),
    created_at: timeSchema,
  })
  .openapi("Delivery");
export const deliveryListSchema = z.object({ deliveries: z.array(deliverySchema), has_more: z.boolean() });
export const webhookCallSchema = z.object({
  delivered: z.boolean().openapi({ description: "True for any 2xx." }),
  response_status: z.int().openapi({ description: "0 when nobody answered." }),
  duration_ms: z.int(),
});
export const recoverWebhookSchema = z
  .object({
    since: instantSchema.openapi({
      format: "date-time",
      description: "From this moment on, ISO 8601, not in the future.",
      example: "2026-03-05T09:12:00.000Z",
    }),
  })
  .openapi("WebhookRecovery");
export const webhookRecoverySchema = z.object({
  queued: z.int().openapi({ description: "Deliveries that go out again now, the oldest event first, at most ten a second." }),
  has_more: z.boolean().openapi({ description: "More failed than go at one time (10,000): call again when these are out." }),
});
export const webhookRecoveryToWire = ({ queued, hasMore }: RecoveryResult): z.input<typeof webhookRecoverySchema> => ({
  queued,
  has_more: hasMore,
});

export const deliveryReplaySchema = webhookCallSchema.extend({ delivery: deliverySchema });

export const createdWebhookToWire = (endpoint: RegisteredEndpoint): z.input<typeof createdWebhookSchema> => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...endpoint.events],
  description: endpoint.description,
  status: endpoint.status,
  environment: endpoint.environment,
  secret: endpoint.secret,
  created_at: toIso(endpoint.createdAt),
});

export const webhookToWire = ({ endpoint, environment, health }: EndpointState): z.input<typeof webhookSchema> => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...(endpoint.events ?? standardEventTypes)],
  description: endpoint.description,
  status: endpoint.status,
  environment,
  secret_hint: endpoint.secretHint,
  created_at: toIso(endpoint.createdAt),
  last_delivery_at: toIsoOrNull(health?.lastDeliveryAt ?? null),
  last_response_status: health?.lastResponseStatus ?? null,
  consecutive_failures: health?.consecutiveFailures ?? null,
  failing_since: toIsoOrNull(health?.failingSince ?? null),
  backlog: health?.backlog ?? null,
  oldest_pending_at: toIsoOrNull(health?.oldestPendingAt ?? null),
});

export const rotatedSecretToWire = ({ id, secret, previousUntil }: RotatedSecret): z.input<typeof rotatedSecretSchema> => ({
  id,
  secret,
  previous_secret_until: toIso(previousUntil),
});

const deliveryToWire = (delivery: Delivery): z.input<typeof deliverySchema> => ({
  id: delivery.id,
  webhook_id: delivery.webhookId,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  status: delivery.status,
  attempt: delivery.attempt,
  response_status: delivery.responseStatus,
  error: delivery.error,
  duration_ms: delivery.durationMs,
  next_attempt_at: toIsoOrNull(delivery.nextAttemptAt),
  delivered_at: toIsoOrNull(delivery.deliveredAt),
  created_at: toIso(delivery.createdAt),
});

export const deliveryListToWire = ({ deliveries, hasMore }: DeliveryPage): z.input<typeof deliveryListSchema> => ({
  deliveries: deliveries.map(deliveryToWire),
  has_more: hasMore,
});

export const webhookCallToWire = ({ delivered, responseStatus, durationMs }: CallOutcome): z.input<typeof webhookCallSchema> => ({
  delivered,
  response_status: responseStatus,
  duration_ms: durationMs,
});

export const deliveryReplayToWire = (replay: ReplayOutcome): z.input<typeof deliveryReplaySchema> => ({
  ...webhookCallToWire(replay),
  delivery: deliveryToWire(replay.delivery),
});
