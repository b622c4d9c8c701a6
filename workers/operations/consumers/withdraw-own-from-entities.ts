import type { Person } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import type { Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { withdrawFromEntities } from "../withdrawals/withdraw-from-entities.ts";
import { locateRecordNamingPerson } from "./get-certificate-naming-person.ts";
import type { WithdrawServices } from "./withdraw-all-certificates.ts";
import { accountWithdrawalChange } from "./withdraw-own-certificate.ts";

/** Single recipients of one; a mail confirms it. Refuses as `withdrawOwn`, and `invalid_request` for a name that is no recipient. */
export const withdrawOwnFromEntities = async (
  services: WithdrawServices,
  person: Pick<Person, "id">,
  certId: CertId | null,
  { entities, language }: { readonly entities: readonly string[]; readonly language: MailLanguage },
): Promise<Result<{ readonly ceaseBy: Instant }, "unauthorized" | "cert_not_found" | "already_revoked" | "invalid_request">> => {
  const own = await locateRecordNamingPerson(services, person, certId);
  if (!own.ok) return own;
  return withdrawFromEntities(services, own.value, { change: accountWithdrawalChange, entities, language });
};
