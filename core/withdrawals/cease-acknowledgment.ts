// Acknowledgments by the business that contact has ceased: for a whole certificate, or for recipients for whom the person withdrew consent
// individually.
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type DomainEvent } from "../domain-events.ts";
import { toIso, type Instant } from "../time.ts";
import type { WithdrawnEntity } from "./entity-withdrawal.ts";
import type { WithdrawableCertificate } from "./withdrawal.ts";

/** The details that the business gives. They are stored encrypted, because they can contain people's names. */
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
 * Creates the event that acknowledges the withdrawal for the recipients in `ceased`. The event has an audit entry but no ledger statement,
 * because the ledger already anchors the audit log. It has no public event, because the business itself made the request.
 */
export const acknowledgeEntityCease = ({
  certificate,
  actor,
  now,
  ceased,
}: AcknowledgmentInput & { readonly ceased: readonly WithdrawnEntity[] }): DomainEvent =>
  createCertificateEvent(certificate, now, {
    type: "business.entities_ceased",
    actor,
    payload: {
      fingerprint: certificate.fingerprint,
      entities: ceased.map(({ entity }) => entity).sort(),
      on_time: ceased.every(({ ceaseBy }) => now <= ceaseBy),
    },
  });

/** Returns true if the deadline has passed without an acknowledgment. `ceaseBy` is null if there is no deadline. */
export const isOverdue = (ceaseBy: Instant | null, acknowledgedAt: Instant | null, now: Instant): boolean =>
  ceaseBy !== null && acknowledgedAt === null && now > ceaseBy;
