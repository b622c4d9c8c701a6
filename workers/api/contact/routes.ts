// The routes of asking before contact: is this certificate about this person, and may this person still be contacted?
import { z } from "@hono/zod-openapi";
import { secondsUntilTomorrow, isoOf, isoOrNull } from "../../../core/time.ts";
import { trimmed } from "../../../core/text.ts";
import { jsonBody } from "../../http/body.ts";
import type { KeyCaller } from "../../http/context.ts";
import { answer, success } from "../../http/envelope.ts";
import { guard } from "../../http/guard.ts";
import { behindApiKey, countedExactly } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { answerOf, bodyOf, timeOf } from "../../http/wire.ts";
import { checkContact, type AskedSubject, type CheckedContact, type ContactQuestion } from "../../operations/contact/check-contact.ts";
import { matchSubject, type MatchedSubject } from "../../operations/contact/match-subject.ts";
import { certParams } from "../certificates/schema.ts";
import { ceaseExample } from "../withdrawals/examples.ts";

const contactExample = {
  results: [
    {
      contactable: false,
      reason: "revoked",
      basis: [{ type: "cert", id: ceaseExample.cert_id, status: "revoked", cease_by: ceaseExample.cease_by }],
      checked_at: ceaseExample.acknowledged_at,
    },
  ],
};
const matchExample = { status: "active", email: true, phone: null, entity_named: true, one_to_one: true };

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex characters");
const phone = z.string().min(1).max(64);
const subjectShape = {
  email: z.string().min(1).max(320).nullish().openapi({ description: "An e-mail address.", example: "pat@example.com" }),
  email_sha256: sha256.nullish().openapi({
    description: "Instead: lower-case hex SHA-256 of the address, trimmed, in lower case, its domain in punycode.",
  }),
  phone: phone.nullish().openapi({ description: "A telephone number, however it is punctuated.", example: "+1 202 555 0123" }),
  phone_sha256: sha256
    .nullish()
    .openapi({ description: "Instead: lower-case hex SHA-256 of the number in E.164, for example `+12025550123`." }),
};
const isAboutSomebody = (subject: Partial<Record<keyof typeof subjectShape, string | null | undefined>>): boolean =>
  [subject.email, subject.email_sha256, subject.phone, subject.phone_sha256].some((value) => value !== null && value !== undefined);
const aboutNobody = { path: ["email"], message: "is missing, as are email_sha256, phone and phone_sha256" };

const matchSchema = z.object(subjectShape).refine(isAboutSomebody, aboutNobody).openapi("MatchRequest");

type SubjectWire = z.output<typeof matchSchema>;

const subjectFromWire = (subject: SubjectWire): AskedSubject => ({
  email: subject.email ?? null,
  emailSha256: subject.email_sha256 ?? null,
  phone: subject.phone ?? null,
  phoneSha256: subject.phone_sha256 ?? null,
});

const verdict = (what: string) =>
  z
    .boolean()
    .nullable()
    .openapi({
      description: `Whether the ${what} is the one on the certificate; \`null\` when it was not asked, and once the person was erased.`,
    });
const matchedSchema = z
  .object({
    status: z
      .enum(["active", "revoked"])
      .openapi({ description: "`revoked`: the person has withdrawn, from everybody or from you. Do not contact them." }),
    email: verdict("address"),
    phone: verdict("number"),
    entity_named: z.boolean().openapi({
      description: "Whether the consent names you (and, where each recipient was asked about, whether you were accepted), and still does.",
    }),
    one_to_one: z
      .boolean()
      .openapi({ description: "Whether the person consented to single recipients: one was named, or each was asked about." }),
  })
  .openapi("Match");

const matchedToWire = (matched: MatchedSubject): z.input<typeof matchedSchema> => ({
  status: matched.status,
  email: matched.email,
  phone: matched.phone,
  entity_named: matched.entityNamed,
  one_to_one: matched.oneToOne,
});

const contactCheckSchema = z
  .object({
    subjects: z
      .array(z.object(subjectShape).refine(isAboutSomebody, aboutNobody))
      .min(1)
      .max(100)
      .openapi({ description: "At most 100. Where a subject has an address and a number, a record with either counts." }),
    entity: z.string().min(1).max(200).nullish().openapi({
      description:
        "Only consent that names this recipient, exactly as on the certificate. A share is with you alone: it counts where the recipient is your name as the person was shown it.",
    }),
    purpose: z.string().min(1).max(500).nullish().openapi({ description: "Only consent for this purpose, exactly as stated." }),
  })
  .openapi("ContactCheck");
