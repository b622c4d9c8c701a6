// Drops what has had its time, in every home.
import { batch, type Database } from "../../storage/database.ts";
import { deletionsOfExpired } from "../../storage/expired.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

/**
 * Until nothing is left or its allowance is used up; the next minute goes on. A hundred certificates a second leave 6,000 answers a
 * minute to drop: six batches.
 */
const sweepHome = async (platform: Platform, db: Database): Promise<void> => {
  for (let left = deletionsOfExpired(db, platform.clock()); left.length > 0 && (await platform.goesOn()); ) {
    const deleted = await batch(db, left);
    left = left.filter((_, at) => (deleted[at]?.meta.changes ?? 0) > 0);
  }
};

/** Answers, claims, codes and challenges that nobody can use, counts of past days, sessions, tokens, sign-ups and invitations that have ended. */
export const dropExpired = (platform: Platform): Promise<void> => inEachHome(platform, "expiry", (db) => sweepHome(platform, db));
