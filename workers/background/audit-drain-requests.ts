// Tells the audit log that outboxes hold something for its chains: it reads them itself.
import { listUndrainedLogs } from "../../storage/outboxes/audit.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";

/** Of many shards most have nothing to read: each that is told sets an alarm and reads every home. */
const listLogsToDrain = async (platform: Platform): Promise<Iterable<number>> => {
  const shards = [...platform.config.auditKeys.keys()];
  if (shards.length === 1) return shards;
  const waiting = new Set<number>();
  await forEachShard(platform, "audit", async (db) => {
    for (const shard of await listUndrainedLogs(db, shards)) waiting.add(shard);
  });
  return waiting;
};

/** Soon after a commit, and each minute. A shard that cannot be told keeps no other waiting: its rows stay for the next minute. */
export const requestAuditDrains = async (platform: Platform): Promise<void> => {
  for (const shard of await listLogsToDrain(platform))
    await runIsolated(platform, "audit", () => platform.auditLogStub(shard).requestDrain());
};
