import type { Plan } from "../../../core/access/entitlement.ts";
import { createEntitlementEvents, type EntitlementChange } from "../../../core/billing/domain-events.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import type { DomainEvent } from "../../../core/domain-events.ts";
import type { Instant } from "../../../core/time.ts";
import { updateConsumerPlan, updateBusinessEntitlement, type BilledAccount } from "../../../storage/billing.ts";
import type { Statement, Database } from "../../../storage/database.ts";

interface AccountChange {
  readonly rows: readonly Statement[];
  readonly facts: readonly DomainEvent[];
}

/** What becomes of an account by itself, as rows and facts; none where it is that already. */
export const prepareEntitlementChange = (
  db: Database,
  account: BilledAccount,
  after: EntitlementChange["after"],
  because: EntitlementChange["cause"],
  at: Instant,
): AccountChange => {
  const facts = createEntitlementEvents({ account, after, cause: because, actor: { kind: "system" }, at });
  if (facts.length === 0) return { rows: [], facts };
  const { plan = account.plan } = after;
  if (account.kind === "consumer") return { rows: [updateConsumerPlan(db, account.id, plan as ConsumerPlan)], facts };
  const { status = account.status } = after;
  return { rows: [updateBusinessEntitlement(db, account.id, { status, plan: plan as Plan })], facts };
};
