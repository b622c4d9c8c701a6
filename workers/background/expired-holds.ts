// Updates outdated copies of accounts in shards. A copy stays outdated if the process that changed the account died before it updated the
// copy. The account's next submission would also update it, but until then, certificate pages would show outdated data.
import { listExpiredHolds, renewIssuer } from "../../storage/issuing-shards.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { maxDueRows, processDue } from "./process-due.ts";

/** Updates the copies of accounts in each shard, within the work budget. */
export const endExpiredHolds = (platform: Platform): Promise<void> =>
  forEachShard(platform, "expired-holds", async (db, shard) => {
    const due = await listExpiredHolds(db, maxDueRows);
    await processDue(platform, "expired hold", due, (businessId) => renewIssuer(platform.shards, businessId, shard));
  });
