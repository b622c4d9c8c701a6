// The wire of certificates: what may be sent and asked, and what is answered. Lengths and characters of sealed text are judged in
// core, where the reason for each stands.
import { z } from "@hono/zod-openapi";
import { erasureReasons } from "../../../core/certificates/erasure.ts";
import { parseCertId, type CertId, type ClientId } from "../../../core/ids.ts";
import { idParamSchema, instantSchema, nullableSchema, positiveIntSchema, describedTime } from "../../http/wire.ts";

export const exampleCertId = "cc_00m3v9d2m4q8x1c7b5n0t6w2h9" as CertId;
export const exampleClientId = "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9" as ClientId;

/** What the page script sends. */
export const consentRequestExample = {
  client_id: exampleClientId,
  fields: { email: "pat@example.com", first_name: "Pat", phone: "+1 202 555 0123" },
  disclosure_text: "By clicking Send I agree that the companies I ticked may call or e-mail me about solar quotes.",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
  entities_accepted: ["Acme Solar LLC"],
  entities_rejected: ["Bright Homes Inc"],
  purpose: "solar quote follow-up",
  page_url: "https://www.acme-solar.example/quote",
};

/** Public half of the key that signed the example; its private half was used once and thrown away. */
export const exampleSigningKey = {
  kty: "OKP",
  crv: "Ed25519",
  x: "Uciw2npY_2tNGeBb-OvuyD-RTnTJvCkj8XWzbNELUpw",
  kid: "YrioOwHkQWtm3MH1DUfQKo_-HF21JVFu8avLzYIpnZ0",
  alg: "EdDSA",
  use: "sig",
};

export const certIdParamSchema = z.object({ cert_id: idParamSchema(parseCertId, "Id of the certificate, prefix `cc_`.", exampleCertId) });

const namesSchema = z.array(z.string()).readonly();

/** Kept as it came, by reference: a copy could lose a key such as `__proto__` before core has refused it. */
const fieldMapSchema = z
  .custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "must be an object")
  .openapi({
    type: "object",
    additionalProperties: { type: "string", maxLength: 500 },
    description:
      "What the person typed: 1 to 20 fields, keys `^[a-z][a-z0-9_]{0,39}$`, at least one not empty. Stored as typed, encrypted.",
    example: consentRequestExample.fields,
  });

const presentationSchema = z
  .object({
    opt_in_type: z
      .enum(["manual", "pre_selected", "non_interactive"])
      .optional()
      .openapi({ description: "`manual`: the visitor ticked it." }),
    font_px: z.number().min(0).max(1_000).optional().openapi({ description: "Size of the disclosure in CSS pixels." }),
    contrast_ratio: z.number().min(1).max(21).optional().openapi({ description: "Contrast of the disclosure." }),
    visible: z.boolean().optional().openapi({ description: "Whether the disclosure was on the screen." }),
    checkbox_name: z.string().max(200).optional().openapi({ description: "Name of the consent checkbox." }),
  })
  .openapi({ description: "How the consent was presented, as measured on the page." });

