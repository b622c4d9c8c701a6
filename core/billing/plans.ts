// What can be paid for, and which plans an account of each kind can have (CONTRACT 10 and 11).
import type { Plan } from "../access/entitlement.ts";
import type { Realm } from "../access/session.ts";

export type ConsumerPlan = "free" | "white_glove";
export type AnyPlan = Plan | ConsumerPlan;

/** What a checkout is opened for, and whose session may. Enterprise is agreed on with people, not bought by a click. */
export const realmByPurchasablePlan = { business: "business", white_glove: "consumer" } as const satisfies Readonly<Record<string, Realm>>;
export type PurchasablePlan = keyof typeof realmByPurchasablePlan;
export const purchasablePlans = Object.keys(realmByPurchasablePlan) as readonly PurchasablePlan[];

const plansByRealm: Readonly<Record<Realm, readonly AnyPlan[]>> = {
  business: ["free", "business", "enterprise"],
  consumer: ["free", "white_glove"],
};

/** Which kind of account an id is of. */
export const realmOfAccountId = (accountId: string): Realm => (accountId.startsWith("con_") ? "consumer" : "business");

/** The plan that a text names for an account of this kind; null where it names none. */
export const parsePlan = (text: unknown, realm: Realm): AnyPlan | null => plansByRealm[realm].find((plan) => plan === text) ?? null;
