// The business acknowledges that it has ceased contact: once a certificate, or once a recipient that was withdrawn from alone. The
// certificate stays what it is, and what was said is kept.
import type { Actor } from "../actor.ts";
import type { Fact } from "../facts.ts";
import { isoOf, type Instant } from "../time.ts";
import type { WithdrawnEntity } from "./entities.ts";
import type { WithdrawableCertificate } from "./withdrawal.ts";

/** What the business says with it; sealed, because it can name people. */
export interface CeaseDetails {
  readonly note: string | null;
  readonly acknowledgedBy: string | null;
  readonly actions: readonly string[];
}

export const acknowledgeCease = (input: {
  readonly certificate: WithdrawableCertificate;
  readonly ceaseBy: Instant;
  readonly actor: Actor;
  readonly now: Instant;
}): Fact => ({
  type: "business.ceased",
  entityType: "certificate",
  entityId: input.certificate.id,
  at: input.now,
  chains: [input.certificate.chain],
  actor: input.actor,
  businessId: input.certificate.businessId,
  environment: input.certificate.environment,
  payload: {
    fingerprint: input.certificate.fingerprint,
    cease_by: isoOf(input.ceaseBy),
    on_time: input.now <= input.ceaseBy,
  },
  anchor: { fingerprint: input.certificate.fingerprint, originDomain: input.certificate.originDomain },
});

/**
 * Of single recipients: an audit entry, whose log the ledger holds with the others. It has no statement of its own, and the business
 * need not be told by an event what it has just said.
 */
export const acknowledgeEntities = (input: {
  readonly certificate: WithdrawableCertificate;
  /** Those whose contact has ceased now. */
  readonly ceased: readonly WithdrawnEntity[];
  readonly actor: Actor;
  readonly now: Instant;
}): Fact => ({
  type: "business.entities_ceased",
  entityType: "certificate",
  entityId: input.certificate.id,
  at: input.now,
  chains: [input.certificate.chain],
  actor: input.actor,
  payload: {
    fingerprint: input.certificate.fingerprint,
    entities: input.ceased.map(({ entity }) => entity).sort(),
    on_time: input.ceased.every(({ ceaseBy }) => input.now <= ceaseBy),
  },
});

/** Late is what is still open after its deadline. */
export const isOverdue = (ceaseBy: Instant, acknowledgedAt: Instant | null, now: Instant): boolean =>
  acknowledgedAt === null && now > ceaseBy;
