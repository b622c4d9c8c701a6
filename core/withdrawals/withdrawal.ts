// The decision to withdraw: a certificate, how it was withdrawn and the time become a withdrawal and its fact. Whether the
// person may is decided before (answer.ts); the state of the business's account never matters here.
import { getCeaseDeadline } from "../cease-deadline.ts";
import type { Environment } from "../access/entitlement.ts";
import type { CertificateStatus } from "../certificates/certificate.ts";
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type AuditChain, type DomainEvent } from "../domain-events.ts";
import type { BusinessId, CertId } from "../ids.ts";
import { refuse, ok, type Result } from "../result.ts";
import { toIso, minuteMs, type Instant } from "../time.ts";

/** By the person, with a code or a link. */
export type PersonMethod = "email_code" | "manage_link";
export type WithdrawalMethod = PersonMethod | "business_recorded";
/** Of a withdrawn certificate. A withdrawal from single recipients leaves it active: entities.ts. */
export type WithdrawalScope = "certificate" | "business";

export const recordedChannels = ["sms_stop", "phone", "mail", "email", "in_person", "other"] as const;
export type RecordedChannel = (typeof recordedChannels)[number];

/**
 * What a withdrawal needs of a certificate. Not derived from `PublishedCertificate`, which contains withdrawals: that would be an import
 * cycle.
 */
export interface WithdrawableCertificate {
  readonly id: CertId;
  readonly businessId: BusinessId;
  readonly businessName: string;
  readonly environment: Environment;
  readonly status: CertificateStatus;
  readonly originDomain: string;
  readonly issuedAt: Instant;
  readonly fingerprint: string;
  readonly chain: AuditChain;
}

/** A revocation that reached the business by other means. */
export interface RecordedRequest {
  readonly channel: RecordedChannel;
  readonly receivedAt: Instant;
  readonly note: string | null;
}

export interface Withdrawal {
  readonly certId: CertId;
  /** When the certificate became revoked: our clock, so nobody can date it back. */
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  readonly method: WithdrawalMethod;
  readonly scope: WithdrawalScope;
  /** Of a business-recorded one. */
  readonly recorded: RecordedRequest | null;
}

/** A withdrawal from individual recipients: one time, receipt, audit entry and ledger statement, however many recipients it names. */
export interface EntityWithdrawal extends Omit<Withdrawal, "certId" | "scope"> {
  /** 1, 2, 3 … on its certificate. */
  readonly number: number;
  /** Sorted, as on the certificate. */
  readonly entities: readonly string[];
}

const maxClockSkewMs = 5 * minuteMs; // between the business's clock and ours

/** The moment a business says it was told: not in the future. A clock a little ahead of ours means now. */
export const parseReceivedAt = (claimed: Instant, now: Instant): Result<Instant, "invalid_request"> =>
  claimed > now + maxClockSkewMs ? refuse("invalid_request", "received_at: must not be in the future.") : ok(Math.min(claimed, now));

/** How and by whom: by the person, who proved to be it, or recorded by the business. */
export type WithdrawalSource =
  | { readonly method: PersonMethod; readonly recorded: null; readonly actor: Actor }
  | { readonly method: "business_recorded"; readonly recorded: RecordedRequest; readonly actor: Actor };

export const sourceFromPerson = (method: PersonMethod): WithdrawalSource => ({
  method,
  recorded: null,
  actor: { kind: "subject", verifiedBy: method },
});

export const sourceFromBusiness = (recorded: RecordedRequest, keyId: string): WithdrawalSource => ({
  method: "business_recorded",
  recorded,
  actor: { kind: "api_key", id: keyId },
});

/** The addresses by which a withdrawal from everything finds the person's certificates. */
export interface WithdrawalAddress {
  readonly kind: "email" | "phone";
  /** Its blind index. */
  readonly index: string;
}

/**
 * The e-mail address is what a code proves, and what the person's certificates have in common. Only where there is none does the
 * telephone number stand for it: then whoever said STOP on that number is meant, whatever address other certificates name with it.
 */
export const selectWithdrawalAddress = (indexes: {
  readonly emailIndex: string | null;
  readonly phoneIndex: string | null;
}): WithdrawalAddress | null => {
  if (indexes.emailIndex !== null) return { kind: "email", index: indexes.emailIndex };
  return indexes.phoneIndex === null ? null : { kind: "phone", index: indexes.phoneIndex };
};

export const decideWithdrawal = (input: {
  readonly certificate: WithdrawableCertificate;
  readonly change: WithdrawalSource;
  readonly scope: WithdrawalScope;
  readonly now: Instant;
}): { readonly withdrawal: Withdrawal; readonly fact: DomainEvent } => {
  const { certificate, scope, now } = input;
  const { method, recorded, actor } = input.change;
  const deadline = getCeaseDeadline(recorded?.receivedAt ?? now);
  return {
    withdrawal: { certId: certificate.id, withdrawnAt: now, ceaseBy: deadline, method, scope, recorded },
    fact: createCertificateEvent(certificate, now, {
      type: "certificate.revoked",
      actor,
      businessId: certificate.businessId,
      environment: certificate.environment,
      payload: { fingerprint: certificate.fingerprint, method, scope, cease_by: toIso(deadline) },
      anchor: { fingerprint: certificate.fingerprint, originDomain: certificate.originDomain },
    }),
  };
};
