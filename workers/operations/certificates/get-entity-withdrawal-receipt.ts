// Returns the signed receipt for withdrawing consent for individual recipients.
import type { WithdrawalProof } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { listEntityWithdrawalProofs } from "../../../storage/entity-withdrawals.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { withAnchorAttestations } from "../attestations/with-attestations.ts";
import { verifyCertificate } from "./verify-certificate.ts";

/**
 * Returns the receipt. `number` is the withdrawal's number within the certificate, starting at 1. Returns `cert_not_found` if the
 * certificate does not exist, and `not_found` if the number does not exist.
 */
export const getEntityWithdrawalReceipt = async (
  services: CertificateDependencies,
  certId: CertId,
  number: number,
): Promise<Result<WithdrawalProof, "cert_not_found" | "not_found">> => {
  const [proof] = await listEntityWithdrawalProofs(services.shards.forId(certId), certId, { from: number, to: number });
  if (proof !== undefined) return ok({ ...proof, anchor: await withAnchorAttestations(services, proof.anchor) });
  const found = await verifyCertificate(services, certId);
  return found.ok ? refuse("not_found") : found;
};
