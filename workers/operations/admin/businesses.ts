// What an operator decides about a business by hand: its status and its plan. Each is an entry in the business's own audit chain.
import type { BusinessStatus, Plan } from "../../../core/access/entitlement.ts";
import { entitlementFacts } from "../../../core/billing/facts.ts";
import { settledByOperator } from "../../../core/billing/standing.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import {
  billedAccount,
  customerOfAccount,
  hasEntitlement,
  isOutdatedBilling,
  putCustomer,
  setEntitlementAt,
  standsAsRead,
  type BilledBusiness,
} from "../../../storage/billing.ts";
import { commit } from "../../../storage/commit.ts";
import { requestEndOfAccount } from "../../../storage/outboxes/subscription-ends.ts";
import { stuckWork, type Stuck } from "../../../storage/stuck-work.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

export interface Entitlement {
  readonly id: BusinessId;
  readonly status: BusinessStatus;
  readonly plan: Plan;
}

const businessOf = async (services: Stores, id: BusinessId): Promise<BilledBusiness | null> => {
  const db = services.homes.of(id);
  const account = db === null ? null : await billedAccount(db, id);
  return account?.kind === "business" ? account : null;
};

const entitlementOf = ({ id, status, plan }: BilledBusiness): Entitlement => ({ id, status, plan });

export const readEntitlement = async (services: Stores, id: BusinessId): Promise<Result<Entitlement, "not_found">> => {
  const business = await businessOf(services, id);
  return business === null ? refuse("not_found") : ok(entitlementOf(business));
};

const maxReadings = 3;

/** What is undefined stays. A status that is set also ends what billing did to the account: nothing is due until a payment fails again. */
export const setEntitlement = async (
  services: Runtime & Stores & Schedules,
  id: BusinessId,
  wanted: { readonly status?: BusinessStatus | undefined; readonly plan?: Plan | undefined },
): Promise<Result<Entitlement, "not_found">> => {
  for (let reading = 0; reading < maxReadings; reading += 1) {
    const business = await businessOf(services, id);
    const db = services.homes.of(id);
    if (business === null || db === null) return refuse("not_found");
    const [at, customer] = [services.clock(), await customerOfAccount(db, id)];
    const after = { status: wanted.status ?? business.status, plan: wanted.plan ?? business.plan };
    if (after.status === business.status && after.plan === business.plan) return ok(entitlementOf(business));
    const facts = entitlementFacts({
      account: business,
      plan: { from: business.plan, to: after.plan },
      status: { from: business.status, to: after.status },
      because: { reason: "operator" },
      actor: { kind: "operator" },
      at,
    });
    const change = setEntitlementAt(db, business, after);
    const store = { db, vault: services.vault, ledgerId: services.config.ledger.id };
    const settled =
      customer === null || wanted.status === undefined
        ? []
        : [standsAsRead(db, customer, business), putCustomer(db, settledByOperator(customer), at)];
    const rows = [...settled, ...(after.status === "closed" ? [requestEndOfAccount(db, id, at)] : []), change];
    try {
      const results = await commit(store, rows, facts, hasEntitlement(business, after));
      if ((results.at(-1) as D1Result).meta.changes === 0) continue; // somebody changed the account in between
    } catch (error) {
      if (isOutdatedBilling(error)) continue;
      throw error;
    }
    services.scheduleFollowUp();
    return ok({ id, ...after });
  }
  throw new Error("admin: the account never rests");
};

/** By the code of the home. */
export const listStuck = (services: Runtime & Stores): Promise<readonly (Stuck & { readonly home: string })[]> =>
  Promise.all(
    services.homes.all().map(async ([home, db]) => (await stuckWork(db, services.clock())).map((stuck) => ({ ...stuck, home }))),
  ).then((lists) => lists.flat());
