// Loads the data for the portal's billing page.
import type { MemberSession } from "../../../core/access/session.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { BillingDependencies } from "./dependencies.ts";
import { getAccount } from "../portal/get-account.ts";
import { getCertificateMonths } from "../portal/get-certificate-months.ts";
import { checkPayable } from "./payment-access.ts";

/** Reads the account, its certificates per month, and whether this member can open a payment page. */
export const getBilling = async (services: BillingDependencies, member: MemberSession) => {
  const [account, months, paymentAccess] = await combineLookups(services.shards.forId(member.business.id), [
    getAccount(services, member),
    getCertificateMonths(services, member),
    checkPayable(services, member, "business"),
  ]);
  return { account, months, paymentAccess };
};