export const consentRequestSchema = z
  .object({
    client_id: z.string().openapi({ description: "Your public client id, prefix `pc_`.", example: exampleClientId }),
    fields: fieldMapSchema,
    disclosure_text: z
      .string()
      .openapi({ description: "The disclosure as it was displayed: 1 to 20,000 characters, kept exactly as sent." }),
    entities: namesSchema.openapi({ description: "Recipients the person was asked about: 1 to 1,000 names of at most 200 characters." }),
    purpose: z.string().openapi({ description: "Stated purpose, 1 to 500 characters.", example: "solar quote follow-up" }),
    page_url: z.string().openapi({
      description: "Address of the page that held the form, at most 2,048 characters. Its host must be on one of your verified domains.",
      example: "https://www.acme-solar.example/quote",
    }),
    entities_accepted: namesSchema.nullish().openapi({
      description:
        "What the visitor answered, recipient by recipient; goes with `entities_rejected`, or leave both out. An empty list means *asked and nobody*, which is another fact than *never asked*.",
    }),
    entities_rejected: namesSchema.nullish().openapi({ description: "See `entities_accepted`. A name may stand in one of the two only." }),
    submission_id: z.guid("must be a UUID").nullish().openapi({
      description: "A UUID of this submission; means the same as the header `Idempotency-Key`.",
      example: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11",
    }),
    locale: z.string().max(35).nullish().openapi({ description: "Language tag of the page.", example: "en-US" }),
    presentation: presentationSchema.nullish(),
    esign: z
      .object({
        disclosure_text: z.string().max(20_000).openapi({ description: "The E-SIGN disclosure as displayed." }),
        accepted: z.boolean().openapi({ description: "Whether the visitor accepted it." }),
      })
      .nullish()
      .openapi({ description: "A separate electronic-signature disclosure, where the page shows one." }),
    widget: z
      .object({
        version: z.string().max(64).optional().openapi({ description: "Version of the page script." }),
        sha256: z.string().max(64).optional().openapi({ description: "SHA-256 of the page script." }),
        automated: z.boolean().optional().openapi({ description: "Whether the browser called itself automated." }),
      })
      .nullish()
      .openapi({ description: "Which page script captured this." }),
    referrer: z.string().max(2_048).nullish().openapi({ description: "Where the visitor came from, as the page reports it." }),
    client_time: z.string().max(40).nullish().openapi({ description: "Time on the visitor's device, kept as reported." }),
  })
  .openapi("ConsentRequest");

export const certIdSchema = z.string().openapi({ description: "Id of the certificate, prefix `cc_`.", example: exampleCertId });
const hashSchema = z.string().openapi({ description: "SHA-256, 64 lower-case hex characters." });
const describedHashSchema = (what: string) => hashSchema.openapi({ description: `SHA-256 of ${what}: 64 lower-case hex characters.` });
const timestampSchema = describedTime("ISO 8601, UTC, with milliseconds");
const certificateEnvironmentSchema = z
  .enum(["live", "sandbox"])
  .openapi({ description: "Sandbox certificates prove nothing; they are for trying out." });
const certificateStatusSchema = z.enum(["active", "revoked"]).openapi({ description: "`revoked`: the person has withdrawn." });
const textMapSchema = z.record(z.string(), z.string());
const verifyUrlSchema = z.string().openapi({ format: "uri", description: "Public page of the certificate, for anyone." });
const entitiesSchema = namesSchema.openapi({ description: "Recipients named to the person, sorted." });
const acceptedEntitiesSchema = namesSchema
  .optional()
  .openapi({ description: "Recipients the person accepted. Present only when the form asked recipient by recipient." });
const rejectedEntitiesSchema = namesSchema
  .optional()
  .openapi({ description: "Recipients the person declined. Present exactly when `entities_accepted` is." });
const withdrawnEntityObjectSchema = z.object({
  entity: z.string().openapi({ description: "The recipient, as named on the certificate." }),
  withdrawn_at: describedTime("When the person withdrew from this recipient"),
  cease_by: describedTime("Until when its contact must have ceased"),
  method: z.enum(["email_code", "manage_link", "business_recorded"]),
  received_at: describedTime("When the business was told, where it recorded this").nullable(),
  receipt_url: z.string().openapi({ format: "uri", description: "The signed receipt, for anyone." }),
  cease_acknowledged_at: describedTime("When the business said that this recipient has ceased contact").nullable(),
  overdue: z.boolean().openapi({
    description: "`cease_by` has passed, and the business has acknowledged neither this nor the withdrawal of the certificate.",
  }),
});
export const withdrawnEntitySchema = withdrawnEntityObjectSchema.openapi("WithdrawnEntity", {
  description: "A recipient the person has withdrawn from.",
});
const withdrawnEntitiesDescription = {
  description:
    "Recipients the person has withdrawn from one by one, oldest first. The certificate stands for the others, until it is `revoked` as a whole. Absent while there are none.",
};
export const withdrawnEntitiesSchema = z.array(withdrawnEntitySchema).optional().openapi(withdrawnEntitiesDescription);
const certificatePurposeSchema = z.string().openapi({ description: "Purpose stated to the person." });
const originDomainSchema = z.string().openapi({ description: "Host of the Origin the form was sent from." });
const maskedSubjectSchema = textMapSchema.openapi({ description: "The person's fields, masked." });
const viewCountSchema = z.int().openapi({ description: "How often the public page was opened by people." });

