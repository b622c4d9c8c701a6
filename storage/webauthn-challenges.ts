// Challenges for passkey registration and sign-in, stored as hashes. A challenge can be used only once, even if the registration or sign-in
// fails.
import { eq, gt, isNull, sql } from "drizzle-orm";
import { challengeLifetimeMs } from "../core/access/passkey.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { allOf } from "./query.ts";
import { webauthnChallenges } from "./schema.ts";

const { challengeHash, purpose, sessionHash, userHandle, expiresAt, usedAt } = webauthnChallenges;

/** A challenge is valid for one purpose and one session. `sessionHash` is null if no one is signed in. */
type Challenge = Pick<typeof webauthnChallenges.$inferSelect, "challengeHash" | "purpose" | "sessionHash">;

export const insertChallenge = (db: Database, challenge: Challenge & { readonly userHandle: string | null }, now: Instant) =>
  db.insert(webauthnChallenges).values({ ...challenge, expiresAt: now + challengeLifetimeMs });

/**
 * Marks a challenge as used and returns its user handle. Returns null if the challenge is unknown, expired or already used, or belongs to
 * another session or purpose. Only one of several concurrent calls succeeds.
 */
export const consumeChallenge = async (db: Database, challenge: Challenge, now: Instant) => {
  const [used] = await db
    .update(webauthnChallenges)
    .set({ usedAt: now })
    .where(
      allOf(
        eq(challengeHash, challenge.challengeHash),
        eq(purpose, challenge.purpose),
        sql`${sessionHash} is ${challenge.sessionHash}`,
        isNull(usedAt),
        gt(expiresAt, now),
      ),
    )
    .returning({ userHandle });
  return used ?? null;
};
