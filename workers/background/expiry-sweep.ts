// Drops what has had its time, in every home.
import { batch, type Database } from "../../storage/database.ts";
import { deleteExpiredRows } from "../../storage/expired-rows.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";

/**
 * Until nothing is left or its allowance is used up; the next minute goes on. A hundred certificates a second leave 6,000 answers a
 * minute to drop: six batches.
 */
const deleteExpiredInShard = async (platform: Platform, db: Database): Promise<void> => {
  for (let left = deleteExpiredRows(db, platform.clock()); left.length > 0 && (await platform.hasBudget()); ) {
    const deleted = await batch(db, left);
    left = left.filter((_, at) => (deleted[at]?.meta.changes ?? 0) > 0);
  }
};

/** Answers, claims, codes and challenges that nobody can use, counts of past days, sessions, tokens, sign-ups and invitations that have ended. */
export const deleteExpired = (platform: Platform): Promise<void> =>
  forEachShard(platform, "expiry", (db) => deleteExpiredInShard(platform, db));
