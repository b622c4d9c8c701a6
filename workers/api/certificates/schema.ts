// Schemas and examples for certificates. response-schemas.ts contains most schemas of responses. The code in core checks the length and
// characters of certified text, and documents the reason for each rule.
import { z } from "@hono/zod-openapi";
import { erasureReasons } from "../../../core/certificates/erasure.ts";
import { parseCertId, type CertId, type ClientId } from "../../../core/ids.ts";
import {
  describedTime,
  idParamSchema,
  instantSchema,
  memberWithDefault,
  nullableSchema,
  optionalMember,
  positiveIntSchema,
} from "../../http/wire.ts";

export const exampleCertId = "cc_00m3v9d2m4q8x1c7b5n0t6w2h9" as CertId;
export const exampleClientId = "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9" as ClientId;

export const consentRequestExample = {
  client_id: exampleClientId,
  fields: { email: "pat@example.com", first_name: "Pat", phone: "+1 202 555 0123" },
  disclosure_text: "By clicking Send, I agree that the companies I selected may call or email me about solar quotes.",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
  entities_accepted: ["Acme Solar LLC"],
  entities_rejected: ["Bright Homes Inc"],
  purpose: "solar quote follow-up",
  page_url: "https://www.acme-solar.example/quote",
};

/** The public key for the example's signature. The private key was used once and discarded. */
export const exampleSigningKey = {
  kty: "OKP",
  crv: "Ed25519",
  x: "ptvafbTuNHBIqrVz1hDfdXXKpPykbea05PuObJJluNo",
  kid: "9y2qb071rrjpzQ8QUBTlTal5ODueCsEu6K6j7_3AXFk",
  alg: "EdDSA",
  use: "sig",
};

export const certificateNotFoundRefusal = { cert_not_found: "The certificate does not exist or is not yours." } as const;
export const certIdParamSchema = z.object({
  cert_id: idParamSchema(parseCertId, "ID of the certificate. Starts with `cc_`.", exampleCertId),
});

export const namesSchema = z.array(z.string()).readonly();

/** Passes the object on without copying it. A copy could lose a key such as `__proto__` before the code in core can refuse it. */
const fieldMapSchema = z
  .custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), "must be an object")
  .meta({
    type: "object",
    additionalProperties: { type: "string", maxLength: 500 },
    description:
      "Fields that the person filled in: 1 to 20, with keys that match `^[a-z][a-z0-9_]{0,39}$` and at least one non-empty value. Stored encrypted, as typed except for leading and trailing whitespace. No value is refused for its content: for example, an `email` that is not an email address is stored and listed in `fields_unrecognized`, but searches do not find it. Characters that cannot be stored are replaced with U+FFFD.",
    example: consentRequestExample.fields,
  });

const presentationSchema = z
  .object({
    opt_in_type: z.enum(["manual", "pre_selected", "non_interactive"]).nullish().meta({
      description:
        "How the consent checkbox was checked. `manual`: by the person. `pre_selected`: in the page's HTML. `non_interactive`: there was no checkbox.",
    }),
    font_px: z.number().min(0).max(1_000).nullish().meta({ description: "Font size of the disclosure in CSS pixels." }),
    contrast_ratio: z.number().min(1).max(21).nullish().meta({ description: "Contrast ratio of the disclosure, 1 to 21." }),
    visible: z.boolean().nullish().meta({ description: "Whether the disclosure was visible on the screen." }),
    checkbox_name: z.string().max(200).nullish().meta({ description: "`name` attribute of the consent checkbox." }),
  })
  .meta({ description: "Measurements of how the consent request appeared on the page." });

