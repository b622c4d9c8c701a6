// Adds new certificates to the counters that lists and charts read. Runs soon after commits and every minute.
import { countNewCertificates } from "../../storage/certificate-counters.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

export const countCertificates = (platform: Platform): Promise<void> =>
  forEachShard(platform, "count-certificates", async (db) => {
    let hasMore = true;
    while (hasMore && (await platform.hasBudget())) hasMore = await countNewCertificates(db, platform.clock());
  });
