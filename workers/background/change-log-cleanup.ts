// Every minute, deletes the changes that all readers of the change log have processed.
import { isForEarlierLedger } from "../../storage/anchors.ts";
import { hasUnrecordedEntry, slowestAuditOffset } from "../../storage/audit-entries.ts";
import { deletePassedChanges } from "../../storage/changes.ts";
import { slowestLedgerOffset } from "../../storage/ledger-state.ts";
import { isUnplacedEvent } from "../../storage/public-events.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

const changesPerStatement = 5_000; // deleting this many takes half a second

export const deletePassed = (platform: Platform): Promise<void> => {
  const auditOffset = slowestAuditOffset(platform.shards.all().map(([shard]) => shard));
  const { ledgersOf } = platform;
  return forEachShard(platform, "changes", async (db, shard) => {
    const ledgerIds = ledgersOf(shard).map(({ id }) => id);
    const offsets = [auditOffset, slowestLedgerOffset(ledgerIds)] as const;
    const isForMove = ledgerIds.length === 0 ? [] : [isForEarlierLedger(ledgerIds)]; // with no ledger, there are no statements to move
    while (await platform.hasBudget()) {
      const { meta } = await deletePassedChanges(
        db,
        offsets,
        [isUnplacedEvent, hasUnrecordedEntry, ...isForMove],
        changesPerStatement,
      ).run();
      if (meta.changes < changesPerStatement) return;
    }
  });
};
