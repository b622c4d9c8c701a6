// The receipt of a withdrawal: what the person keeps. Canonical JSON of text members, signed by the issuer, so that it can be
// checked for ever and without us; the ledger's statement of the same withdrawal follows from its members.
import { canonicalJson } from "../canonical-json.ts";
import { isoOf, isoOrNull } from "../time.ts";
import type { EntityWithdrawal } from "./entities.ts";
import type { Withdrawal, WithdrawableCertificate } from "./withdrawal.ts";

export const receiptSchema = "svc-withdrawal-receipt-v1" as const;
/** Of a withdrawal from single recipients: it names them, in `entities`. */
export const entityReceiptSchema = "svc-withdrawal-receipt-v2" as const;

/** Text members; `received_at` is null where the person withdrew here. */
export const receiptTexts = ["cease_by", "cert_id", "fingerprint", "method", "origin_domain", "schema", "scope", "withdrawn_at"] as const;

const receiptOf = (certificate: WithdrawableCertificate, withdrawal: Withdrawal) => ({
  business: { id: certificate.businessId, name: certificate.businessName },
  cease_by: isoOf(withdrawal.ceaseBy),
  cert_id: certificate.id,
  fingerprint: certificate.fingerprint,
  method: withdrawal.method,
  origin_domain: certificate.originDomain,
  received_at: isoOrNull(withdrawal.recorded?.receivedAt ?? null),
  schema: receiptSchema,
  scope: withdrawal.scope,
  withdrawn_at: isoOf(withdrawal.withdrawnAt),
});

/** Exactly the text that is signed of a withdrawal from single recipients. */
export const entityReceiptText = (certificate: WithdrawableCertificate, withdrawal: EntityWithdrawal): string =>
  canonicalJson({
    ...receiptOf(certificate, { ...withdrawal, certId: certificate.id, scope: "certificate" }),
    entities: withdrawal.entities,
    schema: entityReceiptSchema,
    scope: "recipient",
  });

/** Exactly the text that is signed. */
export const withdrawalReceiptText = (certificate: WithdrawableCertificate, withdrawal: Withdrawal): string =>
  canonicalJson(receiptOf(certificate, withdrawal));

type SaidReceipt = Omit<ReturnType<typeof receiptOf>, "schema" | "scope"> & {
  readonly schema: typeof receiptSchema | typeof entityReceiptSchema;
  readonly scope: Withdrawal["scope"] | "recipient";
  readonly entities?: readonly string[];
};

/** What the signed text says. */
export const readWithdrawalReceipt = (text: string): SaidReceipt => JSON.parse(text) as SaidReceipt;
