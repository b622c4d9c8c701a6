// Shapes of the certificate routes, for parsing and for the OpenAPI description. Lengths and characters of sealed text
// are judged in core, where the reason for each stands.
import { z } from "@hono/zod-openapi";

const names = z.array(z.string());

/** Kept as it came, by reference: a copy could lose a key such as `__proto__` before core has refused it. */
const fieldMap = z
  .custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value))
  .openapi({
    type: "object",
    additionalProperties: { type: "string", maxLength: 500 },
    description: "1 to 20 fields; keys `^[a-z][a-z0-9_]{0,39}$`. Stored as typed, encrypted.",
    example: { email: "pat@example.com", first_name: "Pat", phone: "+1 555 555 0123" },
  });

const presentation = z
  .object({
    opt_in_type: z.enum(["manual", "pre_selected", "non_interactive"]).optional(),
    font_px: z.number().min(0).max(1_000).optional(),
    contrast_ratio: z.number().min(1).max(21).optional(),
    visible: z.boolean().optional(),
    checkbox_name: z.string().max(200).optional(),
  })
  .openapi({ description: "How the consent was presented, as measured on the page." });

export const consentRequestSchema = z
  .object({
    client_id: z.string().openapi({ description: "Public client id, prefix pc_.", example: "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9" }),
    fields: fieldMap,
    disclosure_text: z.string().openapi({ description: "The disclosure as displayed, 1 to 20,000 characters, kept byte for byte." }),
    entities: names.openapi({ description: "Recipients, 1 to 1,000 names of at most 200 characters.", example: ["Acme Solar LLC"] }),
    purpose: z.string().openapi({ description: "Stated purpose, 1 to 500 characters.", example: "solar quote follow-up" }),
    page_url: z
      .string()
      .openapi({ description: "Address of the page that held the form.", example: "https://www.acme-solar.example/quote" }),
    entities_accepted: names
      .nullish()
      .openapi({ description: "With entities_rejected, or neither: what the visitor answered for each recipient." }),
    entities_rejected: names.nullish(),
    submission_id: z.guid().nullish().openapi({ description: "Same meaning as Idempotency-Key." }),
    locale: z.string().max(35).nullish(),
    presentation: presentation.nullish(),
    esign: z.object({ disclosure_text: z.string().max(20_000), accepted: z.boolean() }).nullish(),
    widget: z.object({ version: z.string().max(64).optional(), sha256: z.string().max(64).optional() }).nullish(),
    referrer: z.string().max(2_048).nullish(),
    client_time: z.string().max(40).nullish(),
  })
  .openapi("ConsentRequest");

const certId = z.string().openapi({ example: "cc_00m3v9d2m4q8x1c7b5n0t6w2h9" });
const hash = z
  .string()
  .openapi({
    description: "SHA-256, 64 lower-case hex characters.",
    example: "96a0927dc19716a96afaad3c831ce33967ddc3a298d7772362bda4bed661bad2",
  });
const timestamp = z.string().openapi({ format: "date-time", example: "2026-03-04T05:06:07.089Z" });
const environment = z.enum(["live", "sandbox"]);
const status = z.enum(["active", "revoked"]);
const textMap = z.record(z.string(), z.string());

export const consentReceiptSchema = z
  .object({
    cert_id: certId,
    fingerprint: hash,
    issued_at: timestamp,
    verify_url: z.string(),
    status: z.literal("active"),
    environment,
    manage_url: z
      .string()
      .openapi({ description: "One-tap withdrawal link for the person; valid five years. Give it to them, and to nobody else." }),
    entities_accepted: names.optional(),
    entities_rejected: names.optional(),
  })
  .openapi("ConsentReceipt");

const policy = z
  .object({ id: z.string(), kind: z.enum(["privacy", "terms"]), source_url: z.string(), content_hash: hash, captured_at: timestamp })
  .openapi("Policy");

const preimage = z
  .object({
    business: z.object({ id: z.string(), name: z.string() }),
    cert_id: certId,
    disclosure_hash: hash,
    entities: names,
    entities_accepted: names.optional(),
    entities_rejected: names.optional(),
    origin_domain: z.string(),
    purpose: z.string(),
    subject_hash: hash,
    timestamp,
  })
  .openapi("Preimage");

const anchor = z
  .object({ status: z.enum(["pending", "anchored"]), event: z.string(), entry_hash: hash, statement: z.string(), ledger: z.string() })
  .openapi("Anchor", { description: "What is anchored in the append-only ledger." });

const signature = z.object({ kid: z.string(), alg: z.literal("Ed25519"), value: z.string() }).openapi("Signature");

