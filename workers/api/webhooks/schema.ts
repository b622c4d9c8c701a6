// The wire of webhook management: what it takes and gives.
import { z } from "@hono/zod-openapi";
import { eventTypes } from "../../../core/events/event.ts";
import { deliveryIdOf, webhookIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import type { Delivery, Recovery, RegisteredEndpoint } from "../../../core/webhooks/endpoint.ts";
import { choosableEventTypes, maxDescriptionLength } from "../../../core/webhooks/management.ts";
import { environmentSchema, idParam, idText, limitParam, time, instant } from "../../http/wire.ts";
import type { CallOutcome, DeliveryPage, ReplayOutcome } from "../../operations/webhooks/deliveries.ts";
import type { EndpointState } from "../../operations/webhooks/endpoints.ts";
import type { RotatedSecret } from "../../operations/webhooks/secrets.ts";

export const exampleId = "whk_00m4x8c1v6b3n9q2t7w0h5k3d8";
const exampleDeliveryId = "dlv_00m4x8c7v5b2n0q9t3w6h1k4d0";
const exampleSecret = "whsec_ExampleOfASecretThatIsNotASecret0123456789AB=";
const createdAt = "2026-03-04T05:06:07.089Z";

const commonExample = {
  id: exampleId,
  url: "https://hooks.example.com/svc",
  events: ["share.revoked", "certificate.revoked"],
  description: "CRM",
  environment: "live",
  status: "enabled",
};
export const webhookExample = {
  ...commonExample,
  secret_hint: "whsec_…9AB=",
  created_at: createdAt,
  last_delivery_at: "2026-03-05T10:00:00.250Z",
  last_response_status: 200,
  consecutive_failures: 0,
  failing_since: null,
  backlog: 0,
  oldest_pending_at: null,
};
export const deliveryExample = {
  id: exampleDeliveryId,
  webhook_id: exampleId,
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

export const requestExample = { url: commonExample.url, events: commonExample.events, description: commonExample.description };
export const registeredExample = { ...commonExample, secret: exampleSecret, created_at: createdAt };
export const secretExample = { id: exampleId, secret: exampleSecret };
export const rotatedExample = { ...secretExample, previous_secret_until: "2026-03-05T05:06:07.089Z" };
export const recoveryExample = { queued: 41, has_more: false };
export const callExample = { delivered: true, response_status: 200, duration_ms: 184 };

const urlSchema = z.string().openapi({
  description:
    "Where events are posted: https, a public host name, port 443 or 8443, at most 2,048 characters, without user, password or fragment.",
  example: "https://hooks.example.com/svc",
});
const eventsSchema = z.array(z.string()).openapi({
  description: `Types to receive, of: ${choosableEventTypes.map((type) => `\`${type}\``).join(", ")}. Left out or null: all but \`certificate.issued\`, and those that come later.`,
  example: ["certificate.revoked", "share.revoked"],
});
const descriptionSchema = z
  .string()
  .openapi({ description: `For people, at most ${maxDescriptionLength} characters on one line.`, example: "CRM" });

const environment = environmentSchema.openapi({ description: "Of which records it hears.", example: "live" });

export const createSchema = z
  .strictObject({
    url: urlSchema,
    events: eventsSchema.nullish(),
    description: descriptionSchema.nullish(),
    environment: environmentSchema
      .optional()
      .openapi({ description: "Of which records it is to hear, for good: `live` unless given.", example: "live" }),
  })
  .openapi("WebhookRequest");
export const changeSchema = z
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

export const webhookParam = z.object({ webhook_id: idParam(webhookIdOf, "Id of the endpoint, prefix `whk_`.", exampleId) });
export const deliveryParam = z.object({ delivery_id: idParam(deliveryIdOf, "Id of the delivery, prefix `dlv_`.", exampleDeliveryId) });

export const deliveriesQuery = z.object({
  limit: limitParam(50, 100),
  before: idText(deliveryIdOf, "must be the id of a delivery to this endpoint").nullable().default(null).openapi({
    type: "string",
    description: "Id of the last delivery of the page before; the page goes on behind it.",
    example: exampleDeliveryId,
  }),
});

const statusSchema = z.enum(["enabled", "disabled"]);
const common = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).openapi({ description: "Types it receives." }),
  description: z.string().nullable(),
  status: statusSchema,
  environment,
};
export const registeredSchema = z
  .object({
    ...common,
    secret: z.string().openapi({ description: "Signs every delivery. Shown here once; an owner can have it shown again." }),
    created_at: time,
  })
  .openapi("CreatedWebhook");
