// A withdrawal of consent for individual recipients. The certificate stays active for the other recipients. If consent for the last
// recipient is withdrawn, the whole certificate is withdrawn (withdrawal.ts).
import { getCeaseDeadline } from "../cease-deadline.ts";
import { normalizeRecipientName } from "../certificates/recipients.ts";
import { createCertificateEvent, type DomainEvent } from "../domain-events.ts";
import { sha256Hex } from "../hash.ts";
import { ok, refuse, type Result } from "../result.ts";
import { toIso, toIsoOrNull, type Instant } from "../time.ts";
import { formatEntityReceipt } from "./receipt.ts";
import {
  getWithdrawalTime,
  type EntityWithdrawal,
  type WithdrawableCertificate,
  type Withdrawal,
  type WithdrawalSource,
} from "./withdrawal.ts";

/** A recipient for whom the person has withdrawn consent. The certificate may still be active, or may have been revoked later. */
export interface WithdrawnEntity extends Pick<Withdrawal, "withdrawnAt" | "ceaseBy" | "method"> {
  readonly entity: string;
  /** The number of the withdrawal that listed the recipient. */
  readonly number: number;
  /** When the business received the request, if the business recorded the withdrawal; otherwise null. */
  readonly receivedAt: Instant | null;
  /** When the business acknowledged that this recipient has ceased contact; null if it has not. */
  readonly acknowledgedAt: Instant | null;
  /** The number of the acknowledgment, counted from 1; null if there is none. */
  readonly acknowledgement: number | null;
}

export interface NamedRecipients {
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[] } | null;
}

/**
 * Returns the recipients to whom the person gave consent: the accepted recipients if the person was asked about each one, and otherwise
 * all.
 */
export const listConsentedEntities = ({ entities, answered }: NamedRecipients): readonly string[] => answered?.accepted ?? entities;

/** Returns the recipients that may still contact the person. */
export const listActiveEntities = (
  certificate: NamedRecipients & { readonly entitiesWithdrawn: readonly Pick<WithdrawnEntity, "entity">[] },
): readonly string[] => {
  const withdrawn = new Set(certificate.entitiesWithdrawn.map(({ entity }) => entity));
  return listConsentedEntities(certificate).filter((name) => !withdrawn.has(name));
};

/**
 * Finds the recipients with the given names among those to whom the person gave consent. Refuses an empty list, and any name that is not
 * among them.
 */
export const resolveNamedEntities = (
  certificate: NamedRecipients,
  names: readonly string[],
): Result<readonly string[], "invalid_request"> => {
  const known = new Map(listConsentedEntities(certificate).map((name) => [normalizeRecipientName(name), name]));
  const found = names.map((name) => known.get(normalizeRecipientName(name)));
  if (names.length === 0) return refuse("invalid_request", "entities: must contain at least one recipient.");
  if (found.includes(undefined)) {
    return refuse("invalid_request", "entities: must contain only recipients for whom the person gave consent on this certificate.");
  }
  return ok([...new Set(found as string[])].sort());
};

export const decideEntityWithdrawal = (input: {
  readonly certificate: WithdrawableCertificate;
  readonly change: WithdrawalSource;
  readonly number: number;
  readonly entities: readonly string[];
  /** True if the business opted in to events for these withdrawals. */
  readonly emitsEvent: boolean;
  readonly now: Instant;
}): { readonly withdrawal: EntityWithdrawal; readonly receipt: string; readonly domainEvent: DomainEvent } => {
  const { certificate, number, entities } = input;
  const { method, recorded, actor } = input.change;
  const withdrawnAt = getWithdrawalTime(certificate, input.now);
  const ceaseBy = getCeaseDeadline(recorded?.receivedAt ?? withdrawnAt);
  const withdrawal: EntityWithdrawal = { number, entities, withdrawnAt, ceaseBy, method, recorded };
  const receipt = formatEntityReceipt(certificate, withdrawal);
  return {
    withdrawal,
    receipt,
    domainEvent: createCertificateEvent(certificate, withdrawnAt, {
      type: "certificate.entities_withdrawn",
      actor,
      payload: {
        fingerprint: certificate.fingerprint,
        method,
        entities,
        received_at: toIsoOrNull(recorded?.receivedAt ?? null),
        cease_by: toIso(withdrawal.ceaseBy),
      },
      anchor: { fingerprint: certificate.fingerprint, originDomain: certificate.originDomain, receiptHash: sha256Hex(receipt) },
      ...(input.emitsEvent && { businessId: certificate.businessId, environment: certificate.environment }),
    }),
  };
};
