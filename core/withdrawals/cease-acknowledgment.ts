// The business acknowledges that it has ceased contact: once a certificate, or once a recipient that was withdrawn from alone. The
// certificate stays what it is, and what was said is kept.
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type DomainEvent } from "../domain-events.ts";
import { toIso, type Instant } from "../time.ts";
import type { WithdrawnEntity } from "./entity-withdrawal.ts";
import type { WithdrawableCertificate } from "./withdrawal.ts";

/** What the business says with it; sealed, because it can name people. */
export interface CeaseDetails {
  readonly note: string | null;
  readonly acknowledgedBy: string | null;
  readonly actions: readonly string[];
}

interface AcknowledgmentInput {
  readonly certificate: WithdrawableCertificate;
  readonly actor: Actor;
  readonly now: Instant;
}

export const acknowledgeCease = ({
  certificate,
  actor,
  now,
  ceaseBy,
}: AcknowledgmentInput & { readonly ceaseBy: Instant }): DomainEvent => {
  const { businessId, environment, fingerprint, originDomain } = certificate;
  return createCertificateEvent(certificate, now, {
    type: "business.ceased",
    actor,
    businessId,
    environment,
    payload: { fingerprint, cease_by: toIso(ceaseBy), on_time: now <= ceaseBy },
    anchor: { fingerprint, originDomain },
  });
};

/**
 * Of single recipients: an audit entry, whose log the ledger holds with the others. It has no statement of its own, and the business
 * need not be told by an event what it has just said.
 */
export const acknowledgeEntityCease = (
  /** `ceased`: those whose contact has ceased now. */
  { certificate, actor, now, ceased }: AcknowledgmentInput & { readonly ceased: readonly WithdrawnEntity[] },
): DomainEvent =>
  createCertificateEvent(certificate, now, {
    type: "business.entities_ceased",
    actor,
    payload: {
      fingerprint: certificate.fingerprint,
      entities: ceased.map(({ entity }) => entity).sort(),
      on_time: ceased.every(({ ceaseBy }) => now <= ceaseBy),
    },
  });

/** Late is what is still open after its deadline. */
export const isOverdue = (ceaseBy: Instant, acknowledgedAt: Instant | null, now: Instant): boolean =>
  acknowledgedAt === null && now > ceaseBy;
