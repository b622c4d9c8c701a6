// Routes that a business calls before it contacts a person. They check whether a certificate names the person, and whether the business may
// contact the person.
import { z } from "@hono/zod-openapi";
import { getSecondsUntilTomorrow, toIso, toIsoOrNull } from "../../../core/time.ts";
import { trimWhiteSpace } from "../../../core/text.ts";
import { jsonBody } from "../../http/body.ts";
import type { ApiKeyEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { defineGuard } from "../../http/guards/define-guard.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { enforceLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { successResponse, requestBody, describedTime, sha256InputSchema, toWire } from "../../http/wire.ts";
import { checkContact, type ContactCheck, type ContactQuery } from "../../operations/contact/check-contact.ts";
import type { SubjectQuery } from "../../operations/contact/compute-subject-indexes.ts";
import { matchSubject } from "../../operations/contact/match-subject.ts";
import { certIdParamSchema } from "../certificates/schema.ts";
import { getWithdrawalExamples } from "../withdrawals/schema.ts";

const buildContactCheckExample = () => {
  const { cert_id: id, cease_by: ceaseBy, acknowledged_at: checkedAt } = getWithdrawalExamples().acknowledgment;
  return {
    results: [
      {
        contactable: false,
        reason: "revoked",
        basis: [{ type: "cert", id, status: "revoked", cease_by: ceaseBy }],
        checked_at: checkedAt,
      },
    ],
  };
};
const matchExample = { status: "active", email: true, phone: null, entity_named: true, one_to_one: true };

/** CRMs send an empty string for missing contact data, so treat it like a missing member. */
const emptyAsAbsent = (value: string | null | undefined): string | null => value || null;
const sha256Schema = z
  .union([sha256InputSchema, z.literal("")], "must be 64 hex characters")
  .nullish()
  .transform(emptyAsAbsent);
const subjectFields = {
  email: z.string().max(320).nullish().transform(emptyAsAbsent).meta({ description: "Email address.", example: "pat@example.com" }),
  email_sha256: sha256Schema.meta({
    type: "string",
    description: "Alternative to `email`: hex SHA-256 of the email address, trimmed and lowercased, with the domain in Punycode.",
  }),
  phone: z
    .string()
    .max(64)
    .nullish()
    .transform(emptyAsAbsent)
    .meta({ description: "Phone number, with or without punctuation.", example: "+1 202 555 0123" }),
  phone_sha256: sha256Schema.meta({
    type: "string",
    description: "Alternative to `phone`: hex SHA-256 of the number in E.164, for example `+12025550123`.",
  }),
};
const hasSubjectIdentifier = (subject: Partial<Record<keyof typeof subjectFields, string | null | undefined>>): boolean =>
  [subject.email, subject.email_sha256, subject.phone, subject.phone_sha256].some((value) => value !== null && value !== undefined);
const missingIdentifierIssue = { path: ["email"], message: "is required unless you send email_sha256, phone or phone_sha256" };

const matchRequestSchema = z.object(subjectFields).refine(hasSubjectIdentifier, missingIdentifierIssue).openapi("MatchRequest");

type WireSubject = z.output<typeof matchRequestSchema>;

const subjectFromWire = (subject: WireSubject): SubjectQuery => ({
  email: subject.email ?? null,
  emailSha256: subject.email_sha256 ?? null,
  phone: subject.phone ?? null,
  phoneSha256: subject.phone_sha256 ?? null,
});

const matchVerdictSchema = (identifier: string) =>
  z
    .boolean()
    .nullable()
    .meta({
      description: `Whether the ${identifier} matches the certificate. \`null\` if you did not send one, or if the person's data was erased.`,
    });
const matchResultSchema = z
  .object({
    status: z
      .enum(["active", "revoked"])
      .meta({ description: "`revoked`: the person withdrew consent for all recipients or for you. Do not contact them." }),
    email: matchVerdictSchema("email address"),
    phone: matchVerdictSchema("phone number"),
    entity_named: z.boolean().meta({
      description: "`true` if the consent covered you and was not withdrawn for you individually. Also check `status`.",
    }),
    one_to_one: z.boolean().meta({
      description: "`true` if the form listed only one recipient, or asked about each recipient separately.",
    }),
  })
  .openapi("Match");

const contactCheckRequestSchema = z
  .object({
    subjects: z.array(z.object(subjectFields).refine(hasSubjectIdentifier, missingIdentifierIssue)).min(1).max(100).meta({
      description:
        "1 to 100 people. If you send both an email address and a phone number for a person, records that match either one are included.",
    }),
    entity: z.string().min(1).max(200).nullish().meta({
      description:
        "Name of a recipient, spelled exactly as on the certificate. Only consent for this recipient counts. A share counts only if this is your business name as the person saw it.",
    }),
    purpose: z
      .string()
      .min(1)
      .max(500)
      .nullish()
      .meta({ description: "Purpose, spelled exactly as on the certificate or share. Only consent for this purpose counts." }),
  })
  .openapi("ContactCheck");
/** Trims the recipient and the purpose, because the stored values are trimmed too. */
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
        reason: z.enum(["active_consent", "revoked", "expired", "none", "rejected_recipient"]).meta({
          description:
            "Why you may or may not contact the person. If several reasons apply, the first of these is returned: `active_consent`, `revoked`, `rejected_recipient`, `expired` (of a share). `none`: you have no record of this person. An invalid email address or phone number matches no record.",
        }),
        basis: z
          .array(
            z.object({
              type: z.enum(["cert", "share"]),
              id: z.string(),
              status: z
                .string()
                .meta({ description: "Status of the certificate or share. If you sent `entity`, the status for that recipient." }),
              cease_by: describedTime("Deadline by which you must stop contacting the person").nullable(),
            }),
          )
          .meta({
            description:
              "Your records about this person. Records that allow contact come first, then the others. Each group is sorted newest first. At most 20 certificates and 20 shares per email address and per phone number.",
          }),
        truncated: z.literal(true).optional().meta({
          description:
            "`true` if you have more than 1,000 certificates or more than 1,000 shares for this email address or phone number, otherwise absent. Only the newest 1,000 of each were checked.",
        }),
        checked_at: describedTime("When your records were read"),
      }),
    ),
  })
  .openapi("ContactResults", { description: "Results in the same order as `subjects`." });

