// Tells the audit logs that the change logs contain new entries for their chains. The audit logs then read these entries.
import type { ShardId } from "../../core/ids.ts";
import { listUndrainedLogs } from "../../storage/audit-entries.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

/**
 * Lists the audit logs to notify. Notifying a log makes it set an alarm and read every shard, so logs without unread entries are left out.
 * If the deployment has only one shard, and the run is not limited to a shard, includes that shard's log without checking for unread
 * entries.
 */
const listLogsToDrain = async (platform: Platform): Promise<Iterable<ShardId>> => {
  const auditLogs = platform.shards.all().map(([shard]) => shard);
  if (auditLogs.length <= 1 && platform.jobShard === null) return auditLogs;
  const undrained = new Set<ShardId>();
  await forEachShard(platform, "audit", async (db) => {
    for (const auditLog of await listUndrainedLogs(db, auditLogs)) undrained.add(auditLog);
  });
  return undrained;
};

/**
 * Notifies the audit logs soon after a commit and every minute. If a log cannot be reached, still notifies the others, and the next run
 * tries again.
 */
export const requestAuditDrains = async (platform: Platform): Promise<void> => {
  for (const auditLog of await listLogsToDrain(platform))
    await runIsolated(platform, "audit", () => platform.auditLogStub(auditLog).requestDrain());
};
