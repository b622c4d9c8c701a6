// Guard for sensitive actions that require a recent sign-in in addition to a session.
import { isRecentlyVerified } from "../../../core/access/session.ts";
import type { SessionEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { defineGuard } from "./define-guard.ts";

/** Must run after a session guard. Responds with 403 unless the person verified a code or passkey in the last `minutes` minutes. */
export const requireRecentProof = (minutes: number) => {
  const notRecent = `The session belongs to a member of a business, or the person last verified a code or passkey more than ${minutes} minutes ago.`;
  return defineGuard<SessionEnv>({ when: { forbidden: notRecent } }, async (c, next) => {
    if (!isRecentlyVerified(c.var.session, c.var.services.clock(), minutes))
      return failure(c, "forbidden", `This action requires a sign-in within the last ${minutes} minutes. Sign in again first.`);
    return next();
  });
};
