// A share as a receipt that other systems read: in the structure of ISO/IEC TS 27560:2023, as JSON-LD, like the one of a certificate
// (core/certificates/consent-receipt.ts). It is the person's own copy of what they agreed to; their values are not in it.
import { buildIso27560Receipt } from "../certificates/consent-receipt.ts";
import type { PublishedAnchor } from "../certificates/published-certificate.ts";
import { toAnchorView } from "../certificates/public-json.ts";
import type { Share } from "./share.ts";

/** What a receipt says beyond the share. */
export interface ShareReceiptInput {
  readonly share: Share;
  /** The person stands in it by the share's own hash. */
  readonly subjectHash: string;
  /** ISO 3166-1 alpha-2, of the business. */
  readonly country: string;
  readonly anchor: PublishedAnchor | null;
  /** Where the person can stop it. */
  readonly manageUrl: string;
}

const formatShareDuration = ({ durationDays }: Share): string => `P${durationDays}D`;

/** How it stands, where it is not as it was given any more. */
const getEndEvent = (share: Share) => {
  if (share.revokedAt !== null) return { at: share.revokedAt, state: "dpv:ConsentWithdrawn" } as const;
  return share.status === "expired" ? ({ at: share.expiresAt, state: "dpv:ConsentExpired" } as const) : null;
};

export const buildShareReceipt = ({ share, subjectHash, country, anchor, manageUrl }: ShareReceiptInput) => {
  const { id, business, origin, createdAt } = share;
  const state = share.supersedes === null ? "dpv:ConsentGiven" : "dpv:RenewedConsentGiven";
  const given = { at: createdAt, state, by: subjectHash, validity: formatShareDuration(share), isExplicit: true } as const;
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
      events: end === null ? [given] : [given, { ...end, by: subjectHash }],
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
