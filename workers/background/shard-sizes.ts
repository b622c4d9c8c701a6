// How full each home is: a database ends at 10 GB and then takes no certificate any more, so the log says it long before.
import { getShardBytes, maxShardBytes } from "../../storage/health.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";

const warningThreshold = 0.8; // at 200 MB a client and day the last fifth is ten full days of one client

export const measureShards = (platform: Platform): Promise<void> =>
  forEachShard(platform, "home-sizes", async (db, home) => {
    const bytes = await getShardBytes(db);
    platform.log.metric({ metric: "home_bytes", shard: home, value: bytes });
    if (bytes >= warningThreshold * maxShardBytes) platform.log.error({ at: "home_filling", error: `home ${home} holds ${bytes} bytes` });
  });
