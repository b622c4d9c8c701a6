// Consent receipts for other systems, in two formats: ISO/IEC TS 27560:2023 as JSON-LD with terms from the Data Privacy Vocabulary, and
// Kantara Consent Receipt 1.1. They contain no personal data: the person appears only as the certificate's subject hash. Values that are
// not in the certificate are never guessed.
import { toIso, secondMs, type Instant } from "../time.ts";
import { listActiveEntities } from "../withdrawals/entity-withdrawal.ts";
import type { PublishedCertificate } from "./published-certificate.ts";
import { buildVerifyUrl } from "./certificate-urls.ts";
import { toWithdrawnEntitiesView, type ViewContext } from "./public-json.ts";

export const receiptFormats = ["iso27560", "kantara"] as const;
export type ReceiptFormat = (typeof receiptFormats)[number];

/** The certificate, with the other data that a receipt contains. */
export interface ReceiptInput {
  readonly certificate: PublishedCertificate;
  /** The country of the business as an ISO 3166-1 alpha-2 code. */
  readonly country: string;
  /** True if the evidence shows that the person checked the box themselves. */
  readonly isExplicit: boolean;
  readonly context: ViewContext;
}

const notStated = "not stated";
/** The BCP 47 code for an unknown language. The form's language is part of the evidence, so it is not published. */
const undeterminedLanguage = "und";

const getSiteUrl = ({ originDomain }: PublishedCertificate): string => `https://${originDomain}/`;

/**
 * Returns the URL of the privacy notice: the source URL of the saved privacy policy or, if there is none, the URL of the certificate page,
 * which shows the disclosure.
 */
const getNoticeUrl = ({ certificate, context }: ReceiptInput): string =>
  certificate.policies.find(({ kind }) => kind === "privacy")?.sourceUrl ?? buildVerifyUrl(context.verifyBase, certificate.id);

/** Returns the keys of the submitted fields. The list is empty once the subject is erased. */
const listAttributes = (certificate: PublishedCertificate): string[] =>
  certificate.subjectErasedAt === null ? Object.keys(certificate.subjectMasked).sort() : [];

/** Returns the recipients that the consent still covers, without the business itself. */
const listReceiptRecipients = (certificate: PublishedCertificate): readonly string[] =>
  listActiveEntities(certificate).filter((name) => name !== certificate.businessName);

const describeCollectionMethod = ({ capturedVia, originDomain }: PublishedCertificate): string =>
  capturedVia === "browser" ? `web form on ${originDomain}` : `web form on ${originDomain}, sent by its server`;

/** Returns a reference to the certificate with its status, so that a reader can check the receipt against the certificate. */
const toCertificateReference = ({ certificate, context }: ReceiptInput) => ({
  cert_id: certificate.id,
  fingerprint: certificate.fingerprint,
  status: certificate.status,
  environment: certificate.environment,
  verify_url: buildVerifyUrl(context.verifyBase, certificate.id),
  ...(certificate.subjectErasedAt !== null && { subject_erased_at: toIso(certificate.subjectErasedAt) }),
  ...toWithdrawnEntitiesView(certificate, context),
});

const toIriTerm = (term: string) => ({ "@id": term, "@type": "@id" });

/**
 * JSON-LD terms of the Data Privacy Vocabulary, for the fields of ISO/IEC TS 27560 that have an equivalent. Other fields are plain JSON.
 */
const jsonLdContext = {
  dpv: "https://w3id.org/dpv#",
  dct: "http://purl.org/dc/terms/",
  schema_version: "dct:conformsTo",
  receipt_id: "dct:identifier",
  record_id: "dct:identifier",
  party_id: "dct:identifier",
  pii_principal_id: "dpv:hasDataSubject",
  privacy_notice: toIriTerm("dpv:hasNotice"),
  language: "dct:language",
  purpose: "dpv:hasPurpose",
  lawful_basis: toIriTerm("dpv:hasLegalBasis"),
  pii_information: "dpv:hasPersonalData",
  pii_controllers: "dpv:hasDataController",
  collection_method: "dpv:hasDataSource",
  storage_locations: "dpv:hasStorageCondition",
  retention_period: "dpv:hasDuration",
  jurisdiction: "dpv:hasJurisdiction",
  recipient_third_parties: "dpv:hasRecipient",
  withdrawal_method: toIriTerm("dpv:hasConsentControl"),
  party_name: "dpv:hasName",
  party_address: "dpv:hasAddress",
  party_contact: "dpv:hasContact",
  event_time: "dct:date",
  validity_duration: "dct:valid",
  entity_id: "dpv:isImplementedByEntity",
  event_type: toIriTerm("dpv:hasLegalBasis"),
  event_state: toIriTerm("dpv:hasConsentStatus"),
};

const toParty = (party_id: string, party_name: string, party_role: string, url: string | null) => ({
  party_id,
  party_name,
  party_role,
  party_type: "organisation",
  party_address: notStated,
  party_contact: url ?? notStated,
  ...(url !== null && { party_url: url }),
});

interface ConsentEvent<State> {
  readonly at: Instant;
  readonly state: State;
  readonly by: string;
  /** Set this property and `isExplicit` only for the event in which consent is given. */
  readonly validity?: string;
  readonly isExplicit?: boolean;
}

