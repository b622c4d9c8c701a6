import { getShardBytes, maxShardBytes } from "../../../storage/health.ts";
import type { Stores } from "../dependencies.ts";

/** How full each database is: one that is full takes no certificate any more. */
export const listShardSizes = (services: Stores) =>
  Promise.all(services.shards.all().map(async ([home, db]) => ({ home, bytes: await getShardBytes(db), maxBytes: maxShardBytes })));
