// Loads the data for the portal's billing page.
import type { MemberSession } from "../../../core/access/session.ts";
import { buildCertificateMonths } from "../../../core/accounts/activity.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { BillingDependencies } from "./dependencies.ts";
import { queryShardsInGroups } from "../query-issuing-shards.ts";
import { getAccount } from "../portal/get-account.ts";
import { lookUpMonths } from "../portal/get-certificate-months.ts";
import { checkPayable } from "./payment-access.ts";

/** Reads the account, its certificates per month, and whether this member can open a payment page. */
export const getBilling = async (services: BillingDependencies, member: MemberSession) => {
  const { id, otherShards } = member.business;
  const now = services.clock();
  const db = services.shards.forId(id);
  const [[account, days, paymentAccess], others] = await Promise.all([
    combineLookups(db, [getAccount(services, member), lookUpMonths(db, member, now), checkPayable(services, member, "business")]),
    queryShardsInGroups(services, otherShards, (shard) => lookUpMonths(shard, member, now)),
  ]);
  return { account, months: buildCertificateMonths([...days, ...others.flat()], now), paymentAccess };
};
