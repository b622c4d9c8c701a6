// Every quarter of an hour the audit log closes an interval, signs over it, and the statement of that goes to every ledger
// (SPEC, What the service does 5); of the ledger's own checkpoint a statement goes to the mirrors. Both are shown to those who
// attest. An interval that was missed is simply absent; the next one covers it.
import { fromBase64, toHex } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { firstShard } from "../../core/ids.ts";
import { stripCosignatures } from "../../core/ledger/checkpoint.ts";
import { toIso, secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { findHighWater, insertCheckpoint, findNewestCheckpoint, type RequestedAttestor } from "../../storage/checkpoints.ts";
import { getLedgerState, recordLedgerFork, recordSeenTree } from "../../storage/ledger-state.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../services.ts";
import { requestAttestation } from "./attestation.ts";
import { getCheckpointInterval, checkpointIntervalMs } from "../../core/ledger/checkpoint-interval.ts";

type ClosedCheckpoint = NonNullable<Awaited<ReturnType<ReturnType<Platform["auditLogStub"]>["checkpoint"]>>>;

/**
 * Shows a checkpoint of the audit log to the ledger's own witness before anything is made of it. Null when the witness has seen
 * another history: such a checkpoint is neither kept nor anchored. A witness that does not answer is asked again later.
 */
const requestGuardAttestations = async (
  platform: Platform,
  db: Database,
  closed: ClosedCheckpoint,
): Promise<readonly RequestedAttestor[] | null> => {
  const asked: RequestedAttestor[] = [];
  for (const guard of platform.attestors.filter(({ scope }) => scope === "guard")) {
    const outcome = await requestAttestation(platform, db, guard, closed);
    if (!outcome.ok && outcome.kind === "permanent") {
      platform.log.error({ at: "audit", error: `the ledger refuses the checkpoint: ${outcome.code}` });
      return null;
    }
    asked.push({ kind: guard.kind, name: guard.name, attestation: outcome.ok ? outcome.attestation : null });
  }
  return asked;
};

const listGeneralAttestors = (platform: Platform): RequestedAttestor[] =>
  platform.attestors.filter(({ scope }) => scope === "every log").map(({ kind, name }) => ({ kind, name, attestation: null }));

const checkpointAuditLog = async (platform: Platform, db: Database, shard: number, interval: number): Promise<void> => {
  const log = platform.auditLogStub(shard);
  const known = await findHighWater(db, shard);
  // A log whose storage was set back must not sign a second history: it freezes itself and says so.
  if (known !== null && !(await log.checkHighwater(known.size, known.root))) {
    platform.log.error({ at: "audit", error: "the log is behind what it signed: frozen" });
    return;
  }
  const closed = await log.checkpoint(interval, toIso(interval * checkpointIntervalMs));
  if (closed === null) return;
  const guards = await requestGuardAttestations(platform, db, closed);
  if (guards === null) return;
  const { origin, size, root, note, headsRoot, headsSize, at } = closed;
  await insertCheckpoint(
    db,
    { origin, auditLog: shard, window: interval, at: Date.parse(at), size, root, note, headsRoot, headsSize },
    { ledgerIds: platform.ledgers.map(({ id }) => id), attestors: [...guards, ...listGeneralAttestors(platform)] },
    platform.clock(),
  );
};

/**
 * One checkpoint a shard for the interval that `now` lies in; a second call in the same interval changes nothing. The next one covers
 * what it missed.
 */
export const checkpointAuditLogs = async (platform: Platform, now: Instant): Promise<void> => {
  const db = platform.shards.get(firstShard);
  for (const shard of platform.config.auditKeys.keys())
    await runIsolated(platform, "audit", () => checkpointAuditLog(platform, db, shard, getCheckpointInterval(now)));
};

const emptyHeadsRoot = sha256Hex(""); // the root over no heads: a ledger has no chains

/**
 * The ledger's checkpoint of the interval, for those who attest and for the mirrors; nothing to do where there are none, nor while
 * the ledger has not grown.
 */
export const checkpointLedger = async (platform: Platform, now: Instant): Promise<void> => {
  const [ledger, ...mirrors] = platform.ledgers;
  const attestors = listGeneralAttestors(platform);
  if (ledger === undefined || mirrors.length + attestors.length === 0) return;
  const db = platform.shards.get(firstShard);
  const { origin } = platform.config.ledger;
  const interval = getCheckpointInterval(now);
  await runIsolated(platform, "ledger", async () => {
    const state = await getLedgerState(db, ledger.id);
    const kept = await findNewestCheckpoint(db, origin);
    if (state.forked || (kept !== null && kept.window >= interval)) return;
    const read = await ledger.getHead(state.seen, AbortSignal.timeout(30 * secondMs));
    if (!read.ok) {
      if (read.kind === "fork") await recordLedgerFork(db, ledger.id, read.evidence, platform.clock()).run();
      platform.log.error({ at: "ledger", error: read.kind === "fork" ? `fork ${ledger.id}` : `no checkpoint: ${read.code}` });
      return;
    }
    const { size, root, note } = read.seen;
    const own = stripCosignatures(note);
    const rootBytes = fromBase64(root);
    if (own === null || rootBytes === null || size === "0" || size === kept?.size) return;
    const at = interval * checkpointIntervalMs;
    await insertCheckpoint(
      db,
      { origin, auditLog: null, window: interval, at, size, root: toHex(rootBytes), note: own, headsRoot: emptyHeadsRoot, headsSize: "0" },
      { ledgerIds: mirrors.map(({ id }) => id), attestors },
      platform.clock(),
    );
    await recordSeenTree(db, ledger.id, read.seen, platform.clock()).run();
  });
};