export const consentReceiptSchema = z
  .object({
    cert_id: certIdSchema,
    fingerprint: describedHashSchema("the canonical certificate (`canonical` in verify)"),
    issued_at: describedTime("When it was issued"),
    verify_url: verifyUrlSchema,
    status: z.literal("active"),
    environment: certificateEnvironmentSchema,
    manage_url: z.string().openapi({
      format: "uri",
      description: "One-tap withdrawal link for the person, valid five years. Give it to them, and to nobody else. It is not shown again.",
    }),
    entities_accepted: acceptedEntitiesSchema,
    entities_rejected: rejectedEntitiesSchema,
  })
  .openapi("ConsentReceipt", { description: "What an issuance answers." });

const policyObjectSchema = z.object({
  id: z.string().openapi({ description: "Id of the snapshot, prefix `pol_`." }),
  kind: z.enum(["privacy", "terms"]),
  source_url: z.string().openapi({ format: "uri", description: "Where the text was found." }),
  content_hash: describedHashSchema("the text"),
  captured_at: describedTime("When this text was first seen"),
});
const policySchema = policyObjectSchema.openapi("Policy", {
  description: "A privacy policy or terms as they stood when the certificate was issued.",
});
const policyWithTextSchema = policyObjectSchema
  .extend({ text: z.string().nullable().openapi({ description: "The text; `null` when it cannot be read just now." }) })
  .openapi("PolicyWithText");

const preimageSchema = z
  .object({
    business: z.object({
      id: z.string(),
      name: z.string().openapi({ description: "The name as it stood when the certificate was issued." }),
    }),
    cert_id: certIdSchema,
    disclosure_hash: describedHashSchema("the disclosure"),
    entities: entitiesSchema,
    entities_accepted: acceptedEntitiesSchema,
    entities_rejected: rejectedEntitiesSchema,
    origin_domain: originDomainSchema,
    purpose: certificatePurposeSchema,
    subject_hash: describedHashSchema("the canonical JSON of the per-field commitments"),
    timestamp: describedTime("Equal to `issued_at`"),
  })
  .openapi("Preimage", { description: "Exactly what the fingerprint binds. Its canonical JSON (RFC 8785) is `canonical`." });

export const anchorSchema = z
  .object({
    status: z
      .enum(["pending", "anchored"])
      .openapi({ description: "`pending` until the ledger has taken the statement; nothing waits for it." }),
    event: z.string().openapi({ description: "What is anchored, for example `certificate.issued`." }),
    entry_hash: describedHashSchema("`statement`"),
    statement: z.string().openapi({ description: "All that leaves for the ledger: hashes and generic metadata, as canonical JSON." }),
    ledger: z.string().openapi({ description: "Which ledger." }),
    tx_ref: z.string().optional().openapi({ description: "Where it stands: `<origin>#<index>`. This and all that follows once anchored." }),
    leaf_index: z.string().optional().openapi({ description: "Decimal." }),
    tree_size: z.string().optional().openapi({ description: "Decimal." }),
    inclusion_proof: namesSchema.optional().openapi({ description: "Base64 hashes, from the leaf's sibling up." }),
    signed_root: z.string().optional().openapi({ description: "The signed checkpoint, verbatim." }),
    anchored_at: nullableSchema(timestampSchema).optional(),
    anchored_at_source: z
      .literal("service")
      .optional()
      .openapi({ description: "`service`: the time is ours; nobody else vouches for it." }),
    tlog_proof: nullableSchema(z.string()).optional().openapi({ description: "The proof in the c2sp.org/tlog-proof@v1 text form." }),
    attested: z
      .object({
        tree_size: nullableSchema(z.string()).openapi({ description: "Decimal." }),
        signed_root: z.string().openapi({ description: "A checkpoint of the ledger that others attested, with the lines of witnesses." }),
        inclusion_proof: namesSchema.openapi({ description: "Base64 hashes that lead from the statement to that checkpoint." }),
        time: nullableSchema(timestampSchema).openapi({ description: "When it was attested, by a clock that is not ours." }),
        time_source: z.enum(["rfc3161", "cosignature"]).openapi({ description: "Whose clock: an authority's, or a witness's." }),
        attestations: z.array(
          z.object({
            kind: z.enum(["rfc3161", "cosignature"]),
            tsa: z.string().optional(),
            name: z.string().optional(),
            time: timestampSchema,
            token: z.string().optional().openapi({ description: "RFC 3161 reply over the checkpoint without cosignatures, base64." }),
          }),
        ),
      })
      .optional()
      .openapi({ description: "What others attested of it, once somebody has: a time stamp, or witnesses that saw no other history." }),
  })
  .openapi("Anchor", { description: "What is anchored in the append-only ledger." });

