// Submits anchor statements to the ledgers. Runs when a queue message arrives and every minute, but never within a request. Concurrent runs
// are safe. The database contains all due work, so a lost queue message only delays the work.
import type { LedgerAdapter, SubmissionOutcome } from "../../core/ledger/adapter.ts";
import { getBlockedUntil, shouldPark } from "../../core/ledger/retries.ts";
import { secondMs } from "../../core/time.ts";
import { batch, type Database } from "../../storage/database.ts";
import { listDueAnchors, savePreparedAnchors, storeOutcomes, wakePendingAnchors, type DueAnchor } from "../../storage/anchors.ts";
import { getLedgerState, recordLedgerFork, storeLedgerRun, type LedgerRunBasis } from "../../storage/ledger-state.ts";
import type { Platform } from "../platform/platform.ts";
import { runIsolated } from "../log.ts";
import { forEachShard } from "./for-each-shard.ts";

const submitTimeoutMs = 40 * secondMs; // enough for one round of requests to the slowest ledger (30 s) and for verifying its responses

/**
 * Returns true if the failure concerns the whole ledger, such as a timeout. A failure code that starts with `receipt_` concerns only one
 * statement.
 */
const isTransportFailure = (outcome: SubmissionOutcome): boolean =>
  !outcome.ok && outcome.kind === "retry" && !outcome.code.startsWith("receipt_");

const listCodes = (settled: readonly { readonly outcome: SubmissionOutcome }[]): string =>
  [...new Set(settled.map(({ outcome }) => ("code" in outcome ? outcome.code : "")))].join(", ");

/**
 * Builds the requests and stores them before they are sent. Returns null if the run is outdated, because another run has stored its results
 * or the database was restored (`isRunCurrent`).
 */
const prepareStatements = async (
  db: Database,
  basis: LedgerRunBasis,
  adapter: LedgerAdapter,
  due: readonly DueAnchor[],
): Promise<readonly DueAnchor[] | null> => {
  const prepared = await Promise.all(
    due.map(async (anchor) => ({ ...anchor, prepared: anchor.prepared ?? (await adapter.prepare(anchor)) })),
  );
  const fresh = prepared.filter((anchor, at) => due[at]?.prepared === null && anchor.prepared !== anchor.statement);
  const saved = await savePreparedAnchors(db, adapter.id, basis, fresh);
  if (fresh.some(({ ord }) => saved.get(ord) == null)) return null;
  return prepared.map((anchor) => ({
    ...anchor,
    prepared: saved.get(anchor.ord) ?? anchor.prepared,
    isStored: anchor.isStored || saved.has(anchor.ord),
  }));
};

/** Submits one batch to one ledger. Returns false if nothing more can be submitted now. */
const submitBatch = async (platform: Platform, db: Database, adapter: LedgerAdapter): Promise<boolean> => {
  const now = platform.clock();
  const state = await getLedgerState(db, adapter.id);
  if (state.forked || state.blockedUntil > now) return false;
  const probing = state.failures > 0; // after a failure, submit only one row, to test whether the ledger works again
  const work = await listDueAnchors(db, adapter.id, probing ? 1 : adapter.maxPerBatch, now);
  if (work === null) return false;
  const { statements: due, newest, readUpTo } = work;
  const basis = { lastRun: state.lastRun, newest };
  const run = { id: crypto.randomUUID(), readUpTo, verifiedTree: null, failure: null };
  if (due.length === 0) {
    await storeLedgerRun(db, adapter.id, basis, run, now).run(); // only moves the ledger's position in the change log
    return false;
  }
  const prepared = await prepareStatements(db, basis, adapter, due);
  if (prepared === null) return false;

  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), submitTimeoutMs);
  let outcomes: readonly SubmissionOutcome[];
  try {
    outcomes = await adapter.submit(prepared, state.seen, controller.signal);
  } finally {
    clearTimeout(timer);
  }

  const settledAt = platform.clock();
  const settled = prepared.map((anchor, at) => ({ anchor, outcome: outcomes[at] as SubmissionOutcome }));
  const fork = outcomes.find((outcome) => !outcome.ok && outcome.kind === "fork");
  const success = outcomes.find((outcome) => outcome.ok);
  const verifiedTree = success?.ok ? success.verifiedTree : null;
  const failed = outcomes.every(isTransportFailure);
  const failures = state.failures + 1;
  const failure = failed ? { failures, blockedUntil: getBlockedUntil(failures, settledAt, Math.random()) } : null;
  const [stored] = await batch(db, [
    storeLedgerRun(db, adapter.id, basis, { ...run, verifiedTree, failure }, settledAt),
    ...storeOutcomes(db, adapter.id, run.id, settled, settledAt),
    ...(verifiedTree !== null && probing ? [wakePendingAnchors(db, adapter.id, settledAt)] : []),
    ...(fork !== undefined && !fork.ok && fork.kind === "fork" ? [recordLedgerFork(db, adapter.id, fork.evidence, settledAt)] : []),
  ]);
  if (fork !== undefined) platform.log.error({ at: "ledger", error: `fork ${adapter.id}` });
  const parked = settled.filter(({ anchor, outcome }) => shouldPark(anchor, outcome));
  if (parked.length > 0) platform.log.error({ at: "ledger", error: `parked ${parked.length} ${adapter.id}: ${listCodes(parked)}` });
  if (failed || fork !== undefined) return false;
  // If this run stored nothing, either the database was restored or another run finished first and changed `lastRun`. In the second case,
  // continue, because the other run may have processed fewer statements.
  return stored.length > 0 || (await getLedgerState(db, adapter.id)).lastRun !== basis.lastRun;
};

/** Submits the due anchors of every shard to the shard's ledgers, until all are submitted or the budget is used up. */
export const submitAnchors = async (platform: Platform): Promise<void> => {
  const { ledgersOf } = platform;
  await forEachShard(platform, "ledger", async (db, shard) => {
    for (const adapter of ledgersOf(shard))
      await runIsolated(platform, "ledger", async () => {
        while ((await platform.hasBudget()) && (await submitBatch(platform, db, adapter)));
      });
  });
};
