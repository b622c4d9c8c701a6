// The decision to erase the person of a certificate: by an owner of the business, or because the time it was kept for has passed.
// It cannot be undone; hashes, times, status and proofs stay.
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type AuditChain, type DomainEvent } from "../domain-events.ts";
import type { CertId } from "../ids.ts";
import type { Instant } from "../time.ts";

/** Why an owner erases. Words from a list, so that no reason can hold personal data. */
export const erasureReasons = ["person_asked", "no_longer_needed", "consent_withdrawn", "unlawful", "legal_duty", "other"] as const;
export type ErasureReason = (typeof erasureReasons)[number];

/** What an erasure needs of a certificate. */
export interface ErasableCertificate {
  readonly id: CertId;
  readonly fingerprint: string;
  readonly chain: AuditChain;
}

/** `reason` is null where an owner gave none. */
export const createErasureEvent = (
  certificate: ErasableCertificate,
  { reason, actor, now }: { readonly reason: ErasureReason | "retention_ended" | null; readonly actor: Actor; readonly now: Instant },
): DomainEvent =>
  createCertificateEvent(certificate, now, {
    type: "certificate.subject_erased",
    actor,
    payload: { fingerprint: certificate.fingerprint, reason },
  });
