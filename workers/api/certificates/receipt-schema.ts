// Schemas for consent receipts. Field names follow ISO/IEC TS 27560:2023 and the Kantara Consent Receipt 1.1. The schemas are created
// when the OpenAPI document is built, because nothing else needs them.
import { z } from "@hono/zod-openapi";
import { once } from "../../../core/once.ts";
import { describedTime } from "../../http/wire.ts";
import { getCertificateSchemas } from "./response-schemas.ts";
import { certIdSchema } from "./schema.ts";

export const getReceiptSchemas = once(() => {
  const textSchema = z.string();
  const jurisdictionSchema = z.string().meta({ description: "Country of the business, two-letter code (ISO 3166-1).", example: "US" });
  const subjectSchema = z.string().meta({ description: "The certificate's `subject_hash`. Receipts contain no personal data." });
  const languageSchema = z.string().meta({
    description: "Always `und` (undetermined in BCP 47), because the form's language is not public.",
  });
  const attributeSchema = z.string().meta({ description: "Key of a submitted field, never its value.", example: "email" });
  const privacyNoticeSchema = z.string().meta({
    format: "uri",
    description:
      "URL of the privacy policy captured at issuance. If none was captured, URL of the certificate page, which shows the disclosure.",
  });
  const certificateReferenceSchema = z
    .object({
      cert_id: certIdSchema,
      fingerprint: textSchema,
      status: textSchema,
      environment: textSchema,
      verify_url: z.string().meta({ format: "uri" }),
      subject_erased_at: describedTime("When the person's data was erased. Absent if it was not erased").optional(),
      entities_withdrawn: getCertificateSchemas().withdrawnEntitiesSchema,
    })
    .meta({ description: "The certificate that this receipt describes. This member is an extension to the standard." });

  const processingSchema = z.object({
    purpose: textSchema,
    lawful_basis: textSchema,
    pii_information: z.array(z.object({ pii_type: attributeSchema, pii_attribute_id: attributeSchema })),
    pii_controllers: z.array(textSchema).meta({ description: "`party_id` of each controller." }),
    collection_method: textSchema,
    storage_locations: z.array(textSchema),
    retention_period: textSchema,
    jurisdiction: jurisdictionSchema,
    recipient_third_parties: z
      .array(textSchema)
      .meta({ description: "`party_id` of each recipient. If the form asked about each recipient, only accepted recipients are listed." }),
    withdrawal_method: z.string().meta({ format: "uri", description: "Page where the person can withdraw consent." }),
  });
  const partySchema = z.object({
    party_id: textSchema,
    party_name: textSchema,
    party_role: textSchema,
    party_type: textSchema,
    party_address: textSchema,
    party_contact: textSchema,
    party_url: textSchema.optional(),
  });
  const consentEventSchema = z.object({
    event_time: describedTime("When consent was given or withdrawn"),
    validity_duration: textSchema,
    entity_id: textSchema.meta({ description: "ID of the party that gave or withdrew consent." }),
    event_type: textSchema,
    event_state: z.enum(["dpv:ConsentGiven", "dpv:ConsentWithdrawn"]),
  });
  const schemaVersionSchema = z.literal("ISO/IEC TS 27560:2023");

  const iso27560ReceiptSchema = z
    .object({
      "@context": z.record(z.string(), z.unknown()),
      "@type": z.literal("dpv:ConsentReceipt"),
      schema_version: schemaVersionSchema,
      pii_principal_id: subjectSchema,
      receipt_id: certIdSchema,
      consent_record: z.object({
        "@type": z.literal("dpv:ConsentRecord"),
        schema_version: schemaVersionSchema,
        pii_principal_id: subjectSchema,
        record_id: certIdSchema,
        pii_processing: z.object({ privacy_notice: privacyNoticeSchema, language: languageSchema, purposes: z.array(processingSchema) }),
        party_identification: z.array(partySchema),
        events: z.array(consentEventSchema),
      }),
      certificate: certificateReferenceSchema,
    })
    .openapi("Iso27560Receipt", {
      description: "Response for `format=iso27560`, as JSON-LD. Unknown values are `not stated`.",
    });

  const kantaraReceiptSchema = z
    .object({
      version: z.literal("KI-CR-v1.1.0"),
      jurisdiction: jurisdictionSchema,
      consentTimestamp: z.number().int().meta({ description: "Unix time in seconds." }),
      collectionMethod: textSchema,
      consentReceiptID: certIdSchema,
      language: languageSchema,
      piiPrincipalId: subjectSchema,
      piiControllers: z.array(
        z.object({
          piiController: textSchema,
          onBehalf: z.boolean(),
          contact: textSchema,
          address: z.object({}),
          email: textSchema,
          phone: textSchema,
          piiControllerUrl: textSchema,
        }),
      ),
      policyUrl: privacyNoticeSchema,
      services: z.array(
        z.object({
          service: textSchema,
          purposes: z.array(
            z.object({
              purpose: textSchema,
              purposeCategory: z.array(textSchema),
              consentType: z
                .literal("EXPLICIT")
                .optional()
                .meta({ description: "Present only if the evidence shows that the person checked the box." }),
              piiCategory: z.array(attributeSchema).readonly(),
              primaryPurpose: z.boolean(),
              termination: textSchema,
              thirdPartyDisclosure: z.boolean(),
              thirdPartyName: textSchema
                .optional()
                .meta({ description: "Other current recipients, separated by semicolons. Absent if there are none." }),
            }),
          ),
        }),
      ),
      sensitive: z.boolean(),
      spiCat: z.array(textSchema),
      certificate: certificateReferenceSchema,
    })
    .openapi("KantaraReceipt", { description: "Response for `format=kantara`. Unknown values are empty." });

  return { iso27560ReceiptSchema, kantaraReceiptSchema };
});
