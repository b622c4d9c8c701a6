// The business acknowledges that contact has ceased: once per certificate, or once per recipient that was withdrawn individually.
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type DomainEvent } from "../domain-events.ts";
import { toIso, type Instant } from "../time.ts";
import type { WithdrawnEntity } from "./entity-withdrawal.ts";
import type { WithdrawableCertificate } from "./withdrawal.ts";

/** Details by the business. Stored encrypted, because they can name people. */
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
 * Acknowledges single recipients with an audit entry only. The ledger anchors the audit log, so no statement is needed, and the
 * business needs no event about its own request.
 */
export const acknowledgeEntityCease = (
  /** `ceased`: the recipients that are acknowledged now. */
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

/** True when the deadline has passed without an acknowledgment. */
export const isOverdue = (ceaseBy: Instant, acknowledgedAt: Instant | null, now: Instant): boolean =>
  acknowledgedAt === null && now > ceaseBy;
