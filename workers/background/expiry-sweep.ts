// Deletes expired rows in every shard, such as idempotent responses, claims, codes, challenges, counters for past days, sessions, tokens,
// sign-ups and invitations.
import { batch, type Database } from "../../storage/database.ts";
import { deleteExpiredRows } from "../../storage/expired-rows.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

/**
 * Deletes rows until all expired rows are gone or the budget is used up. A batch deletes at most 1,000 rows per table, so six batches a
 * minute are enough if 100 rows of a table expire per second.
 */
const deleteExpiredInShard = async (platform: Platform, db: Database): Promise<void> => {
  for (let deletions = deleteExpiredRows(db, platform.clock()); deletions.length > 0 && (await platform.hasBudget()); ) {
    const results = await batch(db, deletions);
    deletions = deletions.filter((_, at) => (results[at]?.meta.changes ?? 0) > 0);
  }
};

export const deleteExpired = (platform: Platform): Promise<void> =>
  forEachShard(platform, "expiry", (db) => deleteExpiredInShard(platform, db));
