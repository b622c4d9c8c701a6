// The receipt of a withdrawal: what the person keeps. Canonical JSON of text members, signed by the issuer, so that it can be
// checked for ever and without us; the ledger's statement of the same withdrawal follows from its members.
import { toCanonicalJson } from "../canonical-json.ts";
import { toIso, toIsoOrNull } from "../time.ts";
import type { EntityWithdrawal, Withdrawal, WithdrawableCertificate } from "./withdrawal.ts";

export const receiptFormat = "svc-withdrawal-receipt-v1" as const;
/** Of a withdrawal from single recipients: it names them, in `entities`. */
export const entityReceiptFormat = "svc-withdrawal-receipt-v2" as const;

/** Text members; `received_at` is null where the person withdrew here. */
export const receiptTextMembers = [
  "cease_by",
  "cert_id",
  "fingerprint",
  "method",
  "origin_domain",
  "schema",
  "scope",
  "withdrawn_at",
] as const;

const buildWithdrawalReceipt = (certificate: WithdrawableCertificate, withdrawal: Withdrawal) => ({
  business: { id: certificate.businessId, name: certificate.businessName },
  cease_by: toIso(withdrawal.ceaseBy),
  cert_id: certificate.id,
  fingerprint: certificate.fingerprint,
  method: withdrawal.method,
  origin_domain: certificate.originDomain,
  received_at: toIsoOrNull(withdrawal.recorded?.receivedAt ?? null),
  schema: receiptFormat,
  scope: withdrawal.scope,
  withdrawn_at: toIso(withdrawal.withdrawnAt),
});

/** Exactly the text that is signed of a withdrawal from single recipients. */
export const formatEntityReceipt = (certificate: WithdrawableCertificate, withdrawal: EntityWithdrawal): string =>
  toCanonicalJson({
    ...buildWithdrawalReceipt(certificate, { ...withdrawal, certId: certificate.id, scope: "certificate" }),
    entities: withdrawal.entities,
    schema: entityReceiptFormat,
    scope: "recipient",
  });

/** Exactly the text that is signed. */
export const formatWithdrawalReceipt = (certificate: WithdrawableCertificate, withdrawal: Withdrawal): string =>
  toCanonicalJson(buildWithdrawalReceipt(certificate, withdrawal));

type WithdrawalReceipt = Omit<ReturnType<typeof buildWithdrawalReceipt>, "schema" | "scope"> & {
  readonly schema: typeof receiptFormat | typeof entityReceiptFormat;
  readonly scope: Withdrawal["scope"] | "recipient";
  readonly entities?: readonly string[];
};

/** What the signed text says. */
export const parseWithdrawalReceipt = (text: string): WithdrawalReceipt => JSON.parse(text) as WithdrawalReceipt;
