// Brings anchors into the ledgers. Never on a request's path: called by queue messages and by the minute cron,
// safe to call at any time and many times at once. What is due stands in the database; everything else may be lost.
import type { LedgerAdapter, SubmissionOutcome } from "../../core/ledger/adapter.ts";
import { shouldPark } from "../../core/ledger/retries.ts";
import { secondMs } from "../../core/time.ts";
import { batch, type Database } from "../../storage/database.ts";
import {
  movePendingAnchors,
  claimAnchors,
  savePreparedAnchors,
  updateAnchorOutcomes,
  releaseAnchors,
  unparkAnchors,
  wakePendingAnchors,
  type ClaimedAnchor,
  type PreparedAnchor,
} from "../../storage/outboxes/anchors.ts";
import { recordLedgerFailure, getLedgerState, recordLedgerFork, recordSeenTree } from "../../storage/ledger-state.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";

const submitTimeoutMs = 40 * secondMs; // less than a lease

/** A failure of the ledger as a whole, as opposed to one of a statement. */
const isTransportFailure = (outcome: SubmissionOutcome): boolean =>
  !outcome.ok && outcome.kind === "retry" && !outcome.code.startsWith("receipt_");

/** Each code once: what an operator has to look into, whatever the number of statements. */
const listCodes = (settled: readonly { readonly outcome: SubmissionOutcome }[]): string =>
  [...new Set(settled.map(({ outcome }) => ("code" in outcome ? outcome.code : "")))].join(", ");

const prepareAll = async (
  db: Database,
  lease: string,
  adapter: LedgerAdapter,
  claimed: readonly ClaimedAnchor[],
): Promise<ClaimedAnchor[]> => {
  const fresh: PreparedAnchor[] = [];
  const prepared: ClaimedAnchor[] = [];
  for (const anchor of claimed) {
    const text = anchor.prepared ?? (await adapter.prepare(anchor));
    if (anchor.prepared === null && text !== anchor.statement) fresh.push({ anchorId: anchor.anchorId, prepared: text });
    prepared.push({ ...anchor, prepared: text });
  }
  await savePreparedAnchors(db, lease, fresh);
  return prepared;
};

/** One claimed batch through one ledger. False when there is nothing (more) to do now. */
const submitBatch = async (platform: Platform, db: Database, adapter: LedgerAdapter): Promise<boolean> => {
  const now = platform.clock();
  const state = await getLedgerState(db, adapter.id);
  if (state.forked || state.blockedUntil > now) return false;
  const probing = state.failures > 0; // after failures one row asks whether the ledger is back
  const lease = crypto.randomUUID();
  const claimed = await claimAnchors(db, adapter.id, lease, probing ? 1 : adapter.maxPerBatch, now);
  if (claimed.length === 0) return false;

  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), submitTimeoutMs);
  let outcomes: readonly SubmissionOutcome[];
  try {
    outcomes = await adapter.submit(await prepareAll(db, lease, adapter, claimed), state.seen, limit.signal);
  } catch (error) {
    await releaseAnchors(db, lease).run();
    throw error;
  } finally {
    clearTimeout(timer);
  }

  const settledAt = platform.clock();
  const settled = claimed.map((anchor, at) => ({ anchor, outcome: outcomes[at] as SubmissionOutcome }));
  const fork = outcomes.find((outcome) => !outcome.ok && outcome.kind === "fork");
  const good = outcomes.find((outcome) => outcome.ok);
  const failed = outcomes.every(isTransportFailure);
  await batch(db, [
    ...(good?.ok ? [recordSeenTree(db, adapter.id, good.seen, settledAt, { anchorId: claimed[0]?.anchorId ?? "", lease })] : []),
    ...updateAnchorOutcomes(db, lease, settled, settledAt, Math.random),
    ...(good?.ok && probing ? [wakePendingAnchors(db, adapter.id, settledAt)] : []),
    ...(failed ? [recordLedgerFailure(db, adapter.id, state.failures, settledAt, Math.random())] : []),
    ...(fork !== undefined && !fork.ok && fork.kind === "fork" ? [recordLedgerFork(db, adapter.id, fork.evidence, settledAt)] : []),
  ]);
  if (fork !== undefined) platform.log.error({ at: "ledger", error: `fork ${adapter.id}` });
  const parked = settled.filter(({ anchor, outcome }) => shouldPark(anchor, outcome));
  if (parked.length > 0) platform.log.error({ at: "ledger", error: `parked ${parked.length} ${adapter.id}: ${listCodes(parked)}` });
  return !failed && fork === undefined;
};

/** Submits what is due, oldest first, to every ledger and from every home, until nothing is due or the allowance is used up. */
export const submitAnchors = async (platform: Platform): Promise<void> => {
  for (const adapter of platform.ledgers) {
    await forEachShard(platform, "ledger", async (db) => {
      while ((await platform.hasBudget()) && (await submitBatch(platform, db, adapter)));
    });
  }
};

/** Once a quarter of an hour: what was parked long enough is tried again, and what waits for an earlier ledger goes to this one. */
export const retryParkedAnchors = async (platform: Platform): Promise<void> => {
  const [primary] = platform.ledgers;
  const now = platform.clock();
  await forEachShard(platform, "ledger", (db) =>
    batch(db, [unparkAnchors(db, now), ...(primary === undefined ? [] : [movePendingAnchors(db, primary.id, now)])]),
  );
};
