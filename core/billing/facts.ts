// What the audit chains tell of billing: which plan and which status, from what to what, and by which event of the provider.
import type { BusinessStatus } from "../access/entitlement.ts";
import type { Actor } from "../actor.ts";
import type { AuditChain, Fact } from "../facts.ts";
import type { Instant } from "../time.ts";
import type { AnyPlan } from "./plans.ts";

export interface EntitlementChange {
  readonly account: { readonly id: string; readonly kind: "business" | "consumer"; readonly chain: AuditChain };
  readonly plan?: { readonly from: AnyPlan; readonly to: AnyPlan };
  readonly status?: { readonly from: BusinessStatus; readonly to: BusinessStatus };
  /** Why: the provider's event, or that nothing was paid in time. */
  readonly because: { readonly event_id: string; readonly event_type: string } | { readonly reason: "unpaid" | "operator" };
  readonly actor: Actor;
  readonly at: Instant;
}

/** One fact for each thing that changed. */
export const entitlementFacts = ({ account, plan, status, because, actor, at }: EntitlementChange): readonly Fact[] => {
  const { id: entityId, kind: entityType, chain } = account;
  const about = { entityType, entityId, at, chains: [chain] as const, actor };
  const fact = (type: Fact["type"], change: { readonly from: string; readonly to: string }): Fact => ({
    ...about,
    type,
    payload: { ...change, ...because },
  });
  return [
    ...(plan === undefined || plan.from === plan.to
      ? []
      : [fact(entityType === "business" ? "business.plan_changed" : "consumer.plan_changed", plan)]),
    ...(status === undefined || status.from === status.to ? [] : [fact("business.status_changed", status)]),
  ];
};