export const webhookSchema = z
  .object({
    ...common,
    secret_hint: z.string().openapi({ description: "The end of the secret in force." }),
    created_at: time,
    last_delivery_at: time.nullable().openapi({ description: "When the last attempt ended, well or not." }),
    last_response_status: z.int().nullable().openapi({ description: "Null when nobody answered, or nothing was sent yet." }),
    consecutive_failures: z
      .int()
      .nullable()
      .openapi({ description: "Attempts failed since the last success; null when nobody can tell just now." }),
    failing_since: time.nullable().openapi({ description: "The first of them." }),
    backlog: z.int().nullable().openapi({ description: "Deliveries that wait or are tried again." }),
    oldest_pending_at: time.nullable().openapi({ description: "When the event of the oldest of them happened." }),
  })
  .openapi("Webhook");
export const secretSchema = z.object({ id: z.string(), secret: z.string() }).openapi("WebhookSecret");
export const rotatedSchema = z
  .object({
    id: z.string(),
    secret: z.string().openapi({ description: "The new secret." }),
    previous_secret_until: time.openapi({ description: "Until then the one before signs too." }),
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
    next_attempt_at: time.nullable(),
    delivered_at: time.nullable(),
    created_at: time,
  })
  .openapi("Delivery");
export const deliveriesSchema = z.object({ deliveries: z.array(deliverySchema), has_more: z.boolean() });
export const callSchema = z.object({
  delivered: z.boolean().openapi({ description: "True for any 2xx." }),
  response_status: z.int().openapi({ description: "0 when nobody answered." }),
  duration_ms: z.int(),
});
export const recoverSchema = z
  .object({
    since: instant.openapi({
      format: "date-time",
      description: "From this moment on, ISO 8601, not in the future.",
      example: "2026-03-05T09:12:00.000Z",
    }),
  })
  .openapi("WebhookRecovery");
export const recoverySchema = z.object({
  queued: z.int().openapi({ description: "Deliveries that go out again now, the oldest event first, at most ten a second." }),
  has_more: z.boolean().openapi({ description: "More failed than go at one time (10,000): call again when these are out." }),
});
export const recoveryToWire = ({ queued, hasMore }: Recovery): z.input<typeof recoverySchema> => ({ queued, has_more: hasMore });

export const replaySchema = callSchema.extend({ delivery: deliverySchema });

export const registeredToWire = (endpoint: RegisteredEndpoint): z.input<typeof registeredSchema> => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...endpoint.events],
  description: endpoint.description,
  status: endpoint.status,
  environment: endpoint.environment,
  secret: endpoint.secret,
  created_at: isoOf(endpoint.createdAt),
});

export const webhookToWire = ({ endpoint, environment, health }: EndpointState): z.input<typeof webhookSchema> => ({
  id: endpoint.id,
  url: endpoint.url,
  events: [...(endpoint.events ?? eventTypes)],
  description: endpoint.description,
  status: endpoint.status,
  environment,
  secret_hint: endpoint.secretHint,
  created_at: isoOf(endpoint.createdAt),
  last_delivery_at: isoOrNull(health?.lastDeliveryAt ?? null),
  last_response_status: health?.lastResponseStatus ?? null,
  consecutive_failures: health?.consecutiveFailures ?? null,
  failing_since: isoOrNull(health?.failingSince ?? null),
  backlog: health?.backlog ?? null,
  oldest_pending_at: isoOrNull(health?.oldestPendingAt ?? null),
});

export const rotatedToWire = ({ id, secret, previousUntil }: RotatedSecret): z.input<typeof rotatedSchema> => ({
  id,
  secret,
  previous_secret_until: isoOf(previousUntil),
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
  next_attempt_at: isoOrNull(delivery.nextAttemptAt),
  delivered_at: isoOrNull(delivery.deliveredAt),
  created_at: isoOf(delivery.createdAt),
});

export const deliveriesToWire = ({ deliveries, hasMore }: DeliveryPage): z.input<typeof deliveriesSchema> => ({
  deliveries: deliveries.map(deliveryToWire),
  has_more: hasMore,
});

export const callToWire = ({ delivered, responseStatus, durationMs }: CallOutcome): z.input<typeof callSchema> => ({
  delivered,
  response_status: responseStatus,
  duration_ms: durationMs,
});

export const replayToWire = (replay: ReplayOutcome): z.input<typeof replaySchema> => ({
  ...callToWire(replay),
  delivery: deliveryToWire(replay.delivery),
});