const signatureSchema = z
  .object({
    kid: z.string().openapi({ description: "Which of the keys at /.well-known/jwks.json." }),
    alg: z.literal("Ed25519"),
    value: z.string().openapi({ description: "Standard base64 of 64 bytes." }),
  })
  .openapi("Signature", { description: "The issuer's signature over the UTF-8 bytes of `canonical`." });

const withdrawalObjectSchema = z.object({
  withdrawn_at: describedTime("When the certificate became revoked"),
  cease_by: describedTime("Until when all contact must have ceased: the end of the tenth business day (Monday to Friday, UTC)"),
  method: z.enum(["email_code", "manage_link", "business_recorded"]).openapi({
    description: "The person answered a mailed code, followed the link from the 201, or told the business, which recorded it.",
  }),
  scope: z
    .enum(["certificate", "recipient", "business"])
    .openapi({ description: "What the person withdrew from: this certificate, or all of this business's with the same address." }),
  received_at: describedTime("When the business was told, of a withdrawal it recorded: `cease_by` counts from here").nullable(),
  receipt_url: z.string().openapi({ format: "uri", description: "The signed receipt, for anyone." }),
  cease_acknowledged_at: describedTime("When the business said that contact has ceased").nullable(),
  overdue: z.boolean().openapi({ description: "Past `cease_by` without an acknowledgement." }),
});
export const withdrawalSchema = withdrawalObjectSchema.openapi("Withdrawal", { description: "The person has taken the consent back." });
const withdrawalWithProofObjectSchema = withdrawalObjectSchema.extend({
  anchor: nullableSchema(anchorSchema).openapi({ description: "The withdrawal in the ledger." }),
});
const withdrawalWithProofSchema = nullableSchema(
  withdrawalWithProofObjectSchema.openapi("ProvenWithdrawal", { description: "A withdrawal with its place in the ledger." }),
);
const businessStatementFields = {
  recorded: z
    .object({ method: z.string(), note: z.string().nullable() })
    .nullable()
    .openapi({ description: "How the business was told, as it recorded it." }),
  acknowledgement: z
    .object({ note: z.string().nullable(), acknowledged_by: z.string().nullable(), actions: namesSchema })
    .nullable()
    .openapi({ description: "What the business said when it acknowledged." }),
};
const businessWithdrawalSchema = nullableSchema(
  withdrawalWithProofObjectSchema
    .extend(businessStatementFields)
    .openapi("OwnWithdrawal", { description: "A withdrawal with what the business itself said about it." }),
);
const businessWithdrawnEntitySchema = withdrawnEntityObjectSchema.extend(businessStatementFields).openapi("OwnWithdrawnEntity", {
  description: "A recipient the person has withdrawn from, with what the business itself said about it.",
});

