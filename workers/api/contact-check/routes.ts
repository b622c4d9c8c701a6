// The routes of asking before contact: is this certificate about this person, and may this person still be contacted?
import { z } from "@hono/zod-openapi";
import { getSecondsUntilTomorrow, toIso, toIsoOrNull } from "../../../core/time.ts";
import { trimWhiteSpace } from "../../../core/text.ts";
import { jsonBody } from "../../http/body.ts";
import type { ApiKeyEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { defineGuard } from "../../http/guards/define-guard.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { countExactly } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { successResponse, requestBody, describedTime } from "../../http/wire.ts";
import { checkContact, type ContactCheck, type ContactQuery } from "../../operations/contact/check-contact.ts";
import type { SubjectQuery } from "../../operations/contact/compute-subject-indexes.ts";
import { matchSubject, type SubjectMatch } from "../../operations/contact/match-subject.ts";
import { certIdParamSchema } from "../certificates/schema.ts";
import { acknowledgmentExample } from "../withdrawals/schema.ts";

const contactCheckExample = {
  results: [
    {
      contactable: false,
      reason: "revoked",
      basis: [{ type: "cert", id: acknowledgmentExample.cert_id, status: "revoked", cease_by: acknowledgmentExample.cease_by }],
      checked_at: acknowledgmentExample.acknowledged_at,
    },
  ],
};
const matchExample = { status: "active", email: true, phone: null, entity_named: true, one_to_one: true };

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex characters");
const phoneSchema = z.string().min(1).max(64);
const subjectFields = {
  email: z.string().min(1).max(320).nullish().openapi({ description: "An e-mail address.", example: "pat@example.com" }),
  email_sha256: sha256Schema.nullish().openapi({
    description: "Instead: lower-case hex SHA-256 of the address, trimmed, in lower case, its domain in punycode.",
  }),
  phone: phoneSchema.nullish().openapi({ description: "A telephone number, however it is punctuated.", example: "+1 202 555 0123" }),
  phone_sha256: sha256Schema
    .nullish()
    .openapi({ description: "Instead: lower-case hex SHA-256 of the number in E.164, for example `+12025550123`." }),
};
const hasSubjectIdentifier = (subject: Partial<Record<keyof typeof subjectFields, string | null | undefined>>): boolean =>
  [subject.email, subject.email_sha256, subject.phone, subject.phone_sha256].some((value) => value !== null && value !== undefined);
const missingIdentifierIssue = { path: ["email"], message: "is missing, as are email_sha256, phone and phone_sha256" };

const matchRequestSchema = z.object(subjectFields).refine(hasSubjectIdentifier, missingIdentifierIssue).openapi("MatchRequest");

type WireSubject = z.output<typeof matchRequestSchema>;

const subjectFromWire = (subject: WireSubject): SubjectQuery => ({
  email: subject.email ?? null,
  emailSha256: subject.email_sha256 ?? null,
  phone: subject.phone ?? null,
  phoneSha256: subject.phone_sha256 ?? null,
});

const matchVerdictSchema = (what: string) =>
  z
    .boolean()
    .nullable()
    .openapi({
      description: `Whether the ${what} is the one on the certificate; \`null\` when it was not asked, and once the person was erased.`,
    });
const matchResultSchema = z
  .object({
    status: z
      .enum(["active", "revoked"])
      .openapi({ description: "`revoked`: the person has withdrawn, from everybody or from you. Do not contact them." }),
    email: matchVerdictSchema("address"),
    phone: matchVerdictSchema("number"),
    entity_named: z.boolean().openapi({
      description: "Whether the consent names you (and, where each recipient was asked about, whether you were accepted), and still does.",
    }),
    one_to_one: z
      .boolean()
      .openapi({ description: "Whether the person consented to single recipients: one was named, or each was asked about." }),
  })
  .openapi("Match");

const matchResultToWire = (matched: SubjectMatch): z.input<typeof matchResultSchema> => ({
  status: matched.status,
  email: matched.email,
  phone: matched.phone,
  entity_named: matched.entityNamed,
  one_to_one: matched.oneToOne,
});

const contactCheckRequestSchema = z
  .object({
    subjects: z
      .array(z.object(subjectFields).refine(hasSubjectIdentifier, missingIdentifierIssue))
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
const contactCheckFromWire = ({ subjects, entity, purpose }: z.output<typeof contactCheckRequestSchema>): ContactQuery => ({
  subjects: subjects.map(subjectFromWire),
  entity: typeof entity === "string" ? trimWhiteSpace(entity) : null,
  purpose: typeof purpose === "string" ? trimWhiteSpace(purpose) : null,
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
              cease_by: describedTime("Until when contact must have ceased").nullable(),
            }),
          )
          .openapi({
            description:
              "Your records about this person: what allows contact first, then the newest; at most 20 certificates and 20 shares for an address, and as many for a number.",
          }),
        checked_at: describedTime("The records as they stood then"),
      }),
    ),
  })
  .openapi("ContactResults", { description: "In the order of `subjects`." });

