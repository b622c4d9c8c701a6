// Schemas of responses that contain certificates. They describe these responses in the OpenAPI document and in types. Nothing else needs
// them, so they are created when the document is built, and not whenever an isolate starts.
import { z } from "@hono/zod-openapi";
import { environments } from "../../../core/access/entitlement.ts";
import { once } from "../../../core/once.ts";
import { describedTime, nullableSchema } from "../../http/wire.ts";
import {
  anchorSchema,
  certIdSchema,
  certificateStatusSchema,
  certificateViewSchema,
  describedHashSchema,
  hashSchema,
  namesSchema,
  timestampSchema,
} from "./schema.ts";

export const getCertificateSchemas = once(() => {
  const certificateEnvironmentSchema = z
    .enum(environments)
    .meta({ description: "Sandbox certificates are for testing and have no evidentiary value." });
  const textMapSchema = z.record(z.string(), z.string());
  const verifyUrlSchema = z.string().meta({ format: "uri", description: "URL of the certificate's public page." });
  const entitiesSchema = namesSchema.meta({ description: "Recipients shown to the person, sorted by name." });
  const acceptedEntitiesSchema = namesSchema
    .optional()
    .meta({ description: "Recipients that the person accepted. Present only if the form asked about each recipient." });
  const rejectedEntitiesSchema = namesSchema
    .optional()
    .meta({ description: "Recipients that the person rejected. Present only together with `entities_accepted`." });

  const withdrawnEntityObjectSchema = z.object({
    entity: z.string().meta({ description: "Name of the recipient, as on the certificate." }),
    withdrawn_at: describedTime("When the person withdrew consent for this recipient"),
    cease_by: describedTime(
      "Deadline for this recipient to stop contact: the end of the tenth business day (UTC) after `received_at`, or else `withdrawn_at`",
    ),
    method: z.enum(["email_code", "manage_link", "business_recorded"]),
    received_at: describedTime("For a withdrawal that the business recorded: when the business received it").nullable(),
    receipt_url: z.string().meta({ format: "uri", description: "Public URL of the signed receipt." }),
    cease_acknowledged_at: describedTime("When the business confirmed that this recipient stopped contacting the person").nullable(),
    overdue: z.boolean().meta({
      description:
        "`true` if `cease_by` has passed and the business has acknowledged neither this withdrawal nor the withdrawal of the whole certificate.",
    }),
  });
  const withdrawnEntitySchema = withdrawnEntityObjectSchema.openapi("WithdrawnEntity", {
    description: "Recipient for whom the person withdrew consent.",
  });
  const withdrawnEntitiesDescription = {
    description:
      "Recipients for whom the person withdrew consent individually, oldest first. Consent for the others remains unless `status` is `revoked`. Absent if there are none.",
  };
  const withdrawnEntitiesSchema = z.array(withdrawnEntitySchema).optional().meta(withdrawnEntitiesDescription);

  const withdrawalObjectSchema = z.object({
    withdrawn_at: describedTime("When the certificate was revoked"),
    cease_by: describedTime("Deadline to stop all contact: the end of the tenth business day (Monday to Friday, UTC)"),
    method: z.enum(["email_code", "manage_link", "business_recorded"]).meta({
      description:
        "`email_code`: the person proved the email address by code, emailed link or sign-in. `manage_link`: the person used the withdrawal link (`manage_url`). `business_recorded`: the business recorded a request that it received in another way.",
    }),
    scope: z.enum(["certificate", "recipient", "business"]).meta({
      description:
        "`certificate`: this certificate. `business`: all of the business's certificates for the same person. `recipient`: individual recipients.",
    }),
    received_at: describedTime(
      "For a withdrawal that the business recorded: when the business received it. `cease_by` counts from this time",
    ).nullable(),
    receipt_url: z.string().meta({ format: "uri", description: "Public URL of the signed receipt." }),
    cease_acknowledged_at: describedTime("When the business confirmed that contact stopped").nullable(),
    overdue: z.boolean().meta({ description: "`true` if `cease_by` has passed without an acknowledgment." }),
  });
  const withdrawalSchema = withdrawalObjectSchema.openapi("Withdrawal", { description: "Withdrawal of consent by the person." });

  const certificatePurposeSchema = z.string().meta({ description: "Purpose shown to the person." });
  const originDomainSchema = z.string().meta({ description: "Host of the website where the form was submitted." });
  const maskedSubjectSchema = textMapSchema.meta({ description: "The person's details, masked." });
  const unrecognizedFieldsSchema = z
    .array(z.string())
    .readonly()
    .optional()
    .meta({
      description: "Keys of fields with invalid values. Searches do not find these values. Absent if there are none.",
      example: ["country"],
    });
  const submissionNotesFields = {
    fields_unrecognized: unrecognizedFieldsSchema,
    fields_truncated: z.literal(true).optional().meta({
      description: "`true` if some fields were left out because there were too many or their values were too long. Otherwise absent.",
    }),
    text_replaced: z
      .literal(true)
      .optional()
      .meta({ description: "`true` if characters that cannot be stored were replaced with U+FFFD. Otherwise absent." }),
  };
  const viewCountSchema = z.int().meta({ description: "Number of views of the public page, excluding automated requests." });

  const consentReceiptSchema = z
    .object({
      cert_id: certIdSchema,
      fingerprint: describedHashSchema("the canonical text of the certificate (`canonical` in the verify response)"),
      issued_at: describedTime("When the certificate was issued"),
      verify_url: verifyUrlSchema,
      status: z.literal("active"),
      environment: certificateEnvironmentSchema,
      manage_url: z.string().meta({
        format: "uri",
        description:
          "Link with which the person can withdraw without a code, valid for 5 years. Give it only to the person. No other route returns it.",
      }),
      fields_unrecognized: unrecognizedFieldsSchema,
      entities_accepted: acceptedEntitiesSchema,
      entities_rejected: rejectedEntitiesSchema,
    })
    .openapi("ConsentReceipt", { description: "The issued certificate." });

  const policyObjectSchema = z.object({
    id: z.string().meta({ description: "ID of the policy snapshot. Starts with `pol_`." }),
    kind: z.enum(["privacy", "terms"]),
    source_url: z.string().meta({ format: "uri", description: "URL of the captured page." }),
    content_hash: describedHashSchema("the text"),
    captured_at: describedTime("When this text was first captured"),
  });
  const policySchema = policyObjectSchema.openapi("Policy", {
    description: "Snapshot of the website's privacy policy or terms.",
  });
  const policyWithTextSchema = policyObjectSchema
    .extend({ text: z.string().nullable().meta({ description: "Text of the policy; `null` if temporarily unavailable." }) })
    .openapi("PolicyWithText");

  const preimageSchema = z
    .object({
      business: z.object({
        id: z.string(),
        name: z.string().meta({ description: "Name of the business at the time of issuance." }),
      }),
      cert_id: certIdSchema,
      disclosure_hash: describedHashSchema("the disclosure"),
      entities: entitiesSchema,
      entities_accepted: acceptedEntitiesSchema,
      entities_rejected: rejectedEntitiesSchema,
      origin_domain: originDomainSchema,
      purpose: certificatePurposeSchema,
      subject_hash: describedHashSchema("the canonical JSON of the per-field commitments"),
      timestamp: describedTime("Same as `issued_at`"),
    })
    .openapi("Preimage", { description: "The hashed data. `canonical` is this object as canonical JSON (RFC 8785)." });
  const signatureSchema = z
    .object({
      kid: z.string().meta({ description: "`kid` of the signing key in /.well-known/jwks.json." }),
      alg: z.literal("Ed25519"),
      value: z.string().meta({ description: "64-byte signature, standard base64." }),
    })
    .openapi("Signature", { description: "Issuer's signature over the UTF-8 bytes of `canonical`." });

  const withdrawalWithProofObjectSchema = withdrawalObjectSchema.extend({
    anchor: nullableSchema(anchorSchema).meta({ description: "Ledger anchor for the withdrawal." }),
  });
  const withdrawalWithProofSchema = nullableSchema(
    withdrawalWithProofObjectSchema.openapi("ProvenWithdrawal", { description: "Withdrawal with its ledger anchor." }),
  );
  const businessStatementFields = {
    recorded: z
      .object({ method: z.string(), note: z.string().nullable() })
      .nullable()
      .meta({ description: "For a withdrawal that the business recorded: how the business received it." }),
    acknowledgement: z
      .object({ note: z.string().nullable(), acknowledged_by: z.string().nullable(), actions: namesSchema })
      .nullable()
      .meta({ description: "Details from the business's acknowledgment." }),
  };
  const businessWithdrawalSchema = nullableSchema(
    withdrawalWithProofObjectSchema
      .extend(businessStatementFields)
      .openapi("OwnWithdrawal", { description: "Withdrawal, including the notes that only the business sees." }),
  );
  const businessWithdrawnEntitySchema = withdrawnEntityObjectSchema.extend(businessStatementFields).openapi("OwnWithdrawnEntity", {
    description: "Recipient for whom the person withdrew consent, with the business's notes.",
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
      schema: z.enum(["svc-withdrawal-receipt-v1", "svc-withdrawal-receipt-v2"]).meta({
        description: "`v2`: consent was withdrawn for individual recipients, which `entities` lists.",
      }),
      scope: z.string(),
      entities: namesSchema.optional(),
      withdrawn_at: timestampSchema,
    })
    .meta({ description: "Content of the receipt." });
  const withdrawalReceiptSchema = z
    .object({
      receipt: withdrawalReceiptFieldsSchema,
      canonical: z.string().meta({ description: "Signed text: the canonical JSON of `receipt`." }),
      signature: signatureSchema,
      anchor: nullableSchema(anchorSchema).meta({ description: "Ledger anchor for the withdrawal." }),
    })
    .openapi("WithdrawalReceipt", { description: "Signed proof of a withdrawal. `svc-verify` verifies it offline." });

  const checkSchema = z.object({
    id: z.string().meta({ description: "What was checked, such as `origin`." }),
    result: z.string(),
    note: z.string().meta({ description: "What the check does and does not prove." }),
  });

  const subjectErasedAtSchema = describedTime("When the person's data was erased; `null` if it was not erased").nullable();

  const publishedCertificateObjectSchema = z.object({
    cert_id: certIdSchema,
    status: certificateStatusSchema,
    environment: certificateEnvironmentSchema,
    fingerprint: describedHashSchema("`canonical`"),
    fingerprint_version: z.literal("1"),
    issued_at: describedTime("When the certificate was issued"),
    verify_url: verifyUrlSchema,
    business_id: z.string().meta({ description: "ID of the business. Starts with `biz_`." }),
    business_name: z.string().meta({ description: "Name of the business at the time of issuance." }),
    entities: entitiesSchema,
    entities_accepted: acceptedEntitiesSchema,
    entities_rejected: rejectedEntitiesSchema,
    entities_withdrawn: withdrawnEntitiesSchema,
    disclosure_text: z.string().meta({ description: "Disclosure exactly as displayed." }),
    disclosure_hash: describedHashSchema("`disclosure_text`"),
    purpose: certificatePurposeSchema,
    origin_domain: originDomainSchema,
    subject: maskedSubjectSchema,
    subject_hash: describedHashSchema("the canonical JSON of the per-field commitments"),
    subject_erased_at: subjectErasedAtSchema,
    ...submissionNotesFields,
    policies: z.array(policySchema),
    policies_status: z
      .enum(["pending", "captured", "unavailable"])
      .meta({ description: "Whether the website's policies were captured (after issuance)." }),
    preimage: preimageSchema,
    canonical: z.string().meta({ description: "Text whose SHA-256 hash is the fingerprint." }),
    signature: signatureSchema,
    anchor: nullableSchema(anchorSchema),
    withdrawal: withdrawalWithProofSchema,
    cease_by: describedTime("Deadline to stop all contact; `null` while the certificate is active").nullable(),
    signals: z.object({
      gpc: z.boolean().meta({ description: "Whether the browser sent a Global Privacy Control (GPC) signal with the submission." }),
    }),
    checks: z
      .array(checkSchema)
      .meta({ description: "Checks performed at issuance. Each note states what the check does and does not prove." }),
    view_count: viewCountSchema,
    status_list: z.object({ uri: z.string(), index: z.int() }).nullable().meta({ description: "Currently always `null`." }),
  });

  const duplicateSchema = z
    .object({
      fingerprint: hashSchema,
      issued_at: describedTime("When this certificate text was signed"),
      canonical: z.string().meta({ description: "Text whose SHA-256 hash is `fingerprint`." }),
      signature: signatureSchema,
    })
    .openapi("CertificateDuplicate");

  const verifiedCertificateSchema = publishedCertificateObjectSchema
    .extend({
      duplicates: z.array(duplicateSchema).optional().meta({
        description: "Other signed texts of this certificate. Present only if the submission was repeated during an outage.",
      }),
    })
    .openapi("VerifiedCertificate", { description: "Certificate without personal data." });

  const deviceReportedSchema = (value: string) =>
    z.unknown().meta({ description: `${value}, as reported by the page; \`null\` if not sent.` });
  const evidenceSchema = z
    .object({
      salt: z
        .string()
        .optional()
        .meta({ description: "128 random bits that prevent guessing the evidence from its hash. Absent from older certificates." }),
      page_url: z.string().meta({ description: "URL of the page that contains the form." }),
      ip: z.string().meta({ description: "IP address from which the form was submitted." }),
      user_agent: z.string(),
      os: z.string().nullable(),
      browser: z.string().nullable(),
      geo: z
        .object({ country: z.string().nullable(), region: z.string().nullable(), city: z.string().nullable() })
        .meta({ description: "Approximate location of the IP address, as determined at the network edge." }),
      gpc: z.boolean().meta({ description: "Whether the browser sent a Global Privacy Control (GPC) signal." }),
      captured_via: z.enum(["browser", "server"]),
      origin_reported: z.string().meta({ description: "`Origin` header as received." }),
      referrer: deviceReportedSchema("Referrer"),
      client_time: deviceReportedSchema("Time on the device"),
      locale: deviceReportedSchema("Language of the page"),
      widget: deviceReportedSchema("Version and hash of the widget"),
      presentation: deviceReportedSchema("Presentation of the consent request"),
      esign: deviceReportedSchema("Electronic-signature disclosure"),
      ...submissionNotesFields,
    })
    .openapi("Evidence", { description: "Circumstances of the submission. Contains personal data." });

  // Extends the unnamed schema. For a named schema, the OpenAPI document would use `allOf`, which cannot change the type of `subject`.
  const certificateDetailSchema = publishedCertificateObjectSchema
    .extend({
      subject: textMapSchema.meta({ description: "The person's details as typed. Contains personal data. Empty after erasure." }),
      subject_salts: textMapSchema.meta({
        description: "Salt of each field's commitment. With the salt, you can prove one field without disclosing the others.",
      }),
      evidence: nullableSchema(evidenceSchema),
      evidence_hash: hashSchema.meta({
        description: "SHA-256 of the canonical JSON of `evidence`, 64 lowercase hex characters. Kept when the evidence is erased.",
      }),
      withdrawal: businessWithdrawalSchema,
      entities_withdrawn: z.array(businessWithdrawnEntitySchema).optional().meta(withdrawnEntitiesDescription),
      policies: z.array(policyWithTextSchema),
      view_trail: z
        .array(certificateViewSchema)
        .meta({ description: "The newest 100 views of the public page, newest first. Empty after erasure of the person's data." }),
      audit: z
        .object({ seq: z.int(), hash: hashSchema, prev_hash: hashSchema })
        .nullable()
        .meta({ description: "Entry in your audit chain that records the issuance; `null` until it is written." }),
      retention_until: describedTime("When the personal data will be erased"),
    })
    .openapi("CertificateDetail", { description: "Certificate with personal data. Returned only to its issuer." });

  const listedCertificateSchema = z
    .object({
      cert_id: certIdSchema,
      status: certificateStatusSchema,
      fingerprint: hashSchema,
      issued_at: describedTime("When the certificate was issued"),
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
    .openapi("ListedCertificate", { description: "Certificate in a list, with masked personal data." });

  const certificateListSchema = z
    .object({
      certs: z.array(listedCertificateSchema).meta({ description: "Certificates on this page, newest first." }),
      total: z.int().meta({ description: "Number of matching certificates on all pages. If `truncated` is present, there can be more." }),
      page: z.int(),
      per_page: z.int(),
      truncated: z.literal(true).optional().meta({
        description:
          "`true` if `total` or the pages might not include all matches; otherwise absent. Pages contain at most the newest 10,000 matches. A search by email address or phone number reads only the newest 1,000 certificates with that address or number. We count certificates for a limited number of combinations of purpose, recipients and domain. Of certificates with other combinations, a search by purpose, recipient, domain or date reads only the newest 1,000 in the period. To find older ones, shorten the period with `from` and `to`.",
      }),
    })
    .openapi("CertificateList");

  const auditEntrySchema = z
    .object({
      seq: z.int(),
      at: timestampSchema,
      type: z.string(),
      entity_type: z.string(),
      entity_id: z.string(),
      payload: nullableSchema(z.record(z.string(), z.unknown())).meta({ description: "Payload of the entry; `null` after erasure." }),
      payload_salt: nullableSchema(z.string()),
      payload_hash: hashSchema,
      prev_hash: hashSchema,
      hash: hashSchema,
      log_index: nullableSchema(z.string()).meta({ description: "Index in the audit log (decimal string)." }),
      tlog_proof: nullableSchema(z.string()).meta({
        description: "Proof that the audit log contains the entry, in the c2sp.org/tlog-proof@v1 text format.",
      }),
    })
    .openapi("AuditEntry", { description: "Entry of an audit chain." });

  const evidenceBundleSchema = z
    .object({
      bundle_version: z.literal("1.0"),
      generated_at: timestampSchema,
      certificate: verifiedCertificateSchema,
      preimage: preimageSchema,
      canonical_json: z.string().meta({ description: "Text whose SHA-256 hash is the fingerprint." }),
      fingerprint: hashSchema,
      subject_disclosures: z
        .array(z.object({ key: z.string(), salt: z.string(), value: z.string() }))
        .meta({ description: "Disclosed fields. Each field's commitment is the SHA-256 of the canonical JSON `[salt, key, value]`." }),
      commitments: textMapSchema.meta({ description: "Commitment for each field, by key, whether or not the field is disclosed." }),
      disclosure: z.object({ text: z.string(), hash: hashSchema }),
      policies: z.array(policyWithTextSchema),
      evidence: nullableSchema(evidenceSchema).meta({ description: "`null` if redacted." }),
      evidence_hash: hashSchema,
      audit: z
        .object({
          chain: nullableSchema(z.string()).meta({ description: "Random name of your audit chain." }),
          chain_index: nullableSchema(z.int()).meta({
            description: "Index of the chain in the tree of heads (a Merkle tree of all chains).",
          }),
          entries: z.array(auditEntrySchema).meta({ description: "Audit entries for the certificate, oldest first." }),
          head: nullableSchema(z.object({ seq: z.int(), hash: hashSchema })).meta({ description: "Newest entry of the chain." }),
          heads: nullableSchema(
            z.object({
              record: z.string(),
              record_tlog_proof: z.string(),
              leaf: z.string(),
              path: z.array(z.string()),
              size: z.string(),
            }),
          ).meta({ description: "Audit log record with the root of the tree of heads, and the proof for this chain." }),
        })
        .meta({ description: "Entries for the certificate in your audit chain, each with its proof." }),
      ledger: z
        .object({
          entry: nullableSchema(z.string()).meta({ description: "Anchored statement." }),
          entry_hash: nullableSchema(hashSchema),
          leaf_hash: nullableSchema(z.string()).meta({
            description: "Hash of the ledger leaf, in base64. `null` until the statement is anchored.",
          }),
          leaf_index: nullableSchema(z.string()).meta({ description: "Leaf index (decimal string)." }),
          leaf_body: nullableSchema(z.string()).optional().meta({
            description: "Ledger leaf, in base64. `null` if the leaf is the statement itself.",
          }),
          tree_size: nullableSchema(z.string()).meta({ description: "Number of leaves (decimal string)." }),
          inclusion_proof: z
            .array(z.string())
            .meta({ description: "Inclusion proof: sibling hashes in base64, from the leaf to the root." }),
          checkpoint: nullableSchema(z.string()).meta({ description: "Signed checkpoint, with witness cosignatures." }),
          cosignatures: z.array(z.string()).meta({ description: "Witness cosignatures." }),
          timestamp_token: nullableSchema(z.string()).meta({
            description: "RFC 3161 response for the checkpoint (excluding its cosignatures), in base64.",
          }),
          tlog_proof: nullableSchema(z.string()).meta({ description: "Proof in the c2sp.org/tlog-proof@v1 text format." }),
        })
        .meta({
          description:
            "Statement and its ledger proof. Until the statement is anchored, all members except `entry` and `entry_hash` are `null` or empty.",
        }),
      withdrawal: withdrawalWithProofSchema,
      withdrawal_receipt: nullableSchema(withdrawalReceiptSchema),
      views: z.array(certificateViewSchema),
      issuer_keys: z
        .object({ keys: z.array(z.record(z.string(), z.unknown())) })
        .meta({ description: "Issuer keys, as published at /.well-known/svc-trust.json." }),
      signature: signatureSchema,
      identity: z
        .object({ legal_name: z.string().nullable(), mailing_address: z.string().nullable(), contact: z.string().nullable() })
        .meta({ description: "Legal identity of the business." }),
      how_to_verify: z.string().meta({ description: "Verification steps in plain text." }),
    })
    .openapi("EvidenceBundle", { description: "Everything needed to verify the certificate without this service." });

  return {
    withdrawnEntitySchema,
    withdrawnEntitiesSchema,
    withdrawalSchema,
    consentReceiptSchema,
    withdrawalReceiptSchema,
    verifiedCertificateSchema,
    certificateDetailSchema,
    certificateListSchema,
    evidenceBundleSchema,
  };
});

export type CertificateSchemas = ReturnType<typeof getCertificateSchemas>;
