// Builds the consent receipt of a share (ISO/IEC TS 27560:2023 as JSON-LD), like the receipt for a certificate in
// core/certificates/consent-receipt.ts. It is the person's copy of their agreement and contains no field values.
import { buildIso27560Receipt } from "../certificates/consent-receipt.ts";
import type { PublishedAnchor } from "../certificates/published-certificate.ts";
import { toAnchorView } from "../certificates/public-json.ts";
import type { Share } from "./share.ts";

export interface ShareReceiptInput {
  readonly share: Share;
  /** The subject hash of this share, which represents the person in the receipt. */
  readonly subjectHash: string;
  /** The business's country as an ISO 3166-1 alpha-2 code. */
  readonly country: string;
  readonly anchor: PublishedAnchor | null;
  /** The URL at which the person can revoke the share. */
  readonly manageUrl: string;
}

const formatShareDuration = ({ durationDays }: Share): string => `P${durationDays}D`;

/** Returns the event that ended the share. Returns null if the share is active or was replaced by a renewal. */
const getEndEvent = (share: Share) => {
  if (share.revokedAt !== null) return { at: share.revokedAt, state: "dpv:ConsentWithdrawn" } as const;
  return share.status === "expired" ? ({ at: share.expiresAt, state: "dpv:ConsentExpired" } as const) : null;
};

export const buildShareReceipt = ({ share, subjectHash, country, anchor, manageUrl }: ShareReceiptInput) => {
  const { id, business, origin, createdAt } = share;
  const state = share.supersedes === null ? "dpv:ConsentGiven" : "dpv:RenewedConsentGiven";
  const consentGiven = { at: createdAt, state, by: subjectHash, validity: formatShareDuration(share), isExplicit: true } as const;
  const end = getEndEvent(share);
  return {
    ...buildIso27560Receipt({
      id,
      subjectHash,
      notice: origin,
      purpose: share.purpose,
      attributes: share.scope,
      controller: { ...business, url: origin },
      recipients: [],
      collection: `consent page, asked for by ${origin}`,
      retention: formatShareDuration(share),
      country,
      manageUrl,
      events: end === null ? [consentGiven] : [consentGiven, { ...end, by: subjectHash }],
    }),
    share: {
      share_id: id,
      fingerprint: share.fingerprint,
      status: share.status,
      environment: share.environment,
      anchor: toAnchorView(anchor),
    },
  };
};
