// Shapes of a certificate as a consent receipt: the field names of ISO/IEC TS 27560:2023, and of the Kantara Consent Receipt 1.1.
import { z } from "@hono/zod-openapi";
import { describedTime } from "../../http/wire.ts";
import { certIdSchema, withdrawnEntitiesSchema } from "./schema.ts";

const textSchema = z.string();
const jurisdictionSchema = z.string().openapi({ description: "ISO 3166-1 alpha-2: the country the business gave.", example: "US" });
const subjectSchema = z
  .string()
  .openapi({ description: "The person, by the certificate's `subject_hash`: nothing personal is in a receipt." });
const languageSchema = z
  .string()
  .openapi({ description: "BCP 47; `und`: what the form was in is part of the evidence, which is not published." });
const attributeSchema = z.string().openapi({ description: "Key of a field that was given, never its value.", example: "email" });
const privacyNoticeSchema = z.string().openapi({
  format: "uri",
  description: "The privacy policy as captured when the certificate was issued; without one, the certificate with its disclosure.",
});
const certificateReferenceSchema = z
  .object({
    cert_id: certIdSchema,
    fingerprint: textSchema,
    status: textSchema,
    environment: textSchema,
    verify_url: z.string().openapi({ format: "uri" }),
    subject_erased_at: describedTime("When the person's fields were erased; absent while they are kept").optional(),
    entities_withdrawn: withdrawnEntitiesSchema,
  })
  .openapi({ description: "What the receipt can be checked against. An addition of this service." });

const processingSchema = z.object({
  purpose: textSchema,
  lawful_basis: textSchema,
  pii_information: z.array(z.object({ pii_type: attributeSchema, pii_attribute_id: attributeSchema })),
  pii_controllers: z.array(textSchema).openapi({ description: "`party_id` each." }),
  collection_method: textSchema,
  storage_locations: z.array(textSchema),
  retention_period: textSchema,
  jurisdiction: jurisdictionSchema,
  recipient_third_parties: z
    .array(textSchema)
    .openapi({ description: "`party_id` each; the accepted ones where each recipient was asked about." }),
  withdrawal_method: z.string().openapi({ format: "uri", description: "The page on which the person withdraws." }),
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
  entity_id: textSchema.openapi({ description: "Who acted." }),
  event_type: textSchema,
  event_state: z.enum(["dpv:ConsentGiven", "dpv:ConsentWithdrawn"]),
});
const schemaVersionSchema = z.literal("ISO/IEC TS 27560:2023");

export const iso27560ReceiptSchema = z
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
    description: "With `format=iso27560`: JSON-LD. What the certificate does not know reads `not stated`.",
  });

export const kantaraReceiptSchema = z
  .object({
    version: z.literal("KI-CR-v1.1.0"),
    jurisdiction: jurisdictionSchema,
    consentTimestamp: z.number().int().openapi({ description: "Seconds since 1970." }),
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
              .openapi({ description: "Only where the evidence says that the person ticked the box." }),
            piiCategory: z.array(attributeSchema).readonly(),
            primaryPurpose: z.boolean(),
            termination: textSchema,
            thirdPartyDisclosure: z.boolean(),
            thirdPartyName: textSchema.optional().openapi({ description: "Present when data go to others." }),
          }),
        ),
      }),
    ),
    sensitive: z.boolean(),
    spiCat: z.array(textSchema),
    certificate: certificateReferenceSchema,
  })
  .openapi("KantaraReceipt", { description: "With `format=kantara`. What the certificate does not know is empty." });