const withdrawalReceiptFieldsSchema = z
  .object({
    business: z.object({ id: z.string(), name: z.string() }),
    cease_by: timestampSchema,
    cert_id: certIdSchema,
    fingerprint: hashSchema,
    method: z.string(),
    origin_domain: originDomainSchema,
    received_at: nullableSchema(timestampSchema),
    schema: z
      .enum(["svc-withdrawal-receipt-v1", "svc-withdrawal-receipt-v2"])
      .openapi({ description: "`v2` is of a withdrawal from single recipients: `scope` is `recipient`, and `entities` names them." }),
    scope: z.string(),
    entities: namesSchema.optional(),
    withdrawn_at: timestampSchema,
  })
  .openapi({ description: "What the receipt says." });
export const withdrawalReceiptSchema = z
  .object({
    receipt: withdrawalReceiptFieldsSchema,
    canonical: z.string().openapi({ description: "Exactly the text that is signed: the canonical JSON of `receipt`." }),
    signature: signatureSchema,
    anchor: nullableSchema(anchorSchema).openapi({ description: "The withdrawal in the ledger." }),
  })
  .openapi("WithdrawalReceipt", { description: "Proof of a withdrawal, to keep. `svc-verify` checks it without any network." });

const checkSchema = z.object({
  id: z.string().openapi({ description: "Which check." }),
  result: z.string(),
  note: z.string().openapi({ description: "What that does and does not prove." }),
});

const subjectErasedAtSchema = describedTime("When the person's fields were erased; `null` while they are kept").nullable();

const publishedCertificateObjectSchema = z.object({
  cert_id: certIdSchema,
  status: certificateStatusSchema,
  environment: certificateEnvironmentSchema,
  fingerprint: describedHashSchema("`canonical`"),
  fingerprint_version: z.literal("1"),
  issued_at: describedTime("When it was issued"),
  verify_url: verifyUrlSchema,
  business_id: z.string().openapi({ description: "Id of the business, prefix `biz_`." }),
  business_name: z.string().openapi({ description: "The business as it was named then." }),
  entities: entitiesSchema,
  entities_accepted: acceptedEntitiesSchema,
  entities_rejected: rejectedEntitiesSchema,
  entities_withdrawn: withdrawnEntitiesSchema,
  disclosure_text: z.string().openapi({ description: "The disclosure exactly as it was displayed." }),
  disclosure_hash: describedHashSchema("`disclosure_text`"),
  purpose: certificatePurposeSchema,
  origin_domain: originDomainSchema,
  subject: maskedSubjectSchema,
  subject_hash: describedHashSchema("the commitments to the person's fields"),
  subject_erased_at: subjectErasedAtSchema,
  policies: z.array(policySchema),
  policies_status: z
    .enum(["pending", "captured", "unavailable"])
    .openapi({ description: "Policies are looked up after the certificate is issued." }),
  preimage: preimageSchema,
  canonical: z.string().openapi({ description: "The exact text whose SHA-256 is the fingerprint." }),
  signature: signatureSchema,
  anchor: nullableSchema(anchorSchema),
  withdrawal: withdrawalWithProofSchema,
  cease_by: describedTime("Until when all contact must have ceased; `null` while active").nullable(),
  signals: z.object({
    gpc: z.boolean().openapi({ description: "Whether the browser sent Global Privacy Control with the submission." }),
  }),
  checks: z.array(checkSchema).openapi({ description: "What was checked at issuance, and what could not be." }),
  view_count: viewCountSchema,
  status_list: z
    .object({ uri: z.string(), index: z.int() })
    .nullable()
    .openapi({ description: "Place in the public status list, if there is one." }),
});

export const verifiedCertificateSchema = publishedCertificateObjectSchema.openapi("VerifiedCertificate", {
  description: "Everything about a certificate but personal data.",
});

