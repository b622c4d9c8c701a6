// Every minute, deletes the changes that all readers of the change log have processed.
import { getLedgerReader } from "../../storage/anchors.ts";
import { getAuditReader, hasUnrecordedEntry } from "../../storage/audit-entries.ts";
import { deletePassedChanges } from "../../storage/changes.ts";
import { isUnplacedEvent } from "../../storage/public-events.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

const changesPerStatement = 5_000; // one such statement takes half a second

export const deletePassed = (platform: Platform): Promise<void> => {
  const auditReaders = platform.shards.all().map(([shard]) => getAuditReader(shard));
  const { ledgersOf } = platform;
  return forEachShard(platform, "changes", async (db, shard) => {
    const readers = [...auditReaders, ...ledgersOf(shard).map(({ id }) => getLedgerReader(id))];
    while (await platform.hasBudget()) {
      const { meta } = await deletePassedChanges(db, readers, [isUnplacedEvent, hasUnrecordedEntry], changesPerStatement).run();
      if (meta.changes < changesPerStatement) return;
    }
  });
};