export const consentRequestSchema = z
  .object({
    client_id: z.string().meta({ description: "Your public client's ID. Starts with `pc_`.", example: exampleClientId }),
    fields: fieldMapSchema,
    disclosure_text: z.string().meta({ description: "Disclosure text as displayed, 1 to 200,000 characters. Stored exactly as sent." }),
    fields_truncated: z.boolean().nullish().meta({
      description:
        "Send `true` if you left out fields, because the form had more than 20 fields or a value had more than 500 characters. The certificate shows this.",
    }),
    entities: namesSchema.meta({ description: "Recipients shown to the person: 1 to 1,000 names of at most 200 characters." }),
    purpose: z.string().meta({ description: "Purpose shown to the person, 1 to 500 characters.", example: "solar quote follow-up" }),
    page_url: z.string().meta({
      description: "URL of the page that contains the form, at most 2,048 characters. Its host must be on one of your verified domains.",
      example: "https://www.acme-solar.example/quote",
    }),
    entities_accepted: namesSchema.nullish().meta({
      description:
        "Recipients that the person accepted, if the form asks about each one. Send this together with `entities_rejected`, or omit both. An empty list means that the person accepted none.",
    }),
    entities_rejected: namesSchema
      .nullish()
      .meta({ description: "Recipients that the person rejected. A recipient cannot be in both lists." }),
    submission_id: z.guid("must be a UUID").nullish().meta({
      description: "UUID of the submission. Has the same effect as the `Idempotency-Key` header. If you send both, the header is used.",
      example: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11",
    }),
    locale: z.string().max(35).nullish().meta({ description: "Language tag of the page, at most 35 characters.", example: "en-US" }),
    presentation: presentationSchema.nullish(),
    esign: z
      .object({
        disclosure_text: z.string().max(20_000).meta({ description: "E-SIGN disclosure as displayed, at most 20,000 characters." }),
        accepted: z.boolean().meta({ description: "Whether the person accepted the E-SIGN disclosure." }),
      })
      .nullish()
      .meta({ description: "Separate electronic-signature disclosure, if the page shows one." }),
    widget: z
      .object({
        version: z.string().max(64).nullish().meta({ description: "Version of the widget." }),
        sha256: z.string().max(64).nullish().meta({ description: "SHA-256 of the widget's script." }),
        automated: z
          .boolean()
          .nullish()
          .meta({ description: "Whether the browser reported that it is controlled by automation (`navigator.webdriver`)." }),
      })
      .nullish()
      .meta({ description: "Widget that captured the submission." }),
    referrer: z.string().max(2_048).nullish().meta({ description: "Referrer as reported by the page, at most 2,048 characters." }),
    client_time: z
      .string()
      .max(40)
      .nullish()
      .meta({ description: "Time on the person's device when the form was submitted. Stored as sent." }),
  })
  .openapi("ConsentRequest");

export const certIdSchema = z.string().meta({ description: "ID of the certificate. Starts with `cc_`.", example: exampleCertId });
export const hashSchema = z.string().meta({ description: "SHA-256, 64 lowercase hex characters." });
export const describedHashSchema = (input: string) => hashSchema.meta({ description: `SHA-256 of ${input}, 64 lowercase hex characters.` });
export const timestampSchema = describedTime("ISO 8601, UTC, with milliseconds");
export const certificateStatusSchema = z
  .enum(["active", "revoked"])
  .meta({ description: "`revoked`: consent was withdrawn for all recipients." });
export const anchorSchema = z
  .object({
    status: z
      .enum(["pending", "anchored"])
      .meta({ description: "`pending` until the ledger contains the statement. The certificate is valid in the meantime." }),
    event: z.string().meta({ description: "Type of the recorded event, for example `certificate.issued`." }),
    entry_hash: describedHashSchema("`statement`"),
    statement: z
      .string()
      .meta({ description: "Statement sent to the ledger, as canonical JSON. It contains only hashes and non-personal metadata." }),
    ledger: z.string().meta({ description: "Name of the ledger." }),
    tx_ref: z.string().optional().meta({
      description:
        "Position in the ledger, `<origin>#<index>`. This and the other optional members are present only after the statement is anchored.",
    }),
    leaf_index: z.string().optional().meta({ description: "Leaf index (decimal string)." }),
    tree_size: z.string().optional().meta({ description: "Number of leaves (decimal string)." }),
    inclusion_proof: namesSchema.optional().meta({ description: "Inclusion proof: sibling hashes in base64, from the leaf to the root." }),
    signed_root: z.string().optional().meta({ description: "Signed checkpoint." }),
    anchored_at: nullableSchema(timestampSchema).optional(),
    anchored_at_source: z
      .literal("service")
      .optional()
      .meta({ description: "`service`: reported by this service, not attested by a third party." }),
    tlog_proof: nullableSchema(z.string()).optional().meta({ description: "Proof in the c2sp.org/tlog-proof@v1 text format." }),
    attested: z
      .object({
        tree_size: nullableSchema(z.string()).meta({ description: "Number of leaves (decimal string)." }),
        signed_root: z.string().meta({ description: "Attested ledger checkpoint, with witness cosignatures." }),
        inclusion_proof: namesSchema.meta({ description: "Proof that the checkpoint includes the statement, as base64 hashes." }),
        time: nullableSchema(timestampSchema).meta({ description: "Time of the attestation by the third party's clock." }),
        time_source: z
          .enum(["rfc3161", "cosignature"])
          .meta({ description: "Source of the timestamp: a timestamp authority (`rfc3161`) or a witness (`cosignature`)." }),
        attestations: z.array(
          z.object({
            kind: z.enum(["rfc3161", "cosignature"]),
            tsa: z.string().optional(),
            name: z.string().optional(),
            time: timestampSchema,
            token: z
              .string()
              .optional()
              .meta({ description: "RFC 3161 response for the checkpoint (excluding its cosignatures), in base64." }),
          }),
        ),
      })
      .optional()
      .meta({
        description: "Third-party attestations: a timestamp, or cosignatures of witnesses that checked that the ledger only grows.",
      }),
  })
  .openapi("Anchor", { description: "Anchor for an event in the append-only ledger." });

