// Shapes of withdrawing, acknowledging and asking before contact, for parsing and for the description.
import { z } from "@hono/zod-openapi";
import { isMailbox } from "../../../core/mailbox.ts";
import { codePattern } from "../../../core/access/mailed-code.ts";
import { recordedChannels } from "../../../core/withdrawals/withdrawal.ts";
import { certId, instant, timeOf, withdrawalSchema } from "../certificates/schema.ts";

/** One address and nothing that could become a second recipient or a header; ends are trimmed. */
const email = z
  .string()
  .max(320)
  .transform((text) => text.trim())
  .refine(isMailbox)
  .openapi({ description: "One e-mail address. Case does not matter.", example: "pat@example.com" });

const scope = z.enum(["certificate", "business"]).nullish().openapi({
  description:
    "`certificate` (default): this certificate. `business`: every active certificate of the same business with the same address, now and without another code.",
});

const entities = z.array(z.string()).max(0).nullish().openapi({
  description: "Reserved for withdrawing from single recipients. Naming any is refused, so that nobody withdraws more than they meant.",
});

export const optOutRequestSchema = z.object({ email }).openapi("OptOutRequest");
export const acceptedSchema = z.object({ accepted: z.literal(true) }).openapi("Accepted", {
  description: "The same whether or not the address is on the certificate.",
});
export const optOutConfirmSchema = z
  .object({
    email,
    code: z.string().regex(codePattern).openapi({ description: "The six digits from the mail.", example: "042917" }),
    scope,
    entities,
  })
  .openapi("OptOutConfirm");
export const optOutManageSchema = z
  .object({
    token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .openapi({ description: "What follows `#m=` in `manage_url`, or in the link of a mail with a code." }),
    scope,
    entities,
  })
  .openapi("OptOutManage");
export const withdrawnSchema = z
  .object({
    revoked: z.literal(true),
    cease_by: timeOf("Until when all contact must have ceased"),
    withdrawn_at: timeOf("When the certificate became revoked"),
    receipt_url: z.string().openapi({ format: "uri", description: "The signed receipt, to keep." }),
  })
  .openapi("Withdrawn");

export const recordWithdrawalSchema = z
  .object({
    method: z.enum(recordedChannels).openapi({ description: "How the person told you." }),
    received_at: instant.openapi({
      format: "date-time",
      description: "When you were told, ISO 8601, not in the future. `cease_by` counts from here.",
      example: "2026-03-20T08:30:00.250Z",
    }),
    note: z.string().max(1_000).nullish().openapi({ description: "For your own records; kept encrypted." }),
  })
  .openapi("RecordWithdrawal");
export const recordedSchema = z
  .object({ withdrawal: withdrawalSchema, cease_by: timeOf("Until when all contact must have ceased") })
  .openapi("RecordedWithdrawal");

export const ceaseSchema = z
  .object({
    note: z.string().max(500).nullish().openapi({ description: "For your own records; kept encrypted." }),
    acknowledged_by: z.string().max(120).nullish().openapi({ description: "Who ceased contact; kept encrypted." }),
    actions: z.array(z.string().max(200)).max(10).nullish().openapi({ description: "What was done, for example `removed from CRM`." }),
  })
  .openapi("CeaseAcknowledgement");
export const ceasedSchema = z
  .object({
    cert_id: certId,
    status: z.literal("revoked"),
    acknowledged_at: timeOf("When you first acknowledged"),
    cease_by: timeOf("Until when all contact had to cease"),
    on_time: z.boolean().openapi({ description: "Acknowledged by `cease_by`." }),
    withdrawal: withdrawalSchema,
    already_acknowledged: z.literal(true).optional().openapi({ description: "Present when this was acknowledged before." }),
  })
  .openapi("CeaseAcknowledged");

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
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

export const matchSchema = z
  .object(subjectShape)
  .refine(isAboutSomebody, { path: ["email"] })
  .openapi("MatchRequest");
const verdict = (what: string) =>
  z
    .boolean()
    .nullable()
    .openapi({ description: `Whether the ${what} is the one on the certificate; \`null\` when it was not asked.` });
export const matchedSchema = z
  .object({
    status: z.enum(["active", "revoked"]),
    email: verdict("address"),
    phone: verdict("number"),
    entity_named: z
      .boolean()
      .openapi({ description: "Whether the consent names you (and, where each recipient was asked about, whether you were accepted)." }),
    one_to_one: z
      .boolean()
      .openapi({ description: "Whether the person consented to single recipients: one was named, or each was asked about." }),
  })
  .openapi("Match");

export const contactCheckSchema = z
  .object({
    subjects: z
      .array(z.object(subjectShape).refine(isAboutSomebody, { path: ["email"] }))
      .min(1)
      .max(100)
      .openapi({ description: "At most 100. Where a subject has an address and a number, a record with either counts." }),
    entity: z
      .string()
      .min(1)
      .max(200)
      .nullish()
      .openapi({ description: "Only consent that names this recipient, exactly as on the certificate." }),
    purpose: z.string().min(1).max(500).nullish().openapi({ description: "Only consent for this purpose, exactly as stated." }),
  })
  .openapi("ContactCheck");
export const contactResultsSchema = z
  .object({
    results: z.array(
      z.object({
        contactable: z.boolean(),
        reason: z
          .enum(["active_consent", "revoked", "expired", "none", "rejected_recipient"])
          .openapi({ description: "Why. Active consent wins; `none`: you hold no record of this person." }),
        basis: z
          .array(
            z.object({
              type: z.enum(["cert", "share"]),
              id: z.string(),
              status: z.string(),
              cease_by: timeOf("Until when contact must have ceased").nullable(),
            }),
          )
          .openapi({
            description:
              "Your records about this person: what allows contact first, then the newest; at most 20 for an address and 20 for a number.",
          }),
        checked_at: timeOf("The records as they stood then"),
      }),
    ),
  })
  .openapi("ContactResults", { description: "In the order of `subjects`." });
