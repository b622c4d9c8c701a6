// Guards for business portal routes.
import { authorizeRead, authorizeWrite } from "../../../core/access/entitlement.ts";
import type { MemberEnv } from "../context.ts";
import { failure, refusal } from "../envelope.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";
import { safeMethods } from "./same-origin.ts";
import { signedInGuard } from "./session.ts";

const requireBusinessMember = defineGuard<MemberEnv>(
  {
    refuses: ["business_suspended", "business_inactive"],
    when: { forbidden: "The session belongs to a consumer, not to a member of a business." },
  },
  async (c, next) => {
    const { session } = c.var;
    if (session.realm !== "business") return failure(c, "forbidden");
    const readable = authorizeRead(session.business.status);
    if (!readable.ok) return refusal(c, readable);
    c.set("member", session);
    return next();
  },
);

const requireWritableBusiness = defineGuard<MemberEnv>({ refusesOnChange: ["subscription_past_due"] }, async (c, next) => {
  const writable = authorizeWrite(c.var.member.business.status);
  return safeMethods.has(c.req.method) || writable.ok ? next() : refusal(c, writable);
});

/**
 * Like `signedInGuard`, but also responds with 403 if a consumer is signed in, and with 402 if the business's status does not allow the
 * request. While a payment is past due, members can read but not write.
 */
export const portalGuard = (...more: readonly Guard[]) =>
  combineGuards<MemberEnv>(signedInGuard, requireBusinessMember, requireWritableBusiness, ...more);

/** For a POST route that returns data and only records the access in the audit log. Members can use it while a payment is past due. */
export const portalReadGuard = (...more: readonly Guard[]) => combineGuards<MemberEnv>(signedInGuard, requireBusinessMember, ...more);

/** Must run after `portalGuard`. Responds with 403 unless the member is an owner. */
export const requireOwner = defineGuard<MemberEnv>({ refuses: ["owner_required"] }, async (c, next) => {
  return c.var.member.role === "owner" ? next() : failure(c, "owner_required");
});
