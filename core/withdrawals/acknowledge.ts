// The business acknowledges that it has ceased contact. Once: the certificate stays revoked, and what was said is kept.
import type { Actor } from "../actor.ts";
import type { Fact } from "../facts.ts";
import { isoOf, type Instant } from "../time.ts";
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

/** Late is what is still open after its deadline. */
export const isOverdue = (ceaseBy: Instant, acknowledgedAt: Instant | null, now: Instant): boolean =>
  acknowledgedAt === null && now > ceaseBy;
