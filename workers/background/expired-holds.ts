// Updates outdated copies of accounts in shards. A copy stays outdated if the process that changed the account died before it updated the
// copy. The account's next submission would also update it, but until then, certificate pages would show outdated data.
import { listExpiredHolds, renewIssuer } from "../../storage/issuing-shards.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

// Each update takes three database calls. Few are needed, because a hold expires only if the process that changed the account died.
const maxPerRun = 50;

/** Updates the copies of up to 50 accounts in each shard. */
export const endExpiredHolds = (platform: Platform): Promise<void> =>
  forEachShard(platform, "expired-holds", async (db, shard) => {
    for (const businessId of await listExpiredHolds(db, maxPerRun))
      await runIsolated(platform, "expired hold", async () => renewIssuer(platform.shards, businessId, shard));
  });
