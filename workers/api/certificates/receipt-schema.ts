// Shapes of a certificate as a consent receipt: the field names of ISO/IEC TS 27560:2023, and of the Kantara Consent Receipt 1.1.
import { z } from "@hono/zod-openapi";
import { timeOf } from "../../http/wire.ts";
import { certId, withdrawnEntities } from "./schema.ts";

const text = z.string();
const jurisdiction = z.string().openapi({ description: "ISO 3166-1 alpha-2: the country the business gave.", example: "US" });
const subject = z.string().openapi({ description: "The person, by the certificate's `subject_hash`: nothing personal is in a receipt." });
const language = z
  .string()
  .openapi({ description: "BCP 47; `und`: what the form was in is part of the evidence, which is not published." });
const attribute = z.string().openapi({ description: "Key of a field that was given, never its value.", example: "email" });
const notice = z.string().openapi({
  format: "uri",
  description: "The privacy policy as captured when the certificate was issued; without one, the certificate with its disclosure.",
});
const about = z
  .object({
    cert_id: certId,
    fingerprint: text,
    status: text,
    environment: text,
    verify_url: z.string().openapi({ format: "uri" }),
    subject_erased_at: timeOf("When the person's fields were erased; absent while they are kept").optional(),
    entities_withdrawn: withdrawnEntities,
  })
  .openapi({ description: "What the receipt can be checked against. An addition of this service." });

const processing = z.object({
  purpose: text,
  lawful_basis: text,
  pii_information: z.array(z.object({ pii_type: attribute, pii_attribute_id: attribute })),
  pii_controllers: z.array(text).openapi({ description: "`party_id` each." }),
  collection_method: text,
  storage_locations: z.array(text),
  retention_period: text,
  jurisdiction,
  recipient_third_parties: z
    .array(text)
    .openapi({ description: "`party_id` each; the accepted ones where each recipient was asked about." }),
  withdrawal_method: z.string().openapi({ format: "uri", description: "The page on which the person withdraws." }),
});
const party = z.object({
  party_id: text,
  party_name: text,
  party_role: text,
  party_type: text,
  party_address: text,
  party_contact: text,
  party_url: text.optional(),
});
const event = z.object({
  event_time: timeOf("When consent was given or withdrawn"),
  validity_duration: text,
  entity_id: text.openapi({ description: "Who acted." }),
  event_type: text,
  event_state: z.enum(["dpv:ConsentGiven", "dpv:ConsentWithdrawn"]),
});
const schemaVersion = z.literal("ISO/IEC TS 27560:2023");

export const iso27560Schema = z
  .object({
    "@context": z.record(z.string(), z.unknown()),
    "@type": z.literal("dpv:ConsentReceipt"),
    schema_version: schemaVersion,
    pii_principal_id: subject,
    receipt_id: certId,
    consent_record: z.object({
      "@type": z.literal("dpv:ConsentRecord"),
      schema_version: schemaVersion,
      pii_principal_id: subject,
      record_id: certId,
      pii_processing: z.object({ privacy_notice: notice, language, purposes: z.array(processing) }),
      party_identification: z.array(party),
      events: z.array(event),
    }),
    certificate: about,
  })
  .openapi("Iso27560Receipt", {
    description: "With `format=iso27560`: JSON-LD. What the certificate does not know reads `not stated`.",
  });

export const kantaraSchema = z
  .object({
    version: z.literal("KI-CR-v1.1.0"),
    jurisdiction,
    consentTimestamp: z.number().int().openapi({ description: "Seconds since 1970." }),
    collectionMethod: text,
    consentReceiptID: certId,
    language,
    piiPrincipalId: subject,
    piiControllers: z.array(
      z.object({
        piiController: text,
        onBehalf: z.boolean(),
        contact: text,
        address: z.object({}),
        email: text,
        phone: text,
        piiControllerUrl: text,
      }),
    ),
    policyUrl: notice,
    services: z.array(
      z.object({
        service: text,
        purposes: z.array(
          z.object({
            purpose: text,
            purposeCategory: z.array(text),
            consentType: z
              .literal("EXPLICIT")
              .optional()
              .openapi({ description: "Only where the evidence says that the person ticked the box." }),
            piiCategory: z.array(attribute).readonly(),
            primaryPurpose: z.boolean(),
            termination: text,
            thirdPartyDisclosure: z.boolean(),
            thirdPartyName: text.optional().openapi({ description: "Present when data go to others." }),
          }),
        ),
      }),
    ),
    sensitive: z.boolean(),
    spiCat: z.array(text),
    certificate: about,
  })
  .openapi("KantaraReceipt", { description: "With `format=kantara`. What the certificate does not know is empty." });
