import type { BusinessStatus, Plan } from "../../../core/access/entitlement.ts";
import { clearUnpaidState } from "../../../core/billing/billing-status.ts";
import { createEntitlementEvents } from "../../../core/billing/domain-events.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import {
  findCustomerByAccount,
  updateEntitlementAtRevision,
  assertUnchanged,
  upsertBillingCustomer,
  hasEntitlement,
  isOutdatedBilling,
} from "../../../storage/billing.ts";
import { commit } from "../../../storage/commit.ts";
import { requestSubscriptionEndForAccount } from "../../../storage/outboxes/subscription-ends.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { loadBilledBusiness, toEntitlement, type Entitlement } from "./get-entitlement.ts";

const maxAttempts = 3;

/** What is undefined stays. A status that is set also ends what billing did to the account: nothing is due until a payment fails again. */
export const updateEntitlement = async (
  services: WriteDependencies,
  id: BusinessId,
  wanted: { readonly status?: BusinessStatus | undefined; readonly plan?: Plan | undefined },
): Promise<Result<Entitlement, "not_found">> => {
  for (let reading = 0; reading < maxAttempts; reading += 1) {
    const business = await loadBilledBusiness(services, id);
    if (business === null) return refuse("not_found");
    const db = services.shards.forId(id);
    const [at, customer] = [services.clock(), await findCustomerByAccount(db, id)];
    const after = { status: wanted.status ?? business.status, plan: wanted.plan ?? business.plan };
    if (after.status === business.status && after.plan === business.plan) return ok(toEntitlement(business));
    const facts = createEntitlementEvents({ account: business, after, cause: { reason: "operator" }, actor: { kind: "operator" }, at });
    const change = updateEntitlementAtRevision(db, business, after);
    const settled =
      customer === null || wanted.status === undefined
        ? []
        : [assertUnchanged(db, customer, business), upsertBillingCustomer(db, clearUnpaidState(customer), at)];
    const rows = [...settled, ...(after.status === "closed" ? [requestSubscriptionEndForAccount(db, id, at)] : []), change];
    try {
      const results = await commit(db, services, rows, facts, hasEntitlement(business, after));
      if ((results.at(-1) as D1Result).meta.changes === 0) continue; // somebody changed the account in between
    } catch (error) {
      if (isOutdatedBilling(error)) continue;
      throw error;
    }
    return ok({ id, ...after });
  }
  throw new Error("admin: the account never rests");
};
