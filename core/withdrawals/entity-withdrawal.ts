// A withdrawal from single recipients: those are told to cease contact, and the certificate stands for the others. With the last
// of them the certificate itself is withdrawn (withdrawal.ts).
import { getCeaseDeadline } from "../cease-deadline.ts";
import { normalizeRecipientName } from "../certificates/recipients.ts";
import { createCertificateEvent, type DomainEvent } from "../domain-events.ts";
import { sha256Hex } from "../hash.ts";
import { ok, refuse, type Result } from "../result.ts";
import { toIso, type Instant } from "../time.ts";
import { formatEntityReceipt } from "./receipt.ts";
import type { EntityWithdrawal, WithdrawableCertificate, Withdrawal, WithdrawalSource } from "./withdrawal.ts";

/** A recipient the person has withdrawn from, of an active certificate or of one that was revoked later. */
export interface WithdrawnEntity extends Pick<Withdrawal, "withdrawnAt" | "ceaseBy" | "method"> {
  readonly entity: string;
  /** The act that named it. */
  readonly number: number;
  /** When the business was told, of an act that it recorded. */
  readonly receivedAt: Instant | null;
  /** When the business said that this recipient has ceased contact, and which of its acknowledgements that was: 1, 2, 3 … */
  readonly acknowledgedAt: Instant | null;
  readonly acknowledgement: number | null;
}

interface NamedRecipients {
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[] } | null;
}

/** Those the consent is for: the accepted ones where each was asked about, else all that are named. */
export const listConsentedEntities = ({ entities, answered }: NamedRecipients): readonly string[] => answered?.accepted ?? entities;

/** Those who may still make contact. */
export const listActiveEntities = (
  certificate: NamedRecipients & { readonly entitiesWithdrawn: readonly Pick<WithdrawnEntity, "entity">[] },
): readonly string[] => {
  const withdrawn = new Set(certificate.entitiesWithdrawn.map(({ entity }) => entity));
  return listConsentedEntities(certificate).filter((name) => !withdrawn.has(name));
};

/** The names as they stand on the certificate. Whoever is not consented to there cannot be withdrawn from. */
export const resolveNamedEntities = (
  certificate: NamedRecipients,
  names: readonly string[],
): Result<readonly string[], "invalid_request"> => {
  const known = new Map(listConsentedEntities(certificate).map((name) => [normalizeRecipientName(name), name]));
  const found = names.map((name) => known.get(normalizeRecipientName(name)));
  if (names.length === 0) return refuse("invalid_request", "entities: must name at least one recipient.");
  if (found.includes(undefined)) {
    return refuse("invalid_request", "entities: each must be a recipient that the person consented to on this certificate.");
  }
  return ok([...new Set(found as string[])].sort());
};

export const decideEntityWithdrawal = (input: {
  readonly certificate: WithdrawableCertificate;
  readonly change: WithdrawalSource;
  readonly number: number;
  readonly entities: readonly string[];
  /** The business asked to be told of what is not told by itself. */
  readonly isTold: boolean;
  readonly now: Instant;
}): { readonly withdrawal: EntityWithdrawal; readonly receipt: string; readonly fact: DomainEvent } => {
  const { certificate, number, entities, now } = input;
  const { method, recorded, actor } = input.change;
  const until = getCeaseDeadline(recorded?.receivedAt ?? now);
  const withdrawal: EntityWithdrawal = { number, entities, withdrawnAt: now, ceaseBy: until, method, recorded };
  const receipt = formatEntityReceipt(certificate, withdrawal);
  return {
    withdrawal,
    receipt,
    fact: createCertificateEvent(certificate, now, {
      type: "certificate.entities_withdrawn",
      actor,
      payload: { fingerprint: certificate.fingerprint, method, entities, cease_by: toIso(withdrawal.ceaseBy) },
      anchor: { fingerprint: certificate.fingerprint, originDomain: certificate.originDomain, receiptHash: sha256Hex(receipt) },
      ...(input.isTold && { businessId: certificate.businessId, environment: certificate.environment }),
    }),
  };
};
