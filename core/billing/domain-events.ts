// What the audit chains tell of billing: which plan and which status, from what to what, and by which event of the provider.
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
    /** A consumer has none. */
    readonly status?: BusinessStatus;
  };
  /** What is left out stays. */
  readonly after: { readonly plan?: AnyPlan; readonly status?: BusinessStatus };
  /** Why: the provider's event, or that nothing was paid in time. */
  readonly cause: { readonly event_id: string; readonly event_type: string } | { readonly reason: "unpaid" | "operator" };
  readonly actor: Actor;
  readonly at: Instant;
}

/** One fact for each thing that changed. */
export const createEntitlementEvents = ({ account, after, cause, actor, at }: EntitlementChange): readonly DomainEvent[] => {
  const { id: entityId, kind: entityType, chain } = account;
  const changed = (type: DomainEvent["type"], from?: string, to?: string): readonly DomainEvent[] =>
    from === undefined || to === undefined || from === to
      ? []
      : [{ type, entityType, entityId, at, chains: [chain], actor, payload: { from, to, ...cause } }];
  return [
    ...changed(`${entityType}.plan_changed`, account.plan, after.plan),
    ...changed("business.status_changed", account.status, after.status),
  ];
};
