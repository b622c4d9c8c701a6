// May this person still be contacted? Decided from the business's own records about an address: one record that grants it is
// enough, and each record says how it stands.
import type { CertificateStatus } from "../certificates/certificate.ts";
import type { CertId } from "../ids.ts";
import type { Instant } from "../time.ts";

/** A certificate that carries the address, as far as contact is concerned. */
export interface ContactBasis {
  readonly certId: CertId;
  readonly status: CertificateStatus;
  readonly ceaseBy: Instant | null;
  /** The person was asked about the recipient in question, or where none is in question about each, and declined. */
  readonly isRejected: boolean;
  /** The person has withdrawn from the recipient in question; `ceaseBy` is then that recipient's. */
  readonly isWithdrawn: boolean;
}

export type ContactReason = "active_consent" | "revoked" | "expired" | "none" | "rejected_recipient";

export interface ContactVerdict {
  readonly contactable: boolean;
  readonly reason: ContactReason;
}

/** Active consent wins, then a withdrawal, then a recipient the person declined. */
export const contactVerdict = (basis: readonly ContactBasis[]): ContactVerdict => {
  const granted = basis.some(({ status, isRejected, isWithdrawn }) => status === "active" && !isRejected && !isWithdrawn);
  if (granted) return { contactable: true, reason: "active_consent" };
  if (basis.some(({ status, isWithdrawn }) => status === "revoked" || isWithdrawn)) return { contactable: false, reason: "revoked" };
  return { contactable: false, reason: basis.length > 0 ? "rejected_recipient" : "none" };
};
