// The contact check: whether a person may still be contacted, based on the business's records about an email address or phone number. One
// record with active consent is enough.
import type { CertificateStatus } from "../certificates/certificate.ts";
import type { CertId, ShareId } from "../ids.ts";
import type { ShareStatus } from "../shares/share.ts";
import type { Instant } from "../time.ts";

/** A certificate that contains the email address or phone number being checked. */
interface CertificateBasis {
  readonly type: "cert";
  readonly id: CertId;
  readonly status: CertificateStatus;
  readonly ceaseBy: Instant | null;
  /**
   * True if the person declined the recipient in the request, or was asked about each recipient and accepted none. If the request contains
   * no recipient, only the second condition applies.
   */
  readonly isRejected: boolean;
  /** True if the person has withdrawn consent for the recipient in the request. In that case, `ceaseBy` is that recipient's deadline. */
  readonly isWithdrawn: boolean;
}

/** A share whose values included the email address or phone number, with the share's status at the time of the check. */
interface ShareBasis {
  readonly type: "share";
  readonly id: ShareId;
  readonly status: ShareStatus;
  readonly ceaseBy: Instant | null;
}

export type ContactBasis = CertificateBasis | ShareBasis;

export type ContactReason = "active_consent" | "revoked" | "expired" | "none" | "rejected_recipient";

export interface ContactVerdict {
  readonly contactable: boolean;
  readonly reason: ContactReason;
}

/**
 * Returns the reason that results from this record alone. A share that was renewed counts as expired: if the new share contains the email
 * address or phone number too, the new share determines the result.
 */
export const getContactReason = (basis: ContactBasis): Exclude<ContactReason, "none"> => {
  if (basis.type === "share") {
    if (basis.status === "active") return "active_consent";
    return basis.status === "revoked" || basis.status === "ceased" ? "revoked" : "expired";
  }
  if (basis.status === "revoked" || basis.isWithdrawn) return "revoked";
  return basis.isRejected ? "rejected_recipient" : "active_consent";
};

const reasonPrecedence = ["active_consent", "revoked", "rejected_recipient", "expired"] as const;

/**
 * Combines the reasons of all records. Active consent takes precedence, followed by a withdrawal, a recipient that the person declined, and
 * an expired share.
 */
export const resolveContactVerdict = (basis: readonly ContactBasis[]): ContactVerdict => {
  const reasons = new Set(basis.map(getContactReason));
  const reason = reasonPrecedence.find((candidate) => reasons.has(candidate)) ?? "none";
  return { contactable: reason === "active_consent", reason };
};
