import { isRecentlyVerified } from "../../../core/access/session.ts";
import type { SessionEnv } from "../context.ts";
import { failure } from "../envelope.ts";
import { defineGuard } from "./define-guard.ts";

/** Behind a session: what a session alone is not enough for. 403 unless the person proved who they are in these last minutes. */
export const requireRecentProof = (minutes: number) => {
  const stale = `A member of a business is signed in, not a consumer; or the person's last proof, by code or passkey, is older than ${minutes} minutes.`;
  return defineGuard<SessionEnv>({ when: { forbidden: stale } }, async (c, next) => {
    if (!isRecentlyVerified(c.var.session, c.var.services.clock(), minutes))
      return failure(c, "forbidden", `This needs a proof of the last ${minutes} minutes that it is you: sign in again first.`);
    return next();
  });
};
