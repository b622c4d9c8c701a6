// What an operator decides about a business by hand: its status and its plan. Each is an entry in the business's own audit chain. And
// what an operator sees: work that is stuck, homes that fill up, endpoints that fail.
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
import { batch } from "../../../storage/database.ts";
import { requestEndOfAccount } from "../../../storage/outboxes/subscription-ends.ts";
import { homeBytes, maxHomeBytes } from "../../../storage/health.ts";
import { failingEndpoints, forgetFailingEndpoint, type FailingEndpoint } from "../../../storage/outboxes/failing-endpoints.ts";
import { stuckWork, type Stuck } from "../../../storage/stuck-work.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { logHolding } from "../webhooks/logs.ts";

type Entitlement = Pick<BilledBusiness, "id" | "status" | "plan">;

const businessOf = async (services: Stores, id: BusinessId): Promise<BilledBusiness | null> => {
  const account = await billedAccount(services.homes.of(id), id);
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
    if (business === null) return refuse("not_found");
    const db = services.homes.of(id);
    const [at, customer] = [services.clock(), await customerOfAccount(db, id)];
    const after = { status: wanted.status ?? business.status, plan: wanted.plan ?? business.plan };
    if (after.status === business.status && after.plan === business.plan) return ok(entitlementOf(business));
    const facts = entitlementFacts({ account: business, after, because: { reason: "operator" }, actor: { kind: "operator" }, at });
    const change = setEntitlementAt(db, business, after);
    const settled =
      customer === null || wanted.status === undefined
        ? []
        : [standsAsRead(db, customer, business), putCustomer(db, settledByOperator(customer), at)];
    const rows = [...settled, ...(after.status === "closed" ? [requestEndOfAccount(db, id, at)] : []), change];
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

/** By the code of the home. */
export const listStuck = (services: Runtime & Stores): Promise<readonly (Stuck & { readonly home: string })[]> =>
  Promise.all(
    services.homes.all().map(async ([home, db]) => (await stuckWork(db, services.clock())).map((stuck) => ({ ...stuck, home }))),
  ).then((lists) => lists.flat());

/** How full each database is: one that is full takes no certificate any more. */
export const listHomeSizes = (services: Stores) =>
  Promise.all(services.homes.all().map(async ([home, db]) => ({ home, bytes: await homeBytes(db), maxBytes: maxHomeBytes })));

const maxFailing = 50; // of a home: each is asked how it does

/** With its failures in a row, and the deliveries that wait; null where nobody could say. Null as a whole once it answers again or is gone. */
const failingNow = async (services: Events, noted: FailingEndpoint) => {
  const unknown = { ...noted, failures: null, backlog: null };
  try {
    const held = await logHolding(services, noted.businessId, noted.webhookId);
    const state = held === null ? null : await held.log.endpoint(noted.webhookId);
    if (state === null) return null;
    if (state.health === null) return unknown;
    const { failingSince, consecutiveFailures: failures, backlog } = state.health;
    return failingSince === null ? null : { ...noted, since: failingSince, failures, backlog };
  } catch {
    return unknown; // one business's log that is away hides no other endpoint
  }
};

/** Endpoints whose owners were told that they fail, and that fail still; the others are forgotten here. By the code of the home. */
export const listFailingEndpoints = (services: Stores & Events) =>
  Promise.all(
    services.homes.all().map(async ([home, db]) => {
      const noted = await failingEndpoints(db, maxFailing);
      const now = await Promise.all(noted.map((one) => failingNow(services, one)));
      const over = noted.filter((_, at) => now[at] === null);
      await batch(
        db,
        over.map(({ webhookId }) => forgetFailingEndpoint(db, webhookId)),
      );
      return now.flatMap((one) => (one === null ? [] : [{ ...one, home }]));
    }),
  ).then((lists) => lists.flat());
