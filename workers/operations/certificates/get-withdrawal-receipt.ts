// Returns the signed receipt for withdrawing a whole certificate.
import type { WithdrawalWithProof } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { verifyCertificate } from "./verify-certificate.ts";

/** Returns the receipt. Returns `cert_not_found` if the certificate does not exist, and `not_found` if the certificate is active. */
export const getWithdrawalReceipt = async (
  services: CertificateDependencies,
  certId: CertId,
): Promise<Result<WithdrawalWithProof, "cert_not_found" | "not_found">> => {
  const found = await verifyCertificate(services, certId);
  if (!found.ok) return found;
  const { withdrawal } = found.value;
  return withdrawal === null ? refuse("not_found") : ok(withdrawal);
};
