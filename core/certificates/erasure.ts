// The domain event for erasing a certificate's subject, and the reasons that an owner of the business can give. The subject is also erased
// when the retention period ends. An erasure cannot be undone. Hashes, times, the status and proofs are kept.
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type AuditChain, type DomainEvent } from "../domain-events.ts";
import type { CertId } from "../ids.ts";
import type { Instant } from "../time.ts";

/** The reasons that an owner can give. No other text is accepted, because it could contain personal data. */
export const erasureReasons = ["person_asked", "no_longer_needed", "consent_withdrawn", "unlawful", "legal_duty", "other"] as const;
export type ErasureReason = (typeof erasureReasons)[number];

/** The data of a certificate that its erasure needs. */
export interface ErasableCertificate {
  readonly id: CertId;
  readonly fingerprint: string;
  readonly chain: AuditChain;
}

/** Creates the domain event for an erasure. `reason` is null if no owner gave one. */
export const createErasureEvent = (
  certificate: ErasableCertificate,
  { reason, actor, now }: { readonly reason: ErasureReason | "retention_ended" | null; readonly actor: Actor; readonly now: Instant },
): DomainEvent =>
  createCertificateEvent(certificate, now, {
    type: "certificate.subject_erased",
    actor,
    payload: { fingerprint: certificate.fingerprint, reason },
  });
