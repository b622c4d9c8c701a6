// The signed receipt of a withdrawal, for anyone.
import type { ProvenWithdrawal, WithdrawalProof } from "../../../core/certificates/published.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { certificateById } from "../../../storage/certificates.ts";
import { provenEntityWithdrawals } from "../../../storage/entity-withdrawals.ts";
import type { Memories, Proofs, Runtime, Stores } from "../../services.ts";
import { attestedCertificate, withAttested } from "../attestations.ts";

/** Refuses `cert_not_found`, and `not_found` while the certificate is active. */
export const withdrawalReceipt = async (
  services: Runtime & Stores & Memories & Proofs,
  certId: CertId,
): Promise<Result<ProvenWithdrawal, "cert_not_found" | "not_found">> => {
  const certificate = await certificateById(services.homes.of(certId), certId);
  if (certificate === null) return refuse("cert_not_found");
  const { withdrawal } = await attestedCertificate(services, certificate);
  return withdrawal === null ? refuse("not_found") : ok(withdrawal);
};

/** Of one act by which single recipients were withdrawn from. Refuses `not_found`. */
export const entityWithdrawalReceipt = async (
  services: Runtime & Stores & Memories & Proofs,
  certId: CertId,
  act: number,
): Promise<Result<WithdrawalProof, "not_found">> => {
  const [proof] = await provenEntityWithdrawals(services.homes.of(certId), certId, { from: act, to: act });
  return proof === undefined ? refuse("not_found") : ok({ ...proof, anchor: await withAttested(services, proof.anchor) });
};
