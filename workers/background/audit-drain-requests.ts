// Tells the audit logs that outboxes have rows for their chains; the logs read the rows themselves.
import { listUndrainedLogs } from "../../storage/outboxes/audit.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

/** Of several audit logs, only those with rows: each log that is told sets an alarm and reads every shard. */
const listLogsToDrain = async (platform: Platform): Promise<Iterable<number>> => {
  const auditLogs = [...platform.config.auditKeys.keys()];
  if (auditLogs.length === 1) return auditLogs;
  const undrained = new Set<number>();
  await forEachShard(platform, "audit", async (db) => {
    for (const auditLog of await listUndrainedLogs(db, auditLogs)) undrained.add(auditLog);
  });
  return undrained;
};

/** Runs soon after a commit, and each minute. A log that cannot be reached delays no other; its rows stay for the next minute. */
export const requestAuditDrains = async (platform: Platform): Promise<void> => {
  for (const auditLog of await listLogsToDrain(platform))
    await runIsolated(platform, "audit", () => platform.auditLogStub(auditLog).requestDrain());
};