export const certificateViewSchema = z
  .object({
    at: timestampSchema,
    ip: z.string().nullable().openapi({ description: "`null` where redacted." }),
    user_agent: z.string().nullable().openapi({ description: "`null` where redacted." }),
    os: z.string().nullable().openapi({ description: "Family of operating system, where it can be told." }),
    bot: z.boolean().openapi({ description: "A known program, not a person; not counted." }),
  })
  .openapi("View", { description: "One open of the public page." });

const deviceReportedSchema = (what: string) =>
  z.unknown().openapi({ description: `${what} As reported by the page; \`null\` when it was not sent.` });
const evidenceSchema = z
  .object({
    salt: z
      .string()
      .optional()
      .openapi({ description: "128 random bits, so that the hash gives nothing away. Absent from certificates that were issued without." }),
    page_url: z.string().openapi({ description: "Address of the page that held the form." }),
    ip: z.string().openapi({ description: "Address the submission came from." }),
    user_agent: z.string(),
    os: z.string().nullable(),
    browser: z.string().nullable(),
    geo: z
      .object({ country: z.string().nullable(), region: z.string().nullable(), city: z.string().nullable() })
      .openapi({ description: "Where the address is, as far as the network edge can tell." }),
    gpc: z.boolean().openapi({ description: "Global Privacy Control." }),
    captured_via: z.enum(["browser", "server"]),
    origin_reported: z.string().openapi({ description: "The Origin header as it came." }),
    referrer: deviceReportedSchema("Previous page."),
    client_time: deviceReportedSchema("Time on the device."),
    locale: deviceReportedSchema("Language of the page."),
    widget: deviceReportedSchema("Version and hash of the page script."),
    presentation: deviceReportedSchema("How the consent was presented."),
    esign: deviceReportedSchema("Electronic-signature disclosure."),
  })
  .openapi("Evidence", { description: "The circumstances of the submission. Personal data." });

// Extends the shape, not the named schema: a description by allOf could not give `subject` and `policies` another form.
export const certificateDetailSchema = publishedCertificateObjectSchema
  .extend({
    subject: textMapSchema.openapi({ description: "The person's fields as typed: personal data. Empty once erased." }),
    subject_salts: textMapSchema.openapi({ description: "The salt of each field's commitment, to prove one field without the others." }),
    evidence: nullableSchema(evidenceSchema),
    evidence_hash: describedHashSchema("the canonical JSON of `evidence`; it stays when the evidence is erased"),
    withdrawal: businessWithdrawalSchema,
    entities_withdrawn: z.array(businessWithdrawnEntitySchema).optional().openapi(withdrawnEntitiesDescription),
    policies: z.array(policyWithTextSchema),
    view_trail: z
      .array(certificateViewSchema)
      .openapi({ description: "The newest 100 opens of the public page, newest first. Empty once the person was erased." }),
    audit: z
      .object({ seq: z.int(), hash: hashSchema, prev_hash: hashSchema })
      .nullable()
      .openapi({ description: "Entry of the issuance in your audit chain; `null` until it is written." }),
    retention_until: describedTime("Until when the personal data are kept; then they are erased"),
  })
  .openapi("CertificateDetail", { description: "A certificate with everything its owner may see." });

const listedCertificateSchema = z
  .object({
    cert_id: certIdSchema,
    status: certificateStatusSchema,
    fingerprint: hashSchema,
    issued_at: describedTime("When it was issued"),
    verify_url: verifyUrlSchema,
    purpose: certificatePurposeSchema,
    origin_domain: originDomainSchema,
    entities: entitiesSchema,
    entities_accepted: acceptedEntitiesSchema,
    entities_rejected: rejectedEntitiesSchema,
    entities_withdrawn: withdrawnEntitiesSchema,
    subject: maskedSubjectSchema,
    subject_erased_at: subjectErasedAtSchema,
    view_count: viewCountSchema,
    withdrawal: nullableSchema(withdrawalSchema),
    environment: certificateEnvironmentSchema,
  })
  .openapi("ListedCertificate", { description: "A certificate in a list." });

