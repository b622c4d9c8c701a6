// What webhook management takes and gives, with the worked examples of its description.
import { z } from "@hono/zod-openapi";
import { choosableEventTypes, longestDescription } from "../../operations/webhooks.ts";

export const exampleId = "whk_00m4x8c1v6b3n9q2t7w0h5k3d8";
const exampleDeliveryId = "dlv_00m4x8c7v5b2n0q9t3w6h1k4d0";
export const exampleSecret = "whsec_ExampleOfASecretThatIsNotASecret0123456789AB=";

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
  .openapi({ description: `For people, at most ${longestDescription} characters on one line.`, example: "CRM" });

export const createSchema = z
  .strictObject({ url: urlSchema, events: eventsSchema.nullish(), description: descriptionSchema.nullish() })
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

export const webhookParam = z.object({
  webhook_id: z.string().openapi({ description: "Id of the endpoint, prefix `whk_`.", example: exampleId }),
});
export const deliveryParam = z.object({
  delivery_id: z.string().openapi({ description: "Id of the delivery, prefix `dlv_`.", example: exampleDeliveryId }),
});

export const usualLimit = 50;
export const mostAPage = 100;
export const deliveriesQuery = z.object({
  limit: z
    .string()
    .regex(/^[1-9]\d{0,39}$/)
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      minimum: 1,
      default: usualLimit,
      description: `At most ${mostAPage}; larger is answered as ${mostAPage}.`,
    }),
  before: z
    .string()
    .optional()
    .openapi({ description: "Id of the last delivery of the page before; the page goes on behind it.", example: exampleDeliveryId }),
});

const time = z.string().openapi({ format: "date-time" });
const statusSchema = z.enum(["enabled", "disabled"]);
const common = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()).openapi({ description: "Types it receives." }),
  description: z.string().nullable(),
  status: statusSchema,
};
export const createdSchema = z
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
export const deliverySchema = z
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
export const called = {
  delivered: z.boolean().openapi({ description: "True for any 2xx." }),
  response_status: z.int().openapi({ description: "0 when nobody answered." }),
  duration_ms: z.int(),
};

export const commonExample = {
  id: exampleId,
  url: "https://hooks.example.com/svc",
  events: ["share.revoked", "certificate.revoked"],
  description: "CRM",
  status: "enabled",
};
export const webhookExample = {
  ...commonExample,
  secret_hint: "whsec_…9AB=",
  created_at: "2026-03-04T05:06:07.089Z",
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
