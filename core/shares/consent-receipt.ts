// A share as a receipt that other systems read: in the structure of ISO/IEC TS 27560:2023, as JSON-LD, like the one of a certificate
// (core/certificates/consent-receipt.ts). It is the person's own copy of what they agreed to; their values are not in it.
import { jsonLdContext, notStated, schemaVersion, undetermined } from "../certificates/consent-receipt.ts";
import type { PublishedAnchor } from "../certificates/published.ts";
import { anchorView } from "../certificates/views.ts";
import { isoOf } from "../time.ts";
import type { Share } from "./share.ts";

/** What a receipt says beyond the share. */
export interface ReceiptOfShare {
  readonly share: Share;
  /** The person stands in it by the share's own hash. */
  readonly subjectHash: string;
  /** ISO 3166-1 alpha-2, of the business. */
  readonly country: string;
  readonly anchor: PublishedAnchor | null;
  /** Where the person can stop it. */
  readonly manageUrl: string;
}

const lifeOf = ({ durationDays }: Share): string => `P${durationDays}D`;

/** How it stands, where it is not as it was given any more. */
const endOf = (share: Share): { readonly at: number; readonly state: string } | null => {
  if (share.revokedAt !== null) return { at: share.revokedAt, state: "dpv:ConsentWithdrawn" };
  return share.status === "expired" ? { at: share.expiresAt, state: "dpv:ConsentExpired" } : null;
};

const eventsOf = ({ share, subjectHash }: ReceiptOfShare) => {
  const end = endOf(share);
  return [
    {
      event_time: isoOf(share.createdAt),
      validity_duration: lifeOf(share),
      entity_id: subjectHash,
      event_type: "dpv:ExplicitlyExpressedConsent",
      event_state: share.supersedes === null ? "dpv:ConsentGiven" : "dpv:RenewedConsentGiven",
    },
    ...(end === null
      ? []
      : [
          {
            event_time: isoOf(end.at),
            validity_duration: "for good",
            entity_id: subjectHash,
            event_type: "dpv:Consent",
            event_state: end.state,
          },
        ]),
  ];
};

/** A receipt that holds its record; every mandatory field of the standard is there. */
export const shareReceipt = (of: ReceiptOfShare) => {
  const { share, subjectHash, country, anchor, manageUrl } = of;
  const { business } = share;
  const header = { schema_version: schemaVersion, pii_principal_id: subjectHash };
  return {
    "@context": jsonLdContext,
    "@type": "dpv:ConsentReceipt" as const,
    ...header,
    receipt_id: share.id,
    consent_record: {
      "@type": "dpv:ConsentRecord" as const,
      ...header,
      record_id: share.id,
      pii_processing: {
        privacy_notice: share.origin,
        language: undetermined,
        purposes: [
          {
            purpose: share.purpose,
            lawful_basis: "dpv:Consent",
            pii_information: share.scope.map((name) => ({ pii_type: name, pii_attribute_id: name })),
            pii_controllers: [business.id],
            collection_method: `consent page, asked for by ${share.origin}`,
            storage_locations: [notStated],
            retention_period: lifeOf(share),
            jurisdiction: country,
            recipient_third_parties: [],
            withdrawal_method: manageUrl,
          },
        ],
      },
      party_identification: [
        {
          party_id: business.id,
          party_name: business.name,
          party_role: "PII controller",
          party_type: "organisation",
          party_address: notStated,
          party_contact: share.origin,
          party_url: share.origin,
        },
      ],
      events: eventsOf(of),
    },
    share: {
      share_id: share.id,
      fingerprint: share.fingerprint,
      status: share.status,
      environment: share.environment,
      anchor: anchorView(anchor),
    },
  };
};
