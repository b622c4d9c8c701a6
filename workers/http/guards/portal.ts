import { authorizeRead, authorizeWrite } from "../../../core/access/entitlement.ts";
import type { MemberEnv } from "../context.ts";
import { failure, refusal } from "../envelope.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";
import { safeMethods } from "./same-origin.ts";
import { signedInGuard } from "./session.ts";

const requireBusinessMember = defineGuard<MemberEnv>(
  {
    refuses: ["business_suspended", "business_inactive"],
    when: { forbidden: "A consumer is signed in, not a member of a business." },
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
 * A member or owner of a business whose account allows it: reading while a payment is past due, writing only when none is.
 * Consumers are signed in, but not to a portal.
 */
export const portalGuard = (...more: readonly Guard[]) =>
  combineGuards<MemberEnv>(signedInGuard, requireBusinessMember, requireWritableBusiness, ...more);

/** Likewise of a POST that only reads: it is no GET because what it shows is entered in the audit chain. */
export const portalReadGuard = (...more: readonly Guard[]) => combineGuards<MemberEnv>(signedInGuard, requireBusinessMember, ...more);

/** Behind the portal: what only an owner may do. */
export const requireOwner = defineGuard<MemberEnv>({ refuses: ["owner_required"] }, async (c, next) => {
  return c.var.member.role === "owner" ? next() : failure(c, "owner_required");
});
