// Every 15 minutes, each audit log closes an interval and signs a checkpoint. The job queues the checkpoint's statement for the first
// shard's ledgers and requests attestations. If an interval is missed, the next checkpoint covers it.
import { firstShard, type ShardId } from "../../core/ids.ts";
import { getCheckpointInterval, checkpointIntervalMs } from "../../core/ledger/checkpoint-interval.ts";
import { toIso, type Instant } from "../../core/time.ts";
import { findHighWater, insertCheckpoint, type RequestedAttestor } from "../../storage/checkpoints.ts";
import type { Database } from "../../storage/database.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { listGeneralAttestors, requestAttestation } from "./request-attestation.ts";

type ClosedCheckpoint = NonNullable<Awaited<ReturnType<ReturnType<Platform["auditLogStub"]>["checkpoint"]>>>;

/**
 * Sends the checkpoint to the ledger's own witness before the checkpoint is used in any other way. If the witness refuses permanently, for
 * example because it has seen another history, returns null, and the checkpoint is neither saved nor anchored. If the witness does not
 * respond, the checkpoint is saved without its cosignature, and a later run requests it again.
 */
const requestGuardAttestations = async (
  platform: Platform,
  db: Database,
  closed: ClosedCheckpoint,
): Promise<readonly RequestedAttestor[] | null> => {
  const requested: RequestedAttestor[] = [];
  for (const guard of platform.attestors.filter(({ scope }) => scope === "guard")) {
    const outcome = await requestAttestation(platform, db, guard, closed);
    if (!outcome.ok && outcome.kind === "permanent") {
      platform.log.error({ at: "audit", error: `the ledger refuses the checkpoint: ${outcome.code}` });
      return null;
    }
    requested.push({ kind: guard.kind, name: guard.name, attestation: outcome.ok ? outcome.attestation : null });
  }
  return requested;
};

const checkpointAuditLog = async (platform: Platform, db: Database, auditLog: ShardId, interval: number): Promise<void> => {
  const log = platform.auditLogStub(auditLog);
  const highWater = await findHighWater(db, auditLog);
  // If the log's storage was restored to an earlier state, this call freezes the log, so that it never signs a second history.
  if (highWater !== null && !(await log.checkHighwater(highWater.size, highWater.root))) {
    platform.log.error({ at: "audit", error: "the log is behind its last signature: frozen" });
    return;
  }
  const closed = await log.checkpoint(interval, toIso(interval * checkpointIntervalMs));
  if (closed === null) return;
  const guards = await requestGuardAttestations(platform, db, closed);
  if (guards === null) return;
  const { origin, size, root, note, headsRoot, headsSize, at } = closed;
  await insertCheckpoint(
    db,
    { origin, auditLog, window: interval, at: Date.parse(at), size, root, note, headsRoot, headsSize },
    { ledgerIds: platform.ledgersOf(firstShard).map(({ id }) => id), attestors: [...guards, ...listGeneralAttestors(platform)] },
    platform.clock(),
  );
};

/** Saves one checkpoint per audit log for the interval that contains `now`. Repeated calls in the same interval have no effect. */
export const checkpointAuditLogs = async (platform: Platform, now: Instant): Promise<void> => {
  const db = platform.shards.get(firstShard);
  await forEachShard(platform, "audit", (_, auditLog) => checkpointAuditLog(platform, db, auditLog, getCheckpointInterval(now)));
};
