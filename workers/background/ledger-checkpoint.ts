// Every 15 minutes, saves a checkpoint of each primary ledger, queues its statement for the mirrors, and requests attestations.
import { fromBase64, toHex } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { firstShard } from "../../core/ids.ts";
import { stripCosignatures } from "../../core/ledger/checkpoint.ts";
import { getCheckpointInterval, checkpointIntervalMs } from "../../core/ledger/checkpoint-interval.ts";
import type { LedgerAdapter } from "../../core/ledger/adapter.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import { findNewestCheckpoint, insertCheckpoint } from "../../storage/checkpoints.ts";
import { getLedgerState, recordLedgerFork, recordSeenTree } from "../../storage/ledger-state.ts";
import { runIsolated } from "../log.ts";
import { listPrimaryLedgers } from "../operations/attestations/find-primary-ledger.ts";
import type { Platform } from "../platform/platform.ts";
import { listGeneralAttestors } from "./request-attestation.ts";

const emptyHeadsRoot = sha256Hex(""); // a ledger has no chains, so the list of chain heads is empty

const checkpointPrimary = async (platform: Platform, ledger: LedgerAdapter, now: Instant): Promise<void> => {
  const [, ...mirrors] = platform.ledgersOf(firstShard);
  const attestors = listGeneralAttestors(platform);
  const db = platform.shards.get(firstShard);
  const { origin } = ledger;
  const interval = getCheckpointInterval(now);
  await runIsolated(platform, "ledger", async () => {
    const state = await getLedgerState(db, ledger.id);
    const last = await findNewestCheckpoint(db, origin);
    if (state.forked || (last !== null && last.window >= interval)) return;
    const head = await ledger.getHead(state.seen, AbortSignal.timeout(30 * secondMs));
    if (!head.ok) {
      if (head.kind === "fork") await recordLedgerFork(db, ledger.id, head.evidence, platform.clock()).run();
      platform.log.error({ at: "ledger", error: head.kind === "fork" ? `fork ${ledger.id}` : `no checkpoint: ${head.code}` });
      return;
    }
    const { size, root, note } = head.verifiedTree;
    const ownNote = stripCosignatures(note);
    const rootBytes = fromBase64(root);
    if (ownNote === null || rootBytes === null || size === "0" || size === last?.size) return;
    const at = interval * checkpointIntervalMs;
    await insertCheckpoint(
      db,
      {
        origin,
        auditLog: null,
        window: interval,
        at,
        size,
        root: toHex(rootBytes),
        note: ownNote,
        headsRoot: emptyHeadsRoot,
        headsSize: "0",
      },
      { ledgerIds: mirrors.map(({ id }) => id), attestors },
      platform.clock(),
    );
    await recordSeenTree(db, ledger.id, head.verifiedTree, platform.clock()).run();
  });
};

/**
 * Saves a checkpoint of each primary ledger for the interval that contains `now`. Does nothing if the deployment has neither mirrors nor
 * attestors for ledgers. Skips a ledger that has not grown.
 */
export const checkpointLedgers = async (platform: Platform, now: Instant): Promise<void> => {
  if (platform.ledgersOf(firstShard).length - 1 + listGeneralAttestors(platform).length === 0) return;
  for (const ledger of listPrimaryLedgers(platform)) await checkpointPrimary(platform, ledger, now);
};