export const certificateViewSchema = z
  .object({
    at: timestampSchema,
    ip: z.string().nullable().meta({ description: "IP address; `null` if redacted." }),
    user_agent: z.string().nullable().meta({ description: "`null` if redacted." }),
    os: z.string().nullable().meta({ description: "Operating system, if known." }),
    bot: z.boolean().meta({ description: "`true` for an automated request, not included in `view_count`." }),
  })
  .openapi("View", { description: "One view of the public page." });

const pagingFields = (positiveInteger: z.ZodType<number>) => ({
  page: memberWithDefault(positiveInteger, 1).meta({
    type: "integer",
    minimum: 1,
    default: 1,
    description: "Page number. Pages after the last one are empty.",
  }),
  per_page: memberWithDefault(
    positiveInteger.transform((count) => Math.min(100, count)),
    25,
  ).meta({ type: "integer", minimum: 1, default: 25, description: "Items per page, at most 100. Larger values are treated as 100." }),
});

/** Returns the host as browsers write it: in Punycode and lowercase. Text that is not a host matches no certificate. */
const toAsciiHost = (text: string): string => {
  const url = `https://${text.replace(/\.$/, "")}`;
  return URL.canParse(url) ? new URL(url).hostname : text.toLowerCase();
};

export const certificateListQuerySchema = z.object({
  ...pagingFields(positiveIntSchema),
  status: optionalMember(certificateStatusSchema),
  subject_email: optionalMember(z.string().min(1).max(320)).meta({
    description: "Exact email address. Not case-sensitive.",
    example: "pat@example.com",
  }),
  subject_phone: optionalMember(z.string().min(1).max(64)).meta({
    description: "Exact phone number, with or without punctuation.",
    example: "+1 202 555 0123",
  }),
  q: optionalMember(z.string().max(500)).meta({ description: "Part of the purpose. Not case-sensitive.", example: "solar" }),
  origin_domain: optionalMember(z.string().trim().min(1).max(253).transform(toAsciiHost)).meta({
    type: "string",
    description:
      "Host of the website where the form was submitted. Internationalized domain names are accepted in Unicode or Punycode form.",
  }),
  entity: optionalMember(z.string().min(1).max(200)).meta({ description: "Exact name of a recipient." }),
  from: optionalMember(instantSchema).meta({
    description: "Issued at or after this time, ISO 8601. A date without a time means the start of that day (UTC).",
  }),
  to: optionalMember(instantSchema).meta({
    description: "Issued at or before this time, ISO 8601. A date without a time means the end of that day (UTC).",
  }),
});

const positiveIntegerSchema = z.number().int("must be a positive integer").min(1, "must be a positive integer");

/** The filters of the list, in a request body instead of the URL, because email addresses in URLs end up in logs. */
export const certificateSearchSchema = certificateListQuerySchema.extend(pagingFields(positiveIntegerSchema));

const fieldListPattern = /^[a-z][a-z0-9_]{0,39}(?:,[a-z][a-z0-9_]{0,39}){0,19}$/;

export const evidencePackQuerySchema = z.object({
  format: z.enum(["json", "zip", "html"]).default("json").meta({
    description:
      "`json` (default): one JSON object in the envelope. `zip`: evidence pack for `svc-verify` and common tools. `html`: the same pack in a page that verifies itself offline.",
  }),
  redact: z.enum(["subject"]).optional().meta({ description: "`subject` omits all personal data." }),
  disclose: z.string().regex(fieldListPattern, "must be field keys separated by commas").optional().meta({
    description: "Field keys to disclose, separated by commas. Default: all fields.",
    example: "email,phone",
  }),
});

export const eraseSubjectSchema = z
  .object({
    confirm: z.literal("ERASE", "must be ERASE").meta({ description: "Must be `ERASE`, to confirm that you know this cannot be undone." }),
    reason: z.enum(erasureReasons).nullish().meta({ description: "Why you erase the data. Recorded in your audit trail." }),
  })
  .openapi("EraseSubject");

export const eraseSubjectExample = { confirm: "ERASE", reason: "person_asked" } as const;

export const erasedSubjectSchema = z
  .object({
    cert_id: certIdSchema,
    subject_erased_at: describedTime("When the person's data was erased. Repeating the request returns the original time"),
  })
  .openapi("ErasedSubject");
