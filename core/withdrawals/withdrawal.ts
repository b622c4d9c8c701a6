// Withdraws a certificate: returns the withdrawal and its domain event (SPEC Withdrawal). authorization.ts decides first whether the person
// may withdraw. The status of the business account never prevents a withdrawal.
import { getCeaseDeadline } from "../cease-deadline.ts";
import type { Environment } from "../access/entitlement.ts";
import type { CertificateStatus } from "../certificates/certificate.ts";
import type { Actor } from "../actor.ts";
import { createCertificateEvent, type AuditChain, type DomainEvent } from "../domain-events.ts";
import type { BusinessId, CertId } from "../ids.ts";
import { refuse, ok, type Result } from "../result.ts";
import { toIso, toIsoOrNull, minuteMs, type Instant } from "../time.ts";

export type PersonMethod = "email_code" | "manage_link";
export type WithdrawalMethod = PersonMethod | "business_recorded";

/**
 * Which certificates are withdrawn: only this one, or all of the business's certificates with the person's email address or phone number.
 * Withdrawals of consent for individual recipients are in entity-withdrawal.ts.
 */
export type WithdrawalScope = "certificate" | "business";

export const recordedChannels = ["sms_stop", "phone", "mail", "email", "in_person", "other"] as const;
export type RecordedChannel = (typeof recordedChannels)[number];

/**
 * The parts of a certificate that a withdrawal needs. The type is not derived from `PublishedCertificate`, because that type contains
 * withdrawals and importing it would create a cycle.
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
  /** When consent for individual recipients was last withdrawn; null or absent if it never was. */
  readonly latestEntityWithdrawalAt?: Instant | null;
}

/** A withdrawal request that the business received outside this service. */
export interface RecordedRequest {
  readonly channel: RecordedChannel;
  readonly receivedAt: Instant;
  readonly note: string | null;
}

export interface Withdrawal {
  readonly certId: CertId;
  /** When the certificate was revoked, by our clock (`getWithdrawalTime`), so that the business cannot backdate it. */
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  readonly method: WithdrawalMethod;
  readonly scope: WithdrawalScope;
  /** The recorded request; set only if the method is `business_recorded`. */
  readonly recorded: RecordedRequest | null;
}

/**
 * A withdrawal of consent for individual recipients. All of its recipients have the same time, receipt, audit entry and ledger statement.
 */
export interface EntityWithdrawal extends Omit<Withdrawal, "certId" | "scope"> {
  /** The number of the withdrawal: 1, 2, 3 … within each certificate. */
  readonly number: number;
  /** The recipients, sorted as on the certificate. */
  readonly entities: readonly string[];
}

const maxClockSkewMs = 5 * minuteMs; // the allowed difference between the business's clock and ours

/** Accepts times up to five minutes in the future, because clocks differ, and returns the current time for them. Refuses later times. */
export const parseReceivedAt = (claimed: Instant, now: Instant): Result<Instant, "invalid_request"> =>
  claimed > now + maxClockSkewMs ? refuse("invalid_request", "received_at: must not be in the future.") : ok(Math.min(claimed, now));

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

/**
 * Returns the time of a withdrawal: the time of the request, or the time of the issuance or an earlier withdrawal if that is later.
 * Verifiers refuse events that are not in order. The request can be older than these events if the withdrawal is completed in the
 * background, or because clocks differ.
 */
export const getWithdrawalTime = ({ issuedAt, latestEntityWithdrawalAt }: WithdrawableCertificate, requestedAt: Instant): Instant =>
  Math.max(requestedAt, issuedAt, latestEntityWithdrawalAt ?? 0);

export const decideWithdrawal = (input: {
  readonly certificate: WithdrawableCertificate;
  readonly change: WithdrawalSource;
  readonly scope: WithdrawalScope;
  readonly now: Instant;
}): { readonly withdrawal: Withdrawal; readonly domainEvent: DomainEvent } => {
  const { certificate, scope } = input;
  const { method, recorded, actor } = input.change;
  const withdrawnAt = getWithdrawalTime(certificate, input.now);
  const ceaseBy = getCeaseDeadline(recorded?.receivedAt ?? withdrawnAt);
  return {
    withdrawal: { certId: certificate.id, withdrawnAt, ceaseBy, method, scope, recorded },
    domainEvent: createCertificateEvent(certificate, withdrawnAt, {
      type: "certificate.revoked",
      actor,
      businessId: certificate.businessId,
      environment: certificate.environment,
      payload: {
        fingerprint: certificate.fingerprint,
        method,
        scope,
        received_at: toIsoOrNull(recorded?.receivedAt ?? null),
        cease_by: toIso(ceaseBy),
      },
      anchor: { fingerprint: certificate.fingerprint, originDomain: certificate.originDomain },
    }),
  };
};
