// Describes the body of each type of webhook event for the OpenAPI document. All bodies have the same members as events in the feed. The
// types differ only in the IDs that are set and in the values in `data`.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { EventType } from "../../../core/events/event.ts";
import type { AppEnv } from "../../http/context.ts";
import { timeSchema } from "../../http/wire.ts";
import { eventExample } from "./schema.ts";

const shareIdSchema = z.string().meta({ example: "shr_00m4q8x1c7b5n0t6w2h9k3v9d2" });
const certIdSchema = z.string().meta({ example: eventExample.cert_id });

/** Schemas of the IDs, by the kind of record that the event is about. */
const subjectIdSchemas = {
  share: { share_id: shareIdSchema, cert_id: z.null() },
  certificate: { share_id: z.null(), cert_id: certIdSchema },
  either: { share_id: shareIdSchema.nullable(), cert_id: certIdSchema.nullable() },
  nothing: { share_id: z.null(), cert_id: z.null() },
} as const;

interface WebhookEventDescription {
  readonly subject: keyof typeof subjectIdSchemas;
  readonly when: string;
  /** For an update: the name and an example of each new value in `data`. */
  readonly values?: readonly (readonly [name: string, example: string])[];
}

const optInNote = "Sent only if you set `emit_certificate_issued` in your profile and select this type for the endpoint.";

const webhookEventDescriptions: Readonly<Record<EventType | "test.ping", WebhookEventDescription>> = {
  "share.created": { subject: "share", when: "A person shared contact fields with you." },
  "share.expiring": { subject: "share", when: "A share will expire soon. Sent 7 days and 1 day before the share expires." },
  "share.expired": { subject: "share", when: "A share expired. You may no longer use the person's data from this share." },
  "share.revoked": {
    subject: "share",
    when: "The person revoked the share. You must stop contacting the person by the share's `cease_by` deadline.",
  },
  "share.renewed": {
    subject: "share",
    when: "The person renewed a share. `share_id` is the new share, which replaces the old one.",
  },
  "business.ceased": {
    subject: "either",
    when: "You confirmed that you have stopped contacting the person. Either `share_id` or `cert_id` is set.",
  },
  "consumer.updated.email": {
    subject: "share",
    when: "The person changed their email address, which is in the scope of an active share.",
    values: [["email", "pat@example.com"]],
  },
  "consumer.updated.phone": {
    subject: "share",
    when: "The person changed their phone number, which is in the scope of an active share.",
    values: [["phone", "+12025550123"]],
  },
  "consumer.updated.address": {
    subject: "share",
    when: "The person changed their postal address, which is in the scope of an active share. `data` contains only the fields in scope.",
    values: [
      ["address_line1", "12 Long Street"],
      ["address_line2", "Apartment 3"],
      ["city", "Testville"],
      ["state", "CA"],
      ["zip", "94000"],
      ["country", "US"],
    ],
  },
  "consumer.updated.name": {
    subject: "share",
    when: "The person changed their name, which is in the scope of an active share.",
    values: [
      ["first_name", "Pat"],
      ["last_name", "Example"],
    ],
  },
  "certificate.revoked": {
    subject: "certificate",
    when: "Consent was withdrawn. Recipients must stop contacting the person by the end of the tenth business day (UTC); see `cease_by` on the certificate.",
  },
  "certificate.issued": { subject: "certificate", when: `A certificate was issued. ${optInNote}` },
  "certificate.entities_withdrawn": {
    subject: "certificate",
    when: `The person withdrew consent for some recipients. The certificate stays active for the others. ${optInNote}`,
  },
  "test.ping": {
    subject: "nothing",
    when: "A member of your business sent a test event. It is not in the event feed, and its `seq` is 0.",
  },
};

const updatedValuesSchema = (values: NonNullable<WebhookEventDescription["values"]>) =>
  z.object(Object.fromEntries(values.map(([name, example]) => [name, z.string().nullable().optional().meta({ example })])));

const schemaNameFromType = (type: string): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const webhookBodySchema = (type: string, { subject, values }: WebhookEventDescription) =>
  z
    .object({
      id: z.uuid().meta({
        description: "ID of the event. All deliveries of an event have the same ID, so you can detect duplicates.",
        example: eventExample.id,
      }),
      type: z.literal(type),
      created_at: timeSchema.meta({ example: eventExample.created_at }),
      ...subjectIdSchemas[subject],
      data:
        values === undefined
          ? z.null()
          : updatedValuesSchema(values).nullable().meta({ description: "The new values. `null` if the share is no longer active." }),
      seq: z
        .int()
        .meta({ description: "Position of the event in your event sequence.", example: type === "test.ping" ? 0 : eventExample.seq }),
    })
    .openapi(schemaNameFromType(type));

/** Registers the webhooks on the whole app. On a mounted app, `route` would turn the names of the webhooks into paths. */
export const describeWebhooks = ({ openAPIRegistry }: OpenAPIHono<AppEnv>): void => {
  const webhookHeaders = z.object({
    "Svc-Signature": z.string().meta({
      description:
        "`t=<unix seconds>,v1=<hex>`: HMAC-SHA-256 of `<t>.<raw body>` with the endpoint's secret. After a secret is replaced, there is a `v1` for the new and for the previous secret: for 24 hours if you rotated it, or for 7 days if the operator did. Verify the signature before you parse the body.",
      example: "t=1763632800,v1=250028caefb951519f8204bbee7b86e5fc5e189ec0dcf003256a39a5beea9ec6",
    }),
    "Svc-Delivery-Id": z.string().meta({
      description: "ID of the delivery. Starts with `dlv_`.",
      example: "dlv_00m4q8x1c7b5n0t6w2h9k3v9d2",
    }),
    "Svc-Attempt": z.string().meta({
      description: "Number of the scheduled attempt, 1 to 5. A delivery that is sent again has the number of its last attempt.",
      example: "1",
    }),
  });

  for (const [type, description] of Object.entries(webhookEventDescriptions)) {
    openAPIRegistry.registerWebhook({
      method: "post",
      path: type,
      operationId: `on${schemaNameFromType(type).replace(/Event$/, "")}`,
      tags: ["events"],
      summary: type,
      description: description.when,
      security: [],
      request: {
        headers: webhookHeaders,
        body: { required: true, content: { "application/json": { schema: webhookBodySchema(type, description) } } },
      },
      responses: {
        "2XX": {
          description:
            "Delivered. With any other status, or without a response within 10 seconds, the attempt fails. A delivery is attempted at most 5 times.",
        },
      },
    });
  }
};