const toConsentEvent = <S>({ at, state, by, validity = "for good", isExplicit = false }: ConsentEvent<S>) => ({
  event_time: toIso(at),
  validity_duration: validity,
  entity_id: by,
  event_type: isExplicit ? "dpv:ExplicitlyExpressedConsent" : "dpv:Consent",
  event_state: state,
});

/** Builds an ISO/IEC TS 27560 receipt and the consent record that it contains, with every field that the standard requires. */
export const buildIso27560Receipt = <State extends string>(input: {
  readonly id: string;
  readonly subjectHash: string;
  readonly notice: string;
  readonly purpose: string;
  readonly attributes: readonly string[];
  readonly controller: { readonly id: string; readonly name: string; readonly url: string };
  readonly recipients: readonly string[];
  readonly collection: string;
  readonly retention: string;
  readonly country: string;
  readonly manageUrl: string;
  readonly events: readonly ConsentEvent<State>[];
}) => {
  const { id, controller } = input;
  const recipients = input.recipients.map((name, at) => toParty(`recipient_${at + 1}`, name, "recipient third party", null));
  const header = { schema_version: "ISO/IEC TS 27560:2023" as const, pii_principal_id: input.subjectHash };
  return {
    "@context": jsonLdContext,
    "@type": "dpv:ConsentReceipt" as const,
    ...header,
    receipt_id: id,
    consent_record: {
      "@type": "dpv:ConsentRecord" as const,
      ...header,
      record_id: id,
      pii_processing: {
        privacy_notice: input.notice,
        language: undeterminedLanguage,
        purposes: [
          {
            purpose: input.purpose,
            lawful_basis: "dpv:Consent",
            pii_information: input.attributes.map((name) => ({ pii_type: name, pii_attribute_id: name })),
            pii_controllers: [controller.id],
            collection_method: input.collection,
            storage_locations: [notStated],
            retention_period: input.retention,
            jurisdiction: input.country,
            recipient_third_parties: recipients.map(({ party_id }) => party_id),
            withdrawal_method: input.manageUrl,
          },
        ],
      },
      party_identification: [toParty(controller.id, controller.name, "PII controller", controller.url), ...recipients],
      events: input.events.map(toConsentEvent),
    },
  };
};

const buildIso27560CertificateReceipt = (parts: ReceiptInput) => {
  const { certificate, country, context, isExplicit } = parts;
  const { businessId, subjectHash, withdrawal } = certificate;
  const consentGiven = {
    at: certificate.issuedAt,
    state: "dpv:ConsentGiven",
    by: subjectHash,
    validity: "until withdrawn",
    isExplicit,
  } as const;
  const withdrawnBy = withdrawal?.method === "business_recorded" ? businessId : subjectHash;
  return {
    ...buildIso27560Receipt({
      id: certificate.id,
      subjectHash,
      notice: getNoticeUrl(parts),
      purpose: certificate.purpose,
      attributes: listAttributes(certificate),
      controller: { id: businessId, name: certificate.businessName, url: getSiteUrl(certificate) },
      recipients: listReceiptRecipients(certificate),
      collection: describeCollectionMethod(certificate),
      retention: notStated,
      country,
      manageUrl: buildVerifyUrl(context.verifyBase, certificate.id),
      events:
        withdrawal === null
          ? [consentGiven]
          : [consentGiven, { at: withdrawal.withdrawnAt, state: "dpv:ConsentWithdrawn", by: withdrawnBy }],
    }),
    certificate: toCertificateReference(parts),
  };
};

/**
 * Builds a Kantara receipt with every field that version 1.1.0 requires. Required values that are unknown are empty or `not stated`. An
 * unknown consent type is omitted.
 */
const buildKantaraReceipt = (parts: ReceiptInput) => {
  const { certificate, country } = parts;
  const recipients = listReceiptRecipients(certificate);
  return {
    version: "KI-CR-v1.1.0" as const,
    jurisdiction: country,
    consentTimestamp: Math.floor(certificate.issuedAt / secondMs),
    collectionMethod: describeCollectionMethod(certificate),
    consentReceiptID: certificate.id,
    language: undeterminedLanguage,
    piiPrincipalId: certificate.subjectHash,
    piiControllers: [
      {
        piiController: certificate.businessName,
        onBehalf: false,
        contact: "",
        address: {},
        email: "",
        phone: "",
        piiControllerUrl: getSiteUrl(certificate),
      },
    ],
    policyUrl: getNoticeUrl(parts),
    services: [
      {
        service: getSiteUrl(certificate),
        purposes: [
          {
            purpose: certificate.purpose,
            purposeCategory: [notStated],
            ...(parts.isExplicit && { consentType: "EXPLICIT" as const }),
            piiCategory: listAttributes(certificate),
            primaryPurpose: true,
            termination: certificate.withdrawal === null ? "until withdrawn" : `withdrawn ${toIso(certificate.withdrawal.withdrawnAt)}`,
            thirdPartyDisclosure: recipients.length > 0,
            ...(recipients.length > 0 && { thirdPartyName: recipients.join("; ") }),
          },
        ],
      },
    ],
    sensitive: false,
    spiCat: [],
    certificate: toCertificateReference(parts),
  };
};

/** Builds the receipt for a certificate in the given format (GET /v1/certs/{id}/receipt?format=…). */
export const buildConsentReceipt = (format: ReceiptFormat, parts: ReceiptInput) =>
  format === "iso27560" ? buildIso27560CertificateReceipt(parts) : buildKantaraReceipt(parts);
