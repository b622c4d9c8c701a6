// Decides what an account's status allows (SPEC Authentication). Withdrawals, verification and public certificate pages work with every
// status, because people keep these rights even if the business has not paid.
import { ok, refuse, type Result } from "../result.ts";

export type BusinessStatus = "pending" | "active" | "past_due" | "suspended" | "closed";
export type Plan = "free" | "business" | "enterprise";
export const environments = ["live", "sandbox"] as const;
export type Environment = (typeof environments)[number];

export type AccessRefusal = "business_inactive" | "business_suspended" | "subscription_past_due";

/** Denies read access while the account is suspended, pending or closed. */
export const authorizeRead = (status: BusinessStatus): Result<true, AccessRefusal> => {
  if (status === "suspended") return refuse("business_suspended");
  if (status === "pending" || status === "closed") return refuse("business_inactive");
  return ok(true);
};

/** Denies write access while read access is denied or a payment is past due. */
export const authorizeWrite = (status: BusinessStatus): Result<true, AccessRefusal> =>
  status === "past_due" ? refuse("subscription_past_due") : authorizeRead(status);

/** Refuses to issue certificates without write access or, for live clients, without the Enterprise plan. */
export const authorizeCapture = (
  business: { readonly status: BusinessStatus; readonly plan: Plan },
  environment: Environment,
): Result<true, AccessRefusal | "plan_required"> => {
  const write = authorizeWrite(business.status);
  if (!write.ok) return write;
  return environment === "live" && business.plan !== "enterprise" ? refuse("plan_required") : ok(true);
};
