// Every quarter of an hour the audit log closes an interval, signs over it, and the statement of that goes to every ledger
// (SPEC, What the service does 5); of the ledger's own checkpoint a statement goes to the mirrors. Both are shown to those who
// attest. An interval that was missed is simply absent; the next one covers it.
import { bytesOfBase64, hexOf } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { firstHome } from "../../core/ids.ts";
import { withoutCosignatures } from "../../core/ledger/checkpoint.ts";
import { isoOf, secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { highwater, keepCheckpoint, newestCheckpoint, type AskedAttestor } from "../../storage/checkpoints.ts";
import { ledgerState, rememberFork, rememberTree } from "../../storage/ledger.ts";
import { failingAlone } from "../log.ts";
import type { Platform } from "../services.ts";
import { askAttestor } from "./attesting.ts";
import { checkpointInterval, checkpointIntervalMs } from "../../core/ledger/checkpoint-interval.ts";

type Closed = NonNullable<Awaited<ReturnType<ReturnType<Platform["auditLog"]>["checkpoint"]>>>;

/**
 * Shows a checkpoint of the audit log to the ledger's own witness before anything is made of it. Null when the witness has seen
 * another history: such a checkpoint is neither kept nor anchored. A witness that does not answer is asked again later.
 */
const askGuards = async (platform: Platform, db: Database, closed: Closed): Promise<readonly AskedAttestor[] | null> => {
  const asked: AskedAttestor[] = [];
  for (const guard of platform.attestors.filter(({ of }) => of === "guard")) {
    const outcome = await askAttestor(platform, db, guard, closed);
    if (!outcome.ok && outcome.kind === "permanent") {
      platform.log.fault({ at: "audit", error: `the ledger refuses the checkpoint: ${outcome.code}` });
      return null;
    }
    asked.push({ kind: guard.kind, name: guard.name, attestation: outcome.ok ? outcome.attestation : null });
  }
  return asked;
};

const everyLog = (platform: Platform): AskedAttestor[] =>
  platform.attestors.filter(({ of }) => of === "every log").map(({ kind, name }) => ({ kind, name, attestation: null }));

const checkpointShard = async (platform: Platform, db: Database, shard: number, interval: number): Promise<void> => {
  const log = platform.auditLog(shard);
  const known = await highwater(db, shard);
  // A log whose storage was set back must not sign a second history: it freezes itself and says so.
  if (known !== null && !(await log.assertHighwater(known.size, known.root))) {
    platform.log.fault({ at: "audit", error: "the log is behind what it signed: frozen" });
    return;
  }
  const closed = await log.checkpoint(interval, isoOf(interval * checkpointIntervalMs));
  if (closed === null) return;
  const guards = await askGuards(platform, db, closed);
  if (guards === null) return;
  const { origin, size, root, note, headsRoot, headsSize, at } = closed;
  await keepCheckpoint(
    db,
    { origin, shard, window: interval, at: Date.parse(at), size, root, note, headsRoot, headsSize },
    { ledgerIds: platform.ledgers.map(({ id }) => id), attestors: [...guards, ...everyLog(platform)] },
    platform.clock(),
  );
};

/**
 * One checkpoint a shard for the interval that `now` lies in; a second call in the same interval changes nothing. The next one covers
 * what it missed.
 */
export const checkpointAudit = async (platform: Platform, now: Instant): Promise<void> => {
  const db = platform.homes.at(firstHome);
  for (const shard of platform.config.auditKeys.keys())
    await failingAlone(platform, "audit", () => checkpointShard(platform, db, shard, checkpointInterval(now)));
};

const noHeads = sha256Hex(""); // the root over no heads: a ledger has no chains

/**
 * The ledger's checkpoint of the interval, for those who attest and for the mirrors; nothing to do where there are none, nor while
 * the ledger has not grown.
 */
export const checkpointLedger = async (platform: Platform, now: Instant): Promise<void> => {
  const [ledger, ...mirrors] = platform.ledgers;
  const attestors = everyLog(platform);
  if (ledger === undefined || mirrors.length + attestors.length === 0) return;
  const db = platform.homes.at(firstHome);
  const { origin } = platform.config.ledger;
  const interval = checkpointInterval(now);
  await failingAlone(platform, "ledger", async () => {
    const state = await ledgerState(db, ledger.id);
    const kept = await newestCheckpoint(db, origin);
    if (state.forked || (kept !== null && kept.window >= interval)) return;
    const read = await ledger.head(state.seen, AbortSignal.timeout(30 * secondMs));
    if (!read.ok) {
      if (read.kind === "fork") await rememberFork(db, ledger.id, read.evidence, platform.clock()).run();
      platform.log.fault({ at: "ledger", error: read.kind === "fork" ? `fork ${ledger.id}` : `no checkpoint: ${read.code}` });
      return;
    }
    const { size, root, note } = read.seen;
    const own = withoutCosignatures(note);
    const rootBytes = bytesOfBase64(root);
    if (own === null || rootBytes === null || size === "0" || size === kept?.size) return;
    const at = interval * checkpointIntervalMs;
    await keepCheckpoint(
      db,
      { origin, shard: null, window: interval, at, size, root: hexOf(rootBytes), note: own, headsRoot: noHeads, headsSize: "0" },
      { ledgerIds: mirrors.map(({ id }) => id), attestors },
      platform.clock(),
    );
    await rememberTree(db, ledger.id, read.seen, platform.clock()).run();
  });
};
