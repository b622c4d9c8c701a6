// Every 15 minutes, makes parked anchors pending again if they are due. Also moves pending anchors from earlier ledgers to the current
// ledger.
import { batch } from "../../storage/database.ts";
import { movePendingAnchors, unparkAnchors } from "../../storage/anchors.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

export const retryParkedAnchors = async (platform: Platform): Promise<void> => {
  const now = platform.clock();
  await forEachShard(platform, "ledger", (db, shard) => {
    const [primary, ...mirrors] = platform.ledgersOf(shard);
    const ledgerIds = [primary, ...mirrors].flatMap((ledger) => ledger?.id ?? []);
    return batch(db, [unparkAnchors(db, now), ...(primary === undefined ? [] : movePendingAnchors(db, primary.id, ledgerIds, now))]);
  });
};
