// The plans for each kind of account, and which of them can be bought.
import type { Plan } from "../access/entitlement.ts";
import type { Realm } from "../access/session.ts";

export type ConsumerPlan = "free" | "white_glove";
export type AnyPlan = Plan | ConsumerPlan;

/**
 * The plans that can be bought through a checkout, each with the realm that can buy it. Enterprise is sold only through an individual
 * agreement.
 */
export const realmByPurchasablePlan = { business: "business", white_glove: "consumer" } as const satisfies Readonly<Record<string, Realm>>;
export type PurchasablePlan = keyof typeof realmByPurchasablePlan;
export const purchasablePlans = Object.keys(realmByPurchasablePlan) as readonly PurchasablePlan[];

const plansByRealm: Readonly<Record<Realm, readonly AnyPlan[]>> = {
  business: ["free", "business", "enterprise"],
  consumer: ["free", "white_glove"],
};

export const realmOfAccountId = (accountId: string): Realm => (accountId.startsWith("con_") ? "consumer" : "business");

/** Returns the plan with this name, or null if accounts of this realm have no such plan. */
export const parsePlan = (text: unknown, realm: Realm): AnyPlan | null => plansByRealm[realm].find((plan) => plan === text) ?? null;
