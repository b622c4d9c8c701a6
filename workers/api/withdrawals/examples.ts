// The worked certificate of the description, withdrawn: its receipt can be recomputed and its signature checked.
import { toWithdrawalReceiptView, toWithdrawalView } from "../../../core/certificates/public-json.ts";
import type { WithdrawalWithProof } from "../../../core/certificates/published-certificate.ts";
import { toIso } from "../../../core/time.ts";
import { formatWithdrawalReceipt } from "../../../core/withdrawals/receipt.ts";
import { sourceFromPerson, decideWithdrawal, type WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { exampleCertificate, exampleViewContext, pendingAnchor } from "../certificates/examples.ts";

const exampleWithdrawnAt = Date.UTC(2026, 2, 20, 9, 30, 0, 250);
const exampleWithdrawableCertificate: WithdrawableCertificate = { ...exampleCertificate, chain: { tag: "example", auditLog: 0 } };
const { withdrawal } = decideWithdrawal({
  certificate: exampleWithdrawableCertificate,
  change: sourceFromPerson("email_code"),
  scope: "certificate",
  now: exampleWithdrawnAt,
});

/** Signed by a key that was used once and thrown away; its public half is yke4J3KkMv_JCYJyBIa4etk16upzo5QC5vQR3c0u6sA. */
const provenWithdrawalExample: WithdrawalWithProof = {
  withdrawnAt: exampleWithdrawnAt,
  ceaseBy: withdrawal.ceaseBy,
  method: withdrawal.method,
  scope: withdrawal.scope,
  receivedAt: null,
  acknowledgedAt: null,
  receipt: formatWithdrawalReceipt(exampleWithdrawableCertificate, withdrawal),
  signature: {
    kid: "G7z7ENaxv-r4D8rwwslulfGhHKMzPJBy5nhQKH-sP_Q",
    alg: "Ed25519",
    value: "iQrEMGzwbQuUjD2ZID7DS107Ck/Y621nYiRAvI+pz+8sOwoWv5lSdAdtvHVjpyXnz5VncvnxEbG1LFTbilW1DA==",
  },
  anchor: pendingAnchor("certificate.revoked", exampleWithdrawableCertificate, exampleWithdrawnAt),
};

export const withdrawalReceiptExample = toWithdrawalReceiptView(provenWithdrawalExample);
const withdrawalViewExample = toWithdrawalView(exampleWithdrawableCertificate.id, provenWithdrawalExample, exampleViewContext);
export const withdrawnExample = {
  revoked: true,
  cease_by: withdrawalViewExample.cease_by,
  withdrawn_at: withdrawalViewExample.withdrawn_at,
  receipt_url: withdrawalViewExample.receipt_url,
};
export const recordedWithdrawalExample = {
  withdrawal: { ...withdrawalViewExample, method: "business_recorded", received_at: toIso(exampleWithdrawnAt - 3_600_000) },
  cease_by: withdrawalViewExample.cease_by,
};
const exampleAcknowledgedAt = toIso(exampleWithdrawnAt + 86_400_000);
export const acknowledgmentExample = {
  cert_id: exampleWithdrawableCertificate.id,
  status: "revoked",
  acknowledged_at: exampleAcknowledgedAt,
  cease_by: withdrawalViewExample.cease_by,
  on_time: true,
  withdrawal: { ...withdrawalViewExample, cease_acknowledged_at: exampleAcknowledgedAt },
};
