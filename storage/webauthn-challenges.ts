// Challenges of passkey ceremonies, by their hash. Each is spent by one statement, whatever comes of the ceremony.
import { eq, gt, isNull, sql } from "drizzle-orm";
import { challengeLifetimeMs } from "../core/access/passkey.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { allOf } from "./query.ts";
import { webauthnChallenges } from "./schema.ts";

const { challengeHash, purpose, sessionHash, userHandle, expiresAt, usedAt } = webauthnChallenges;

/** Of one purpose it is worth nothing for the other. It belongs to a session, or to none where nobody is signed in. */
type Challenge = Pick<typeof webauthnChallenges.$inferSelect, "challengeHash" | "purpose" | "sessionHash">;

export const insertChallenge = (db: Database, challenge: Challenge & { readonly userHandle: string | null }, now: Instant) =>
  db.insert(webauthnChallenges).values({ ...challenge, expiresAt: now + challengeLifetimeMs });

/** Of any number at once, one gets it: null for a challenge that is unknown, expired, spent, of another session, or for something else. */
export const consumeChallenge = async (db: Database, challenge: Challenge, now: Instant) => {
  const [spent] = await db
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
  return spent ?? null;
};
