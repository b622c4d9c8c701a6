// What is posted to an endpoint, type by type: the `webhooks` of the description. The body is the event of the feed; what differs is
// what it is about, and whether it carries values.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { EventType } from "../../../core/events/event.ts";
import type { AppEnv } from "../../http/context.ts";
import { timeSchema } from "../../http/wire.ts";
import { eventExample } from "./schema.ts";

const shareIdSchema = z.string().openapi({ example: "shr_00m4q8x1c7b5n0t6w2h9k3v9d2" });
const certIdSchema = z.string().openapi({ example: eventExample.cert_id });

/** Which record an event names: the ids that are set. */
const subjectIdSchemas = {
  share: { share_id: shareIdSchema, cert_id: z.null() },
  certificate: { share_id: z.null(), cert_id: certIdSchema },
  either: { share_id: shareIdSchema.nullable(), cert_id: certIdSchema.nullable() },
  nothing: { share_id: z.null(), cert_id: z.null() },
} as const;

interface WebhookEventDescription {
  readonly subject: keyof typeof subjectIdSchemas;
  /** A sentence: when it is sent. */
  readonly when: string;
  /** The new values in `data`, of an update. */
  readonly values?: z.ZodObject;
}

const updatedValuesSchema = (names: readonly [name: string, example: string][]): z.ZodObject =>
  z.object(Object.fromEntries(names.map(([name, example]) => [name, z.string().nullable().optional().openapi({ example })])));

const optInNote = "Off: sent to endpoints that name it, for a business that asks for it.";

const webhookEventDescriptions: Readonly<Record<EventType | "test.ping", WebhookEventDescription>> = {
  "share.created": { subject: "share", when: "A person shared details with you." },
  "share.expiring": { subject: "share", when: "A share ends by itself in 7 days, and again in one day." },
  "share.expired": { subject: "share", when: "A share has ended by itself. What you got under it may no longer be used." },
  "share.revoked": { subject: "share", when: "The person stopped the share. The deadline to cease contact has begun." },
  "share.renewed": {
    subject: "share",
    when: "The person consented again: `share_id` is the new share, which takes the place of the old one.",
  },
  "business.ceased": { subject: "either", when: "You acknowledged that contact has ceased. One of the two ids is set." },
  "consumer.updated.email": {
    subject: "share",
    when: "The person changed the address, and an active share holds it.",
    values: updatedValuesSchema([["email", "pat@example.com"]]),
  },
  "consumer.updated.phone": {
    subject: "share",
    when: "The person changed the telephone number, and an active share holds it.",
    values: updatedValuesSchema([["phone", "+12025550123"]]),
  },
  "consumer.updated.address": {
    subject: "share",
    when: "The person changed the postal address, and an active share holds it. Only what the share holds is there.",
    values: updatedValuesSchema([
      ["address_line1", "12 Long Street"],
      ["address_line2", "Apartment 3"],
      ["city", "Testville"],
      ["state", "CA"],
      ["zip", "94000"],
      ["country", "US"],
    ]),
  },
  "consumer.updated.name": {
    subject: "share",
    when: "The person changed their name, and an active share holds it.",
    values: updatedValuesSchema([
      ["first_name", "Pat"],
      ["last_name", "Example"],
    ]),
  },
  "certificate.revoked": {
    subject: "certificate",
    when: "Consent was withdrawn. Recipients must cease contact by the end of the tenth business day; `cease_by` stands on the certificate.",
  },
  "certificate.issued": { subject: "certificate", when: `A certificate was issued. ${optInNote}` },
  "certificate.entities_withdrawn": {
    subject: "certificate",
    when: `The person withdrew from some recipients; the certificate stays active for the others, and names them. ${optInNote}`,
  },
  "test.ping": { subject: "nothing", when: "Somebody of yours asked for a test. It stands in no feed, and its `seq` is 0." },
};

const schemaNameFromType = (type: string): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const webhookBodySchema = (type: string, { subject: record, values: changed }: WebhookEventDescription) =>
  z
    .object({
      id: z.uuid().openapi({ description: "The same in every copy: tell repeats apart by it.", example: eventExample.id }),
      type: z.literal(type),
      created_at: timeSchema.openapi({ example: eventExample.created_at }),
      ...subjectIdSchemas[record],
      data:
        changed === undefined
          ? z.null()
          : changed.nullable().openapi({ description: "The new values; null once the share is no longer active." }),
      seq: z.int().openapi({ description: "Place in your sequence.", example: type === "test.ping" ? 0 : eventExample.seq }),
    })
    .openapi(schemaNameFromType(type));

/** Of every delivery. */
const webhookHeaders = z.object({
  "Svc-Signature": z.string().openapi({
    description: "`t=<unix seconds>,v1=<hex>`: HMAC-SHA-256 over `<t>.<raw body>` with the endpoint's secret. Check it before you parse.",
    example: "t=1763632800,v1=250028caefb951519f8204bbee7b86e5fc5e189ec0dcf003256a39a5beea9ec6",
  }),
  "Svc-Delivery-Id": z.string().openapi({
    description: "The delivery, as in the list of deliveries.",
    example: "dlv_00m4q8x1c7b5n0t6w2h9k3v9d2",
  }),
  "Svc-Attempt": z.string().openapi({ description: "1 to 5; a delivery is tried five times.", example: "1" }),
});

/** Registered on the whole app: put through `route`, a name would be taken for a path. */
export const describeWebhooks = ({ openAPIRegistry }: OpenAPIHono<AppEnv>): void => {
  for (const [type, told] of Object.entries(webhookEventDescriptions)) {
    openAPIRegistry.registerWebhook({
      method: "post",
      path: type,
      operationId: `on${schemaNameFromType(type).replace(/Event$/, "")}`,
      tags: ["events"],
      summary: type,
      description: told.when,
      security: [],
      request: {
        headers: webhookHeaders,
        body: { required: true, content: { "application/json": { schema: webhookBodySchema(type, told) } } },
      },
      responses: { "2XX": { description: "Taken. Any other answer, and none within ten seconds, is tried again." } },
    });
  }
};
