// The worked certificate of the description, withdrawn: its receipt can be recomputed and its signature checked.
import { withdrawalReceiptView, withdrawalView } from "../../../core/certificates/views.ts";
import type { ProvenWithdrawal } from "../../../core/certificates/published.ts";
import { isoOf } from "../../../core/time.ts";
import { withdrawalReceiptText } from "../../../core/withdrawals/receipt.ts";
import { byPerson, withdraw, type WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { exampleCertificate, exampleContext, pendingAnchor } from "../certificates/examples.ts";

const withdrawnAt = Date.UTC(2026, 2, 20, 9, 30, 0, 250);
const certificate: WithdrawableCertificate = { ...exampleCertificate, chain: { tag: "example", shard: 0 } };
const { withdrawal } = withdraw({ certificate, change: byPerson("email_code"), scope: "certificate", now: withdrawnAt });

/** Signed by a key that was used once and thrown away; its public half is yke4J3KkMv_JCYJyBIa4etk16upzo5QC5vQR3c0u6sA. */
const proven: ProvenWithdrawal = {
  withdrawnAt,
  ceaseBy: withdrawal.ceaseBy,
  method: withdrawal.method,
  scope: withdrawal.scope,
  receivedAt: null,
  acknowledgedAt: null,
  receipt: withdrawalReceiptText(certificate, withdrawal),
  signature: {
    kid: "G7z7ENaxv-r4D8rwwslulfGhHKMzPJBy5nhQKH-sP_Q",
    alg: "Ed25519",
    value: "iQrEMGzwbQuUjD2ZID7DS107Ck/Y621nYiRAvI+pz+8sOwoWv5lSdAdtvHVjpyXnz5VncvnxEbG1LFTbilW1DA==",
  },
  anchor: pendingAnchor("certificate.revoked", certificate, withdrawnAt),
};

export const withdrawalReceiptExample = withdrawalReceiptView(proven);
const viewed = withdrawalView(certificate.id, proven, exampleContext);
export const withdrawnExample = {
  revoked: true,
  cease_by: viewed.cease_by,
  withdrawn_at: viewed.withdrawn_at,
  receipt_url: viewed.receipt_url,
};
export const recordedExample = {
  withdrawal: { ...viewed, method: "business_recorded", received_at: isoOf(withdrawnAt - 3_600_000) },
  cease_by: viewed.cease_by,
};
const acknowledgedAt = isoOf(withdrawnAt + 86_400_000);
export const ceaseExample = {
  cert_id: certificate.id,
  status: "revoked",
  acknowledged_at: acknowledgedAt,
  cease_by: viewed.cease_by,
  on_time: true,
  withdrawal: { ...viewed, cease_acknowledged_at: acknowledgedAt },
};
