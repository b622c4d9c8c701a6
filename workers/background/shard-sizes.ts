// Measures how full each shard is, because new accounts are created in the emptiest shard. A database at its size limit cannot store more
// certificates, so the job logs an error long before that.
import { getShardBytes } from "../../storage/health.ts";
import { saveShardBytes } from "../../storage/shard-registry.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

const warningThreshold = 0.8; // early enough: one client can store 200 MB a day, so it needs ten days to fill the last fifth

/** Stores and logs the size of each shard. Above 80% of the limit, also logs an error. */
export const measureShards = (platform: Platform): Promise<void> =>
  forEachShard(platform, "shard-sizes", async (db, shard) => {
    const bytes = await getShardBytes(db);
    platform.log.metric({ metric: "shard_bytes", shard, value: bytes });
    if (bytes >= warningThreshold * platform.config.maxShardBytes)
      platform.log.error({ at: "shard_filling", error: `shard ${shard} has ${bytes} bytes` });
    await saveShardBytes(platform.shards, shard, bytes, platform.clock()).run();
  });
