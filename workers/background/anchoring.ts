// Submits anchor statements to the ledgers. Runs when a queue message arrives and every minute, but never within a request. Concurrent runs
// are safe. The database contains all due work, so a lost queue message only delays the work.
import type { LedgerAdapter, SubmissionOutcome } from "../../core/ledger/adapter.ts";
import { shouldPark } from "../../core/ledger/retries.ts";
import { secondMs } from "../../core/time.ts";
import { batch, type Database } from "../../storage/database.ts";
import {
  claimAnchors,
  getLedgerReader,
  savePreparedAnchors,
  finishAnchors,
  releaseAnchors,
  wakePendingAnchors,
  type ClaimedAnchor,
  type PreparedAnchor,
} from "../../storage/anchors.ts";
import { holdsReader } from "../../storage/changes.ts";
import { recordLedgerFailure, getLedgerState, recordLedgerFork, recordSeenTree } from "../../storage/ledger-state.ts";
import type { Platform } from "../platform/platform.ts";
import { runIsolated } from "../log.ts";
import { forEachShard } from "./for-each-shard.ts";

const submitTimeoutMs = 40 * secondMs; // must be shorter than a lease

/** Returns true if the ledger itself failed, and not just one statement. */
const isTransportFailure = (outcome: SubmissionOutcome): boolean =>
  !outcome.ok && outcome.kind === "retry" && !outcome.code.startsWith("receipt_");

const listCodes = (settled: readonly { readonly outcome: SubmissionOutcome }[]): string =>
  [...new Set(settled.map(({ outcome }) => ("code" in outcome ? outcome.code : "")))].join(", ");

const prepareStatements = async (
  db: Database,
  lease: string,
  adapter: LedgerAdapter,
  claimed: readonly ClaimedAnchor[],
): Promise<ClaimedAnchor[]> => {
  const fresh: PreparedAnchor[] = [];
  const prepared: ClaimedAnchor[] = [];
  for (const anchor of claimed) {
    const text = anchor.prepared ?? (await adapter.prepare(anchor));
    if (anchor.prepared === null && text !== anchor.statement) fresh.push({ ord: anchor.ord, prepared: text });
    prepared.push({ ...anchor, prepared: text });
  }
  await savePreparedAnchors(db, adapter.id, lease, fresh);
  return prepared;
};

/** Submits one batch to one ledger. Returns false if nothing more can be submitted now. */
const submitBatch = async (platform: Platform, db: Database, adapter: LedgerAdapter): Promise<boolean> => {
  const now = platform.clock();
  const state = await getLedgerState(db, adapter.id);
  if (state.forked || state.blockedUntil > now) return false;
  const probing = state.failures > 0; // after a failure, submit only one row, to test whether the ledger works again
  const lease = crypto.randomUUID();
  const work = await claimAnchors(db, adapter.id, lease, probing ? 1 : adapter.maxPerBatch, now);
  if (work === null) return false;
  const { statements: claimed, readUpTo } = work;
  if (claimed.length === 0) {
    // Nothing was claimed, so only move the reader past these changes.
    await batch(db, finishAnchors(db, adapter.id, lease, readUpTo, [], now, Math.random));
    return false;
  }

  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), submitTimeoutMs);
  let outcomes: readonly SubmissionOutcome[];
  try {
    outcomes = await adapter.submit(await prepareStatements(db, lease, adapter, claimed), state.seen, controller.signal);
  } catch (error) {
    await releaseAnchors(db, adapter.id, lease).run();
    throw error;
  } finally {
    clearTimeout(timer);
  }

  const settledAt = platform.clock();
  const settled = claimed.map((anchor, at) => ({ anchor, outcome: outcomes[at] as SubmissionOutcome }));
  const fork = outcomes.find((outcome) => !outcome.ok && outcome.kind === "fork");
  const success = outcomes.find((outcome) => outcome.ok);
  const failed = outcomes.every(isTransportFailure);
  await batch(db, [
    ...(success?.ok ? [recordSeenTree(db, adapter.id, success.seen, settledAt, holdsReader(getLedgerReader(adapter.id), lease))] : []),
    ...finishAnchors(db, adapter.id, lease, readUpTo, settled, settledAt, Math.random),
    ...(success?.ok && probing ? [wakePendingAnchors(db, adapter.id, settledAt)] : []),
    ...(failed ? [recordLedgerFailure(db, adapter.id, state.failures, settledAt, Math.random())] : []),
    ...(fork !== undefined && !fork.ok && fork.kind === "fork" ? [recordLedgerFork(db, adapter.id, fork.evidence, settledAt)] : []),
  ]);
  if (fork !== undefined) platform.log.error({ at: "ledger", error: `fork ${adapter.id}` });
  const parked = settled.filter(({ anchor, outcome }) => shouldPark(anchor, outcome));
  if (parked.length > 0) platform.log.error({ at: "ledger", error: `parked ${parked.length} ${adapter.id}: ${listCodes(parked)}` });
  return !failed && fork === undefined;
};

/** Submits due anchors from every shard to the shard's ledgers, oldest first, until all are submitted or the budget is used up. */
export const submitAnchors = async (platform: Platform): Promise<void> => {
  const { ledgersOf } = platform;
  await forEachShard(platform, "ledger", async (db, shard) => {
    for (const adapter of ledgersOf(shard))
      await runIsolated(platform, "ledger", async () => {
        while ((await platform.hasBudget()) && (await submitBatch(platform, db, adapter)));
      });
  });
};
