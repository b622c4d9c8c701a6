// Measures how full each shard is, because new accounts are created in the emptiest shard. A database at its size limit cannot store more
// certificates, so the job logs an error long before that.
import { getShardBytes } from "../../storage/health.ts";
import { saveShardBytes } from "../../storage/shard-registry.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

// The last fifth of a database is 2 GB. By default, one client's submissions without an API key take at least ten days to fill it (200 MB a
// day), and one business's submissions with API keys take at least one day.
const warningThreshold = 0.8;

/** Stores and logs the size of each shard. Above 80% of the limit, also logs an error. */
export const measureShards = (platform: Platform): Promise<void> =>
  forEachShard(platform, "shard-sizes", async (db, shard) => {
    const bytes = await getShardBytes(db);
    platform.log.metric({ metric: "shard_bytes", shard, value: bytes });
    if (bytes >= warningThreshold * platform.config.maxShardBytes)
      platform.log.error({ at: "shard_filling", error: `shard ${shard} has ${bytes} bytes` });
    await saveShardBytes(platform.shards, shard, bytes, platform.clock()).run();
  });
