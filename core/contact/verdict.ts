// May this person still be contacted? Decided from the business's own records about an address: one record that grants it is
// enough, and each record says how it stands.
import type { CertificateStatus } from "../certificates/certificate.ts";
import type { CertId, ShareId } from "../ids.ts";
import type { ShareStatus } from "../shares/share.ts";
import type { Instant } from "../time.ts";

/** A certificate that carries the address, as far as contact is concerned. */
interface CertificateBasis {
  readonly type: "cert";
  readonly id: CertId;
  readonly status: CertificateStatus;
  readonly ceaseBy: Instant | null;
  /** The person was asked about the recipient in question, or where none is in question about each, and declined. */
  readonly isRejected: boolean;
  /** The person has withdrawn from the recipient in question; `ceaseBy` is then that recipient's. */
  readonly isWithdrawn: boolean;
}

/** A share whose values held the address, as it stands at the moment of the question. */
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

/** What one record alone would answer. A share that was renewed without the address has ended for it. */
export const getContactReason = (basis: ContactBasis): Exclude<ContactReason, "none"> => {
  if (basis.type === "share") {
    if (basis.status === "active") return "active_consent";
    return basis.status === "revoked" || basis.status === "ceased" ? "revoked" : "expired";
  }
  if (basis.status === "revoked" || basis.isWithdrawn) return "revoked";
  return basis.isRejected ? "rejected_recipient" : "active_consent";
};

const reasonPrecedence = ["active_consent", "revoked", "rejected_recipient", "expired"] as const;

/** Active consent wins, then a withdrawal, then a recipient the person declined, then a share that ended by itself. */
export const resolveContactVerdict = (basis: readonly ContactBasis[]): ContactVerdict => {
  const reasons = new Set(basis.map(getContactReason));
  const reason = reasonPrecedence.find((one) => reasons.has(one)) ?? "none";
  return { contactable: reason === "active_consent", reason };
};
