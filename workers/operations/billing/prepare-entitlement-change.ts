// Prepares automatic changes of an account's status or plan.
import type { Plan } from "../../../core/access/entitlement.ts";
import { createEntitlementEvents, type EntitlementChange } from "../../../core/billing/domain-events.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import type { DomainEvent } from "../../../core/domain-events.ts";
import type { Instant } from "../../../core/time.ts";
import { updateConsumerPlan, updateBusinessEntitlement, type BilledAccount } from "../../../storage/billing.ts";
import type { Statement, Database } from "../../../storage/database.ts";

interface AccountChange {
  readonly statements: readonly Statement[];
  readonly domainEvents: readonly DomainEvent[];
}

/**
 * Returns the statements and domain events that give an account a billing status and plan. Both are empty if the account already has them.
 */
export const prepareEntitlementChange = (
  db: Database,
  account: BilledAccount,
  after: EntitlementChange["after"],
  cause: EntitlementChange["cause"],
  at: Instant,
): AccountChange => {
  const domainEvents = createEntitlementEvents({ account, after, cause, actor: { kind: "system" }, at });
  if (domainEvents.length === 0) return { statements: [], domainEvents };
  const { plan = account.plan } = after;
  if (account.kind === "consumer") return { statements: [updateConsumerPlan(db, account.id, plan as ConsumerPlan)], domainEvents };
  const { status = account.status } = after;
  return { statements: [updateBusinessEntitlement(db, account.id, { status, plan: plan as Plan })], domainEvents };
};