export const certificateListSchema = z
  .object({
    certs: z.array(listedCertificateSchema).openapi({ description: "Newest first." }),
    total: z.int().openapi({ description: "Certificates that match, on all pages." }),
    page: z.int(),
    per_page: z.int(),
  })
  .openapi("CertificateList");

const auditEntrySchema = z
  .object({
    seq: z.int(),
    at: timestampSchema,
    type: z.string(),
    entity_type: z.string(),
    entity_id: z.string(),
    payload: nullableSchema(z.record(z.string(), z.unknown())).openapi({ description: "What the entry committed to; `null` once erased." }),
    payload_salt: nullableSchema(z.string()),
    payload_hash: hashSchema,
    prev_hash: hashSchema,
    hash: hashSchema,
    log_index: nullableSchema(z.string()).openapi({ description: "Decimal: its place in the audit log." }),
    tlog_proof: nullableSchema(z.string()).openapi({
      description: "That the audit log holds it, in the c2sp.org/tlog-proof@v1 text form.",
    }),
  })
  .openapi("AuditEntry", { description: "One entry of an audit chain." });

export const evidenceBundleSchema = z
  .object({
    bundle_version: z.literal("1.0"),
    generated_at: timestampSchema,
    certificate: verifiedCertificateSchema,
    preimage: preimageSchema,
    canonical_json: z.string().openapi({ description: "The exact text whose SHA-256 is the fingerprint." }),
    fingerprint: hashSchema,
    subject_disclosures: z
      .array(z.object({ key: z.string(), salt: z.string(), value: z.string() }))
      .openapi({ description: "The disclosed fields: SHA-256 of the canonical JSON `[salt, key, value]` is the field's commitment." }),
    commitments: textMapSchema.openapi({ description: "Field key to commitment, for every field, disclosed or not." }),
    disclosure: z.object({ text: z.string(), hash: hashSchema }),
    policies: z.array(policyWithTextSchema),
    evidence: nullableSchema(evidenceSchema).openapi({ description: "`null` where redacted." }),
    evidence_hash: hashSchema,
    audit: z
      .object({
        chain: nullableSchema(z.string()).openapi({ description: "Random name of your audit chain." }),
        chain_index: nullableSchema(z.int()).openapi({ description: "Its place in the log's tree of heads." }),
        entries: z.array(auditEntrySchema).openapi({ description: "What happened to the certificate, oldest first." }),
        head: nullableSchema(z.object({ seq: z.int(), hash: hashSchema })).openapi({ description: "The chain's newest entry." }),
        heads: nullableSchema(
          z.object({
            record: z.string(),
            record_tlog_proof: z.string(),
            leaf: z.string(),
            path: z.array(z.string()),
            size: z.string(),
          }),
        ).openapi({ description: "The log's own record of how far every chain had come, and this chain's place in it." }),
      })
      .openapi({ description: "The certificate's entries in your audit chain, each with its proof." }),
    ledger: z
      .object({
        entry: nullableSchema(z.string()).openapi({ description: "The anchored statement." }),
        entry_hash: nullableSchema(hashSchema),
        leaf_hash: nullableSchema(z.string()).openapi({
          description: "Base64. This and all that follows is null or empty until it is anchored.",
        }),
        leaf_index: nullableSchema(z.string()).openapi({ description: "Decimal." }),
        leaf_body: nullableSchema(z.string())
          .optional()
          .openapi({ description: "Base64; for ledgers that wrap the statement in a leaf of their own." }),
        tree_size: nullableSchema(z.string()).openapi({ description: "Decimal." }),
        inclusion_proof: z.array(z.string()).openapi({ description: "Base64 hashes, from the leaf's sibling up." }),
        checkpoint: nullableSchema(z.string()).openapi({ description: "The signed checkpoint, with the lines of witnesses." }),
        cosignatures: z.array(z.string()).openapi({ description: "The lines of witnesses." }),
        timestamp_token: nullableSchema(z.string()).openapi({
          description: "RFC 3161 reply over the checkpoint without cosignatures, base64.",
        }),
        tlog_proof: nullableSchema(z.string()).openapi({ description: "The proof in the c2sp.org/tlog-proof@v1 text form." }),
      })
      .openapi({ description: "The anchored statement and, once anchored, its proof." }),
    withdrawal: withdrawalWithProofSchema,
    withdrawal_receipt: nullableSchema(withdrawalReceiptSchema),
    views: z.array(certificateViewSchema),
    issuer_keys: z
      .object({ keys: z.array(z.record(z.string(), z.unknown())) })
      .openapi({ description: "As at /.well-known/svc-trust.json." }),
    signature: signatureSchema,
    identity: z
      .object({ legal_name: z.string().nullable(), mailing_address: z.string().nullable(), contact: z.string().nullable() })
      .openapi({ description: "How the business names itself to courts and letters." }),
    how_to_verify: z.string().openapi({ description: "The steps, in words." }),
  })
  .openapi("EvidenceBundle", { description: "All that is needed to check the certificate without this service." });

