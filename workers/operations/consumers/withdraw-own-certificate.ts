import type { Person } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, type Result } from "../../../core/result.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { withdrawCertificate, type WithdrawalResult } from "../withdrawals/withdraw-certificate.ts";
import { locateRecordNamingPerson } from "./get-certificate-naming-person.ts";
import type { WithdrawServices } from "./withdraw-all-certificates.ts";

/** The address was proven by a code when the person signed in. */
export const accountWithdrawalChange = { method: "email_code", recorded: null, actor: { kind: "subject", verifiedBy: "account" } } as const;

/** One certificate; a mail confirms it. Refuses `cert_not_found` for one that does not name the person, `already_revoked`. */
export const withdrawOwnCertificate = async (
  services: WithdrawServices,
  person: Pick<Person, "id">,
  certId: CertId | null,
  language: MailLanguage,
  keep?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, "unauthorized" | "cert_not_found" | "already_revoked">> => {
  const own = await locateRecordNamingPerson(services, person, certId);
  if (!own.ok) return own;
  if (own.value.record.certificate.status !== "active") return refuse("already_revoked");
  return withdrawCertificate(services, own.value, {
    change: accountWithdrawalChange,
    scope: "certificate",
    address: null,
    language,
    more: keep,
  });
};
