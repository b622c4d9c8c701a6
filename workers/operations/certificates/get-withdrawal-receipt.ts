import type { WithdrawalWithProof } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Runtime, Stores, Caches, Proofs } from "../../services.ts";
import { verifyCertificate } from "./verify-certificate.ts";

/** The signed receipt of its withdrawal. Refuses `cert_not_found`, and `not_found` while the certificate is active. */
export const getWithdrawalReceipt = async (
  services: Runtime & Stores & Caches & Proofs,
  certId: CertId,
): Promise<Result<WithdrawalWithProof, "cert_not_found" | "not_found">> => {
  const found = await verifyCertificate(services, certId);
  if (!found.ok) return found;
  const { withdrawal } = found.value;
  return withdrawal === null ? refuse("not_found") : ok(withdrawal);
};