const contactResultsToWire = (contacts: readonly ContactCheck[]): z.input<typeof contactResultsSchema> => ({
  results: contacts.map(({ contactable, reason, basis, checkedAt }) => ({
    contactable,
    reason,
    basis: basis.map((record) => ({
      type: record.type,
      id: record.id,
      status: record.type === "cert" && record.isWithdrawn ? "revoked" : record.status,
      cease_by: toIsoOrNull(record.ceaseBy),
    })),
    checked_at: toIso(checkedAt),
  })),
});

const createRoute = createRouteFactory("contact");

const limitMatches = defineGuard<ApiKeyEnv>(
  { when: { rate_limited: "More than 60 a minute, or 20 wrong guesses at this certificate today." } },
  async (c, next) => (await countExactly(c, "MATCH_PER_KEY", c.var.principal.keyHash)) ?? next(),
);

const matchSubjectRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/match",
  operationId: "matchSubject",
  summary: "Is this certificate about this person?",
  description:
    "For the business that issued it, and for a recipient named on it that has verified a domain. Answers yes or no for what you already know, never what is on the certificate. At most 60 a minute for a key and 20 wrong guesses a day for a certificate; each call is noted in the certificate's view trail.",
  middleware: apiKeyGuard(limitMatches, jsonBody, idempotencyGuard),
  request: { params: certIdParamSchema, body: requestBody(matchRequestSchema, { email: "pat@example.com" }) },
  responses: { 200: successResponse("The comparison.", "MatchAnswer", matchResultSchema, matchExample) },
  when: { cert_not_found: "There is no such certificate, or it neither is yours nor names you." },
});

const checkContactRoute = createRoute({
  method: "post",
  path: "/v1/contact-check",
  operationId: "checkContact",
  summary: "May these people still be contacted?",
  description:
    "From your own records, as they stand at this moment: a withdrawal counts at once. Ask before each campaign or call, without an idempotency key or with a new one: a repeat answers as things stood at `checked_at`. One call counts once against the limit of the key, however many subjects it has.",
  middleware: apiKeyGuard(jsonBody, idempotencyGuard),
  request: { body: requestBody(contactCheckRequestSchema, { subjects: [{ email: "pat@example.com" }] }) },
  responses: { 200: successResponse("One result a subject, in their order.", "ContactAnswer", contactResultsSchema, contactCheckExample) },
});

export const contactCheckRoutes = createApi();

contactCheckRoutes.openapi(matchSubjectRoute, async (c) => {
  const { services, principal, ip } = c.var;
  const matched = await matchSubject(services, principal, c.req.valid("param").cert_id, subjectFromWire(c.req.valid("json")), { ip });
  // A day's misses are used up until the next begins, in UTC.
  if (!matched.ok && matched.code === "rate_limited") c.header("Retry-After", String(getSecondsUntilTomorrow(services.clock())));
  return respond(c, 200, matched, matchResultToWire);
});

contactCheckRoutes.openapi(checkContactRoute, async (c) => {
  const contacts = await checkContact(c.var.services, c.var.principal, contactCheckFromWire(c.req.valid("json")));
  return success(c, 200, contactResultsToWire(contacts));
});
