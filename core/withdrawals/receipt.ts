// The person's signed receipt for a withdrawal: canonical JSON that can be verified offline with the issuer's key. The ledger's statement
// of the withdrawal can be derived from it.
import { toCanonicalJson } from "../canonical-json.ts";
import { toIso, toIsoOrNull } from "../time.ts";
import type { EntityWithdrawal, Withdrawal, WithdrawableCertificate } from "./withdrawal.ts";

export const receiptFormat = "svc-withdrawal-receipt-v1" as const;
/** The format for a withdrawal of consent for individual recipients. The receipt lists them in `entities`. */
export const entityReceiptFormat = "svc-withdrawal-receipt-v2" as const;

/** The receipt's properties whose values are text. `received_at` is not one of them, because it is null if the person withdrew directly. */
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

/** Returns the exact text that is signed for a withdrawal of consent for individual recipients. */
export const formatEntityReceipt = (certificate: WithdrawableCertificate, withdrawal: EntityWithdrawal): string =>
  toCanonicalJson({
    ...buildWithdrawalReceipt(certificate, { ...withdrawal, certId: certificate.id, scope: "certificate" }),
    entities: withdrawal.entities,
    schema: entityReceiptFormat,
    scope: "recipient",
  });

/** Returns the exact text that is signed for a withdrawn certificate. */
export const formatWithdrawalReceipt = (certificate: WithdrawableCertificate, withdrawal: Withdrawal): string =>
  toCanonicalJson(buildWithdrawalReceipt(certificate, withdrawal));

type WithdrawalReceipt = Omit<ReturnType<typeof buildWithdrawalReceipt>, "schema" | "scope"> & {
  readonly schema: typeof receiptFormat | typeof entityReceiptFormat;
  readonly scope: Withdrawal["scope"] | "recipient";
  readonly entities?: readonly string[];
};

/** Parses a stored receipt. `text` is not validated. */
export const parseWithdrawalReceipt = (text: string): WithdrawalReceipt => JSON.parse(text) as WithdrawalReceipt;
