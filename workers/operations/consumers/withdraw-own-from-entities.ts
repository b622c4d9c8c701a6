// Lets the signed-in person withdraw consent for individual recipients of one certificate.
import type { Person } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import type { Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { withdrawFromEntities } from "../withdrawals/withdraw-from-entities.ts";
import { locateRecordNamingPerson } from "./get-certificate-naming-person.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { accountWithdrawalChange } from "../withdrawals/account-withdrawal-change.ts";

/**
 * Withdraws consent for the recipients and emails a confirmation. Returns the same errors as `withdrawOwnCertificate`, and
 * `invalid_request` for a name that is not a recipient.
 */
export const withdrawOwnFromEntities = async (
  services: ConsumerWriteDependencies,
  person: Pick<Person, "id">,
  certId: CertId | null,
  { entities, language }: { readonly entities: readonly string[]; readonly language: Language },
): Promise<Result<{ readonly ceaseBy: Instant }, "unauthorized" | "cert_not_found" | "already_revoked" | "invalid_request">> => {
  const located = await locateRecordNamingPerson(services, person, certId);
  if (!located.ok) return located;
  const { addressIndex } = located.value;
  return withdrawFromEntities(services, located.value, { change: accountWithdrawalChange, addressIndex, entities, language });
};