export const verifySchema = z
  .object({
    cert_id: certId,
    status,
    environment,
    fingerprint: hash,
    fingerprint_version: z.literal("1"),
    issued_at: timestamp,
    verify_url: z.string(),
    business_id: z.string(),
    business_name: z.string(),
    entities: names,
    entities_accepted: names.optional(),
    entities_rejected: names.optional(),
    disclosure_text: z.string(),
    disclosure_hash: hash,
    purpose: z.string(),
    origin_domain: z.string(),
    subject: textMap.openapi({ description: "Masked.", example: { email: "p***@e***.com" } }),
    subject_hash: hash,
    subject_erased_at: timestamp.nullable(),
    policies: z.array(policy),
    policies_status: z.enum(["pending", "captured", "unavailable"]),
    preimage,
    canonical: z.string().openapi({ description: "The exact text whose SHA-256 is the fingerprint." }),
    signature,
    anchor: anchor.nullable(),
    withdrawal: z.object({}).nullable(),
    cease_by: timestamp.nullable(),
    signals: z.object({ gpc: z.boolean() }),
    checks: z.array(z.object({ id: z.string(), result: z.string(), note: z.string() })),
    view_count: z.int(),
    status_list: z.object({ uri: z.string(), index: z.int() }).nullable(),
  })
  .openapi("VerifiedCertificate");

const view = z
  .object({ at: timestamp, ip: z.string().nullable(), user_agent: z.string().nullable(), os: z.string().nullable(), bot: z.boolean() })
  .openapi("View");
const evidence = z
  .record(z.string(), z.unknown())
  .openapi("Evidence", {
    description:
      "page_url, ip, user_agent, os, browser, referrer, geo, gpc, captured_via, origin_reported, client_time, locale, widget, presentation, esign.",
  });

export const certificateDetailSchema = verifySchema
  .extend({
    subject: textMap.openapi({ description: "Decrypted values: personal data." }),
    subject_salts: textMap,
    evidence,
    evidence_hash: hash,
    policies: z.array(policy.extend({ text: z.string().nullable() })),
    view_trail: z.array(view),
    audit: z.object({ seq: z.int(), hash, prev_hash: hash }).nullable(),
    retention_until: timestamp,
  })
  .openapi("CertificateDetail");

const listed = z
  .object({
    cert_id: certId,
    status,
    fingerprint: hash,
    issued_at: timestamp,
    verify_url: z.string(),
    purpose: z.string(),
    origin_domain: z.string(),
    entities: names,
    entities_accepted: names.optional(),
    entities_rejected: names.optional(),
    subject: textMap,
    view_count: z.int(),
    withdrawal: z.object({}).nullable(),
    environment,
  })
  .openapi("ListedCertificate");

export const certificateListSchema = z
  .object({ certs: z.array(listed), total: z.int(), page: z.int(), per_page: z.int() })
  .openapi("CertificateList");

export const evidenceBundleSchema = z
  .object({
    bundle_version: z.literal("1.0"),
    generated_at: timestamp,
    certificate: verifySchema,
    preimage,
    canonical_json: z.string(),
    fingerprint: hash,
    subject_disclosures: z.array(z.object({ key: z.string(), salt: z.string(), value: z.string() })),
    commitments: textMap,
    disclosure: z.object({ text: z.string(), hash }),
    policies: z.array(policy.extend({ text: z.string().nullable() })),
    evidence: evidence.nullable(),
    evidence_hash: hash,
    audit: z.object({ entries: z.array(z.unknown()), head: z.unknown().nullable() }),
    ledger: z.record(z.string(), z.unknown()),
    withdrawal: z.object({}).nullable(),
    withdrawal_receipt: z.unknown().nullable(),
    views: z.array(view),
    issuer_keys: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
    signature,
    identity: z.object({ legal_name: z.string().nullable(), mailing_address: z.string().nullable(), contact: z.string().nullable() }),
    how_to_verify: z.string(),
  })
  .openapi("EvidenceBundle");

const positive = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(most));
const instant = z
  .string()
  .max(40)
  .refine(
    (text) =>
      /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) && !Number.isNaN(Date.parse(text)),
  );

export const listQuerySchema = z.object({
  page: positive(10_000).optional().openapi({ type: "integer", minimum: 1, maximum: 10_000, default: 1 }),
  per_page: positive(999_999_999)
    .optional()
    .openapi({ type: "integer", minimum: 1, default: 25, description: "At most 100; larger is answered as 100." }),
  status: status.optional(),
  subject_email: z.string().min(1).max(320).optional().openapi({ description: "Exact match, through a blind index." }),
  subject_phone: z.string().min(1).max(64).optional().openapi({ description: "Exact match, through a blind index." }),
  q: z.string().max(200).optional().openapi({ description: "Part of the purpose, in any case." }),
  origin_domain: z.string().max(253).optional(),
  entity: z.string().max(200).optional().openapi({ description: "A recipient, exactly as named." }),
  from: instant.optional().openapi({ description: "Issued at or after, ISO 8601.", format: "date-time" }),
  to: instant.optional().openapi({ description: "Issued at or before, ISO 8601.", format: "date-time" }),
});
