// What is posted to an endpoint, type by type: the `webhooks` of the description. The body is the event of the feed; what differs is
// what it is about, and whether it carries values.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { EventType } from "../../../core/events/event.ts";
import type { Api } from "../../http/context.ts";
import { time } from "../../http/wire.ts";
import { eventExample } from "./schema.ts";

const shareId = z.string().openapi({ example: "shr_00m4q8x1c7b5n0t6w2h9k3v9d2" });
const certId = z.string().openapi({ example: eventExample.cert_id });

/** Which record an event names: the ids that are set. */
const about = {
  share: { share_id: shareId, cert_id: z.null() },
  certificate: { share_id: z.null(), cert_id: certId },
  either: { share_id: shareId.nullable(), cert_id: certId.nullable() },
  nothing: { share_id: z.null(), cert_id: z.null() },
} as const;

interface Sent {
  readonly about: keyof typeof about;
  /** A sentence: when it is sent. */
  readonly when: string;
  /** The new values in `data`, of an update. */
  readonly values?: z.ZodObject;
}

const values = (names: readonly [name: string, example: string][]): z.ZodObject =>
  z.object(Object.fromEntries(names.map(([name, example]) => [name, z.string().nullable().optional().openapi({ example })])));

const notByDefault = "Off: sent to endpoints that name it, for a business that asks for it.";

const sent: Readonly<Record<EventType | "test.ping", Sent>> = {
  "share.created": { about: "share", when: "A person shared details with you." },
  "share.expiring": { about: "share", when: "A share ends by itself in 7 days, and again in one day." },
  "share.expired": { about: "share", when: "A share has ended by itself. What you got under it may no longer be used." },
  "share.revoked": { about: "share", when: "The person stopped the share. The deadline to cease contact has begun." },
  "share.renewed": {
    about: "share",
    when: "The person consented again: `share_id` is the new share, which takes the place of the old one.",
  },
  "business.ceased": { about: "either", when: "You acknowledged that contact has ceased. One of the two ids is set." },
  "consumer.updated.email": {
    about: "share",
    when: "The person changed the address, and an active share holds it.",
    values: values([["email", "pat@example.com"]]),
  },
  "consumer.updated.phone": {
    about: "share",
    when: "The person changed the telephone number, and an active share holds it.",
    values: values([["phone", "+12025550123"]]),
  },
  "consumer.updated.address": {
    about: "share",
    when: "The person changed the postal address, and an active share holds it. Only what the share holds is there.",
    values: values([
      ["address_line1", "12 Long Street"],
      ["address_line2", "Apartment 3"],
      ["city", "Testville"],
      ["state", "CA"],
      ["zip", "94000"],
      ["country", "US"],
    ]),
  },
  "consumer.updated.name": {
    about: "share",
    when: "The person changed their name, and an active share holds it.",
    values: values([
      ["first_name", "Pat"],
      ["last_name", "Example"],
    ]),
  },
  "certificate.revoked": {
    about: "certificate",
    when: "Consent was withdrawn. Recipients must cease contact by the end of the tenth business day; `cease_by` stands on the certificate.",
  },
  "certificate.issued": { about: "certificate", when: `A certificate was issued. ${notByDefault}` },
  "certificate.entities_withdrawn": {
    about: "certificate",
    when: `The person withdrew from some recipients; the certificate stays active for the others, and names them. ${notByDefault}`,
  },
  "test.ping": { about: "nothing", when: "Somebody of yours asked for a test. It stands in no feed, and its `seq` is 0." },
};

const nameOf = (type: string): string => `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const bodyOf = (type: string, { about: record, values: changed }: Sent) =>
  z
    .object({
      id: z.uuid().openapi({ description: "The same in every copy: tell repeats apart by it.", example: eventExample.id }),
      type: z.literal(type),
      created_at: time.openapi({ example: eventExample.created_at }),
      ...about[record],
      data:
        changed === undefined
          ? z.null()
          : changed.nullable().openapi({ description: "The new values; null once the share is no longer active." }),
      seq: z.int().openapi({ description: "Place in your sequence.", example: type === "test.ping" ? 0 : eventExample.seq }),
    })
    .openapi(nameOf(type));

/** Of every delivery. */
const headers = z.object({
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
export const describeWebhooks = ({ openAPIRegistry }: OpenAPIHono<Api>): void => {
  for (const [type, told] of Object.entries(sent)) {
    openAPIRegistry.registerWebhook({
      method: "post",
      path: type,
      operationId: `on${nameOf(type).replace(/Event$/, "")}`,
      tags: ["events"],
      summary: type,
      description: told.when,
      security: [],
      request: { headers, body: { required: true, content: { "application/json": { schema: bodyOf(type, told) } } } },
      responses: { "2XX": { description: "Taken. Any other answer, and none within ten seconds, is tried again." } },
    });
  }
};