const pagingFields = (wholeNumber: z.ZodType<number>) => ({
  page: wholeNumber.default(1).openapi({ type: "integer", minimum: 1, default: 1, description: "A page past the end is empty." }),
  per_page: wholeNumber
    .transform((count) => Math.min(100, count))
    .default(25)
    .openapi({ type: "integer", minimum: 1, default: 25, description: "At most 100; larger is answered as 100." }),
});

export const certificateListQuerySchema = z.object({
  ...pagingFields(positiveIntSchema),
  status: certificateStatusSchema.optional(),
  subject_email: z
    .string()
    .min(1)
    .max(320)
    .optional()
    .openapi({ description: "This e-mail address exactly; case does not matter.", example: "pat@example.com" }),
  subject_phone: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .openapi({ description: "This telephone number exactly, however it is punctuated.", example: "+1 202 555 0123" }),
  q: z.string().max(500).optional().openapi({ description: "Part of the purpose, in any case.", example: "solar" }),
  origin_domain: z.string().max(253).toLowerCase().optional().openapi({ description: "Host the form was sent from." }),
  entity: z.string().max(200).optional().openapi({ description: "A recipient, exactly as named." }),
  from: instantSchema.optional().openapi({ description: "Issued at or after this moment, ISO 8601.", format: "date-time" }),
  to: instantSchema.optional().openapi({ description: "Issued at or before this moment, ISO 8601.", format: "date-time" }),
});

const positiveIntegerSchema = z.number().int("must be a positive whole number").min(1, "must be a positive whole number");

/** The same filters in a body: an address in a URL stands in the logs of whatever it passes through. */
export const certificateSearchSchema = certificateListQuerySchema.extend(pagingFields(positiveIntegerSchema));

const fieldListPattern = /^[a-z][a-z0-9_]{0,39}(?:,[a-z][a-z0-9_]{0,39}){0,19}$/;

export const evidencePackQuerySchema = z.object({
  format: z.enum(["json", "zip", "html"]).default("json").openapi({
    description:
      "`json` (default): one enveloped bundle. `zip`: the evidence pack, for `svc-verify` and common tools. `html`: the same pack inside a page that checks itself.",
  }),
  redact: z.enum(["subject"]).optional().openapi({ description: "`subject` leaves out every personal value." }),
  disclose: z.string().regex(fieldListPattern, "must be field keys separated by commas").optional().openapi({
    description: "Field keys separated by commas; only these are disclosed. Default: every field.",
    example: "email,phone",
  }),
});

export const eraseSubjectSchema = z
  .object({
    confirm: z.literal("ERASE", "must be ERASE").openapi({ description: "That you know it cannot be undone." }),
    reason: z.enum(erasureReasons).nullish().openapi({ description: "Why. Entered in your audit chain." }),
  })
  .openapi("EraseSubject");

export const eraseSubjectExample = { confirm: "ERASE", reason: "person_asked" } as const;

export const erasedSubjectSchema = z
  .object({ cert_id: certIdSchema, subject_erased_at: describedTime("When the person was erased; a second time answers with the first") })
  .openapi("ErasedSubject");