/** Both are stored without spaces around them. */
const questionFromWire = ({ subjects, entity, purpose }: z.output<typeof contactCheckSchema>): ContactQuestion => ({
  subjects: subjects.map(subjectFromWire),
  entity: typeof entity === "string" ? trimmed(entity) : null,
  purpose: typeof purpose === "string" ? trimmed(purpose) : null,
});

const contactResultsSchema = z
  .object({
    results: z.array(
      z.object({
        contactable: z.boolean(),
        reason: z.enum(["active_consent", "revoked", "expired", "none", "rejected_recipient"]).openapi({
          description:
            "Why. Active consent wins, then a withdrawal, then a recipient the person declined; `expired`: all that is left are shares that ended by themselves; `none`: you hold no record of this person.",
        }),
        basis: z
          .array(
            z.object({
              type: z.enum(["cert", "share"]),
              id: z.string(),
              status: z.string().openapi({ description: "Of the record; with `entity`, as far as that recipient is concerned." }),
              cease_by: timeOf("Until when contact must have ceased").nullable(),
            }),
          )
          .openapi({
            description:
              "Your records about this person: what allows contact first, then the newest; at most 20 certificates and 20 shares for an address, and as many for a number.",
          }),
        checked_at: timeOf("The records as they stood then"),
      }),
    ),
  })
  .openapi("ContactResults", { description: "In the order of `subjects`." });

const contactsToWire = (contacts: readonly CheckedContact[]): z.input<typeof contactResultsSchema> => ({
  results: contacts.map(({ contactable, reason, basis, checkedAt }) => ({
    contactable,
    reason,
    basis: basis.map((record) => ({
      type: record.type,
      id: record.id,
      status: record.type === "cert" && record.isWithdrawn ? "revoked" : record.status,
      cease_by: isoOrNull(record.ceaseBy),
    })),
    checked_at: isoOf(checkedAt),
  })),
});

const createRoute = routesOf("contact");

const limitMatches = guard<KeyCaller>(
  { when: { rate_limited: "More than 60 a minute, or 20 wrong guesses at this certificate today." } },
  async (c, next) => (await countedExactly(c, "MATCH_PER_KEY", c.var.principal.keyHash)) ?? next(),
);

const matchRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/match",
  operationId: "matchSubject",
  summary: "Is this certificate about this person?",
  description:
    "For the business that issued it, and for a recipient named on it that has verified a domain. Answers yes or no for what you already know, never what is on the certificate. At most 60 a minute for a key and 20 wrong guesses a day for a certificate; each call is noted in the certificate's view trail.",
  middleware: behindApiKey(limitMatches, jsonBody, idempotent),
  request: { params: certParams, body: bodyOf(matchSchema, { email: "pat@example.com" }) },
  responses: { 200: answerOf("The comparison.", "MatchAnswer", matchedSchema, matchExample) },
  when: { cert_not_found: "There is no such certificate, or it neither is yours nor names you." },
});

const contactRoute = createRoute({
  method: "post",
  path: "/v1/contact-check",
  operationId: "checkContact",
  summary: "May these people still be contacted?",
  description:
    "From your own records, as they stand at this moment: a withdrawal counts at once. Ask before each campaign or call, without an idempotency key or with a new one: a repeat answers as things stood at `checked_at`. One call counts once against the limit of the key, however many subjects it has.",
  middleware: behindApiKey(jsonBody, idempotent),
  request: { body: bodyOf(contactCheckSchema, { subjects: [{ email: "pat@example.com" }] }) },
  responses: { 200: answerOf("One result a subject, in their order.", "ContactAnswer", contactResultsSchema, contactExample) },
});

export const contact = newApi();

contact.openapi(matchRoute, async (c) => {
  const { services, principal, ip } = c.var;
  const matched = await matchSubject(services, principal, c.req.valid("param").cert_id, subjectFromWire(c.req.valid("json")), { ip });
  // A day's misses are used up until the next begins, in UTC.
  if (!matched.ok && matched.code === "rate_limited") c.header("Retry-After", String(secondsUntilTomorrow(services.clock())));
  return answer(c, 200, matched, matchedToWire);
});

contact.openapi(contactRoute, async (c) => {
  const contacts = await checkContact(c.var.services, c.var.principal, questionFromWire(c.req.valid("json")));
  return success(c, 200, contactsToWire(contacts));
});
