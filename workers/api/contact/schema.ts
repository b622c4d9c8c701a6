// The wire of asking before contact: what may be asked, and what is answered.
import { z } from "@hono/zod-openapi";
import { trimmed } from "../../../core/text.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import type { AskedSubject, CheckedContact, ContactQuestion } from "../../operations/contact/check-contact.ts";
import type { MatchedSubject } from "../../operations/contact/match-subject.ts";
import { timeOf } from "../certificates/schema.ts";

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

export const matchSchema = z.object(subjectShape).refine(isAboutSomebody, aboutNobody).openapi("MatchRequest");

type SubjectWire = z.output<typeof matchSchema>;

export const subjectFromWire = (subject: SubjectWire): AskedSubject => ({
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
export const matchedSchema = z
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

export const matchedToWire = (matched: MatchedSubject): z.input<typeof matchedSchema> => ({
  status: matched.status,
  email: matched.email,
  phone: matched.phone,
  entity_named: matched.entityNamed,
  one_to_one: matched.oneToOne,
});

export const contactCheckSchema = z
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
export const questionFromWire = ({ subjects, entity, purpose }: z.output<typeof contactCheckSchema>): ContactQuestion => ({
  subjects: subjects.map(subjectFromWire),
  entity: typeof entity === "string" ? trimmed(entity) : null,
  purpose: typeof purpose === "string" ? trimmed(purpose) : null,
});

export const contactResultsSchema = z
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

export const contactsToWire = (contacts: readonly CheckedContact[]): z.input<typeof contactResultsSchema> => ({
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
