// The domain events of billing. Each records the plan or status that changed, the old and new values, and the cause.
import type { BusinessStatus } from "../access/entitlement.ts";
import type { Actor } from "../actor.ts";
import type { AuditChain, DomainEvent } from "../domain-events.ts";
import type { Instant } from "../time.ts";
import type { AnyPlan } from "./plans.ts";

export interface EntitlementChange {
  readonly account: {
    readonly id: string;
    readonly kind: "business" | "consumer";
    readonly chain: AuditChain;
    readonly plan: AnyPlan;
    /** Set only for a business, because consumers have no status. */
    readonly status?: BusinessStatus;
  };
  /** The new plan or status. Omitted properties stay unchanged. */
  readonly after: { readonly plan?: AnyPlan; readonly status?: BusinessStatus };
  /** The cause of the change: an event from the provider, a missing payment, or an operator. */
  readonly cause: { readonly event_id: string; readonly event_type: string } | { readonly reason: "unpaid" | "operator" };
  readonly actor: Actor;
  readonly at: Instant;
  /** True if the status has a new cause. An event is then created even if the status stays the same. */
  readonly isNewCause?: boolean;
}

/** Returns one domain event for each change. */
export const createEntitlementEvents = ({ account, after, cause, actor, at, isNewCause }: EntitlementChange): readonly DomainEvent[] => {
  const { id: entityId, kind: entityType, chain } = account;
  const createChangeEvent = (type: DomainEvent["type"], from?: string, to?: string, isAlways = false): readonly DomainEvent[] =>
    from === undefined || to === undefined || (from === to && !isAlways)
      ? []
      : [{ type, entityType, entityId, at, chains: [chain], actor, payload: { from, to, ...cause } }];
  return [
    ...createChangeEvent(`${entityType}.plan_changed`, account.plan, after.plan),
    ...createChangeEvent("business.status_changed", account.status, after.status, isNewCause),
  ];
};
