// Implements POST /v1/admin/businesses/{business_id}.
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

/**
 * Sets the status or plan of a business. Undefined properties stay unchanged. Setting a status also deletes the record that the business
 * was suspended for nonpayment. Otherwise, the next payment would lift the operator's suspension. If there is no such record, and the
 * business already has this status and plan, does nothing. Closing a business requests the end of its subscription. Can return `not_found`.
 * Throws if the account changed during each of three attempts.
 */
export const updateEntitlement = async (
  services: WriteDependencies,
  id: BusinessId,
  change: { readonly status?: BusinessStatus | undefined; readonly plan?: Plan | undefined },
): Promise<Result<Entitlement, "not_found">> => {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const business = await loadBilledBusiness(services, id);
    if (business === null) return refuse("not_found");
    const db = services.shards.forId(id);
    const [at, customer] = [services.clock(), await findCustomerByAccount(db, id)];
    const after = { status: change.status ?? business.status, plan: change.plan ?? business.plan };
    const isUnchanged = after.status === business.status && after.plan === business.plan;
    const endsUnpaidSuspension = change.status !== undefined && customer !== null && customer.suspendedAt !== null;
    if (isUnchanged && !endsUnpaidSuspension) return ok(toEntitlement(business));
    const domainEvents = createEntitlementEvents({
      account: business,
      after,
      cause: { reason: "operator" },
      actor: { kind: "operator" },
      at,
      isNewCause: endsUnpaidSuspension,
    });
    const update = updateEntitlementAtRevision(db, business, after);
    const unpaidCleared =
      customer === null || change.status === undefined
        ? []
        : [assertUnchanged(db, customer, business), upsertBillingCustomer(db, clearUnpaidState(customer), at)];
    const statements = [...unpaidCleared, ...(after.status === "closed" ? [requestSubscriptionEndForAccount(db, id, at)] : []), update];
    try {
      const results = await commit(db, services, statements, domainEvents, hasEntitlement(business, after));
      if ((results.at(-1) as D1Result).meta.changes === 0) continue; // the account has changed since it was loaded, so try again
    } catch (error) {
      if (isOutdatedBilling(error)) continue;
      throw error;
    }
    return ok({ id, ...after });
  }
  throw new Error("admin: the account kept changing");
};