const contactResultsToWire = (contacts: readonly ContactCheck[]): z.input<typeof contactResultsSchema> => ({
  results: contacts.map(({ contactable, reason, basis, isTruncated, checkedAt }) => ({
    contactable,
    reason,
    basis: basis.map((record) => ({
      type: record.type,
      id: record.id,
      status: record.type === "cert" && record.isWithdrawn ? "revoked" : record.status,
      cease_by: toIsoOrNull(record.ceaseBy),
    })),
    ...(isTruncated && { truncated: true as const }),
    checked_at: toIso(checkedAt),
  })),
});

const createRoute = createRouteFactory("contact");

const limitMatches = defineGuard<ApiKeyEnv>(
  {
    when: {
      rate_limited: "More than 60 requests per minute, or more than 20 mismatches by your business for this certificate today (UTC).",
    },
  },
  async (c, next) => (await enforceLimit(c, "MATCH_PER_KEY", c.var.principal.keyHash)) ?? next(),
);

const matchSubjectRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/match",
  operationId: "matchSubject",
  summary: "Match a person to a certificate",
  description:
    "Checks whether an email address or phone number that you already have is on the certificate. The response does not contain the person's data. Available to the business that issued the certificate, and to recipients on the certificate that this business has linked with `POST /v1/business/portal/recipients`. Limits: 60 requests per minute per key, and 20 mismatches per day (UTC) for each certificate and business. Each request is recorded in the certificate's view trail.",
  middleware: apiKeyGuard(limitMatches, jsonBody, idempotencyGuard),
  request: { params: certIdParamSchema, body: requestBody(matchRequestSchema, { email: "pat@example.com" }) },
  responses: {
    200: successResponse("Whether the email address or phone number matches.", "MatchResponse", matchResultSchema, matchExample),
  },
  when: {
    cert_not_found:
      "The certificate does not exist, or it is not yours and the business that issued it has not linked you to one of its recipients.",
  },
});

const checkContactRoute = createRoute({
  method: "post",
  path: "/v1/contact-check",
  operationId: "checkContact",
  summary: "Check whether you may contact people",
  description:
    "Checks your own records, including the latest withdrawals. Call it before each campaign or call. Send a new idempotency key each time, or none, because repeating a key returns the earlier result. Each request counts once toward your key's rate limit, regardless of the number of subjects. For each email address and phone number, the newest 1,000 certificates and the newest 1,000 shares are checked. An active share counts only for the email address that the person signs in with, because people can enter other addresses and phone numbers without verifying them. To check a person with a share, send that email address.",
  middleware: apiKeyGuard(jsonBody, idempotencyGuard),
  request: { body: requestBody(contactCheckRequestSchema, { subjects: [{ email: "pat@example.com" }] }) },
  responses: {
    200: successResponse(
      "One result for each subject, in the same order.",
      "ContactResponse",
      contactResultsSchema,
      buildContactCheckExample,
    ),
  },
});

export const contactCheckRoutes = createApi();

contactCheckRoutes.openapi(matchSubjectRoute, async (c) => {
  const { services, principal, ip } = c.var;
  const matched = await matchSubject(services, principal, c.req.valid("param").cert_id, subjectFromWire(c.req.valid("json")), { ip });
  // Here, `rate_limited` means too many mismatches on one UTC day, so the caller must wait until the next day.
  if (!matched.ok && matched.code === "rate_limited") c.header("Retry-After", String(getSecondsUntilTomorrow(services.clock())));
  return respond(c, 200, matched, (match) => toWire(matchResultSchema, match));
});

contactCheckRoutes.openapi(checkContactRoute, async (c) => {
  const contacts = await checkContact(c.var.services, c.var.principal, contactCheckFromWire(c.req.valid("json")));
  return success(c, 200, contactResultsToWire(contacts));
});
