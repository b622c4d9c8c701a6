import type { WithdrawalProof } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { listEntityWithdrawalProofs } from "../../../storage/entity-withdrawals.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { withAnchorAttestations } from "../attestations/with-attestations.ts";
import { verifyCertificate } from "./verify-certificate.ts";

/** Of one act by which single recipients were withdrawn from. Refuses `cert_not_found`, and `not_found` where there was no such act. */
export const getEntityWithdrawalReceipt = async (
  services: CertificateDependencies,
  certId: CertId,
  act: number,
): Promise<Result<WithdrawalProof, "cert_not_found" | "not_found">> => {
  const [proof] = await listEntityWithdrawalProofs(services.shards.forId(certId), certId, { from: act, to: act });
  if (proof !== undefined) return ok({ ...proof, anchor: await withAnchorAttestations(services, proof.anchor) });
  const found = await verifyCertificate(services, certId);
  return found.ok ? refuse("not_found") : found;
};
