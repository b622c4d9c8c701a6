// Lets the signed-in person withdraw one certificate.
import type { Person } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, type Result } from "../../../core/result.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { accountWithdrawalChange } from "../withdrawals/account-withdrawal-change.ts";
import { withdrawCertificate } from "../withdrawals/withdraw-certificate.ts";
import type { WithdrawalResult } from "../withdrawals/withdrawal-request.ts";
import { locateRecordNamingPerson } from "./get-certificate-naming-person.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";

/**
 * Withdraws the certificate and emails a confirmation. Returns the first of these errors that applies: `unauthorized` if the account no
 * longer exists, `cert_not_found` if the certificate does not name the person, `already_revoked`.
 */
export const withdrawOwnCertificate = async (
  services: ConsumerWriteDependencies,
  person: Pick<Person, "id">,
  certId: CertId | null,
  language: Language,
  saveIdempotentResponse?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, "unauthorized" | "cert_not_found" | "already_revoked">> => {
  const located = await locateRecordNamingPerson(services, person, certId);
  if (!located.ok) return located;
  if (located.value.record.certificate.status !== "active") return refuse("already_revoked");
  return withdrawCertificate(services, located.value, {
    change: accountWithdrawalChange,
    scope: "certificate",
    addressIndexes: [],
    addressIndex: located.value.addressIndex,
    language,
    saveIdempotentResponse,
  });
};
