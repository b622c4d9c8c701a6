// What the state of an account allows (SPEC, Authentication 2 and 3; CONTRACT 1). Withdrawal, verification and reading a
// certificate's public page never come here: those are the person's, whatever the business has paid.
import { ok, refuse, type Result } from "../result.ts";

export type BusinessStatus = "pending" | "active" | "past_due" | "suspended" | "closed";
export type Plan = "free" | "business" | "enterprise";
export type Environment = "live" | "sandbox";

export type AccessRefusal = "business_inactive" | "business_suspended" | "subscription_past_due";

/** Reading with a credential: every state but suspended, pending and closed. */
export const authorizeRead = (status: BusinessStatus): Result<true, AccessRefusal> => {
  if (status === "suspended") return refuse("business_suspended");
  if (status === "pending" || status === "closed") return refuse("business_inactive");
  return ok(true);
};

/** Writing: also not while a payment is past due. */
export const authorizeWrite = (status: BusinessStatus): Result<true, AccessRefusal> =>
  status === "past_due" ? refuse("subscription_past_due") : authorizeRead(status);

/** Issuing certificates: writing, on the Enterprise plan; a sandbox client needs no plan. */
export const authorizeCapture = (
  business: { readonly status: BusinessStatus; readonly plan: Plan },
  environment: Environment,
): Result<true, AccessRefusal | "plan_required"> => {
  const write = authorizeWrite(business.status);
  if (!write.ok) return write;
  return environment === "live" && business.plan !== "enterprise" ? refuse("plan_required") : ok(true);
};
