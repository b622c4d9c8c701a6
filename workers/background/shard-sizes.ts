// Measures how full each shard is. A D1 database that reaches 10 GB cannot store more certificates, so the log warns long before that.
import { getShardBytes, maxShardBytes } from "../../storage/health.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

const warningThreshold = 0.8; // at 200 MB per client and day, one client takes ten days to fill the last fifth

/** Logs the size of each shard as a metric, and as an error above 80% of the limit. */
export const measureShards = (platform: Platform): Promise<void> =>
  forEachShard(platform, "shard-sizes", async (db, shard) => {
    const bytes = await getShardBytes(db);
    platform.log.metric({ metric: "shard_bytes", shard, value: bytes });
    if (bytes >= warningThreshold * maxShardBytes) platform.log.error({ at: "shard_filling", error: `shard ${shard} has ${bytes} bytes` });
  });
