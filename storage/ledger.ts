// The work list of anchors and what is known of each ledger. The rows are the truth; queue messages are only kicks. A row is
// worked on under a lease: whoever's lease has passed lost it, and a receipt is stored once.
import type { PublishedAnchor } from "../core/certificates/published.ts";
import type { Outcome, SeenTree, Submission } from "../core/ledger/adapter.ts";
import { parseReceipt, receiptText, type Receipt } from "../core/ledger/receipt.ts";
import { hourMs, minuteMs, secondMs, type Instant } from "../core/time.ts";

const leaseMs = minuteMs; // longer than a call to the slowest ledger (30 s) and its ten looks at a checkpoint
const longestWaitMs = 900 * secondMs;
const parkedWaitMs = 6 * hourMs; // what a ledger refuses for good may be our mistake of the day: asked again four times a day

export interface ClaimedAnchor extends Submission {
  readonly attempts: number;
  /** Code of what the last try came to; null before the first. */
  readonly lastError: string | null;
}

const isUnproven = (code: string): boolean => code.startsWith("receipt_");
const unprovenUntilParked = 3;

/** Refused for good, or answered for the third time with what does not prove it: not a matter of a moment, so asked again much later. */
export const isToPark = ({ attempts, lastError }: ClaimedAnchor, outcome: Outcome): boolean => {
  if (outcome.ok || outcome.kind === "fork") return false;
  if (outcome.kind === "permanent") return true;
  return isUnproven(outcome.code) && isUnproven(lastError ?? "") && attempts + 1 >= unprovenUntilParked;
};

/** The oldest due rows of a ledger, leased to `lease`. */
export const claimAnchors = async (
  db: D1Database,
  ledgerId: string,
  lease: string,
  most: number,
  now: Instant,
): Promise<ClaimedAnchor[]> => {
  const { results } = await db
    .prepare(
      `UPDATE anchors SET lease = ?1, lease_until = ?2 + ${leaseMs} WHERE ord IN (
         SELECT ord FROM anchors WHERE ledger_id = ?3 AND status IN ('pending', 'prepared') AND next_at <= ?2 AND lease_until <= ?2 ORDER BY ord LIMIT ?4)
       RETURNING ord, id, statement, entry_hash, prepared, attempts, last_error`,
    )
    .bind(lease, now, ledgerId, most)
    .all<{
      ord: number;
      id: string;
      statement: string;
      entry_hash: string;
      prepared: string | null;
      attempts: number;
      last_error: string | null;
    }>();
  return results
    .sort((a, b) => a.ord - b.ord)
    .map((row) => ({
      anchorId: row.id,
      statement: row.statement,
      entryHash: row.entry_hash,
      prepared: row.prepared,
      attempts: row.attempts,
      lastError: row.last_error,
    }));
};

/** Keeps what will be sent, before it is sent. */
export const keepPrepared = async (db: D1Database, lease: string, prepared: readonly (readonly [string, string])[]): Promise<void> => {
  if (prepared.length === 0) return;
  await db
    .prepare(
      `UPDATE anchors SET prepared = j.value ->> 1, status = 'prepared' FROM json_each(?1) j
       WHERE anchors.id = j.value ->> 0 AND anchors.lease = ?2 AND anchors.prepared IS NULL`,
    )
    .bind(JSON.stringify(prepared), lease)
    .run();
};

const rowsPerStatement = 100; // receipts are about 3 KB: 300 KB of JSON a statement, far from the 2 MB a value may have

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** Before the next try: 2, 4, 8 … 512, 900 s, give or take a quarter (`spread` is 0 to 1). */
export const retryDelayMs = (attempts: number, spread: number): number =>
  Math.round(Math.min(longestWaitMs, 2 ** Math.min(attempts + 1, 10) * secondMs) * (0.75 + 0.5 * spread));

/** Rows that store what became of a claimed batch. A row whose lease was lost is left to whoever has it now. */
export const outcomeRows = (
  db: D1Database,
  lease: string,
  settled: readonly { readonly anchor: ClaimedAnchor; readonly outcome: Outcome }[],
  now: Instant,
  spread: () => number,
): D1PreparedStatement[] => {
  const anchored: [string, string, string][] = [];
  const waiting: [string, string, number, string][] = [];
  for (const { anchor, outcome } of settled) {
    if (outcome.ok) anchored.push([anchor.anchorId, outcome.receipt.tx_ref, receiptText(outcome.receipt)]);
    else if (outcome.kind === "fork") waiting.push([anchor.anchorId, "", now, "fork"]);
    else if (isToPark(anchor, outcome)) waiting.push([anchor.anchorId, "parked", now + parkedWaitMs, outcome.code]);
    else {
      const askedFor = outcome.kind === "retry" ? (outcome.afterMs ?? 0) : 0;
      waiting.push([anchor.anchorId, "", now + Math.max(askedFor, retryDelayMs(anchor.attempts, spread())), outcome.code]);
    }
  }
  return [
    ...chunks(anchored, rowsPerStatement).map((part) =>
      db
        .prepare(
          `UPDATE anchors SET status = 'anchored', tx_ref = j.value ->> 1, receipt = j.value ->> 2, anchored_at = ?2, lease = NULL, last_error = NULL
           FROM json_each(?1) j WHERE anchors.id = j.value ->> 0 AND anchors.lease = ?3 AND anchors.status <> 'anchored'`,
        )
        .bind(JSON.stringify(part), now, lease),
    ),
    ...chunks(waiting, rowsPerStatement).map((part) =>
      db
        .prepare(
          `UPDATE anchors SET status = CASE j.value ->> 1 WHEN 'parked' THEN 'parked' ELSE anchors.status END, attempts = attempts + 1,
             next_at = j.value ->> 2, last_error = j.value ->> 3, lease = NULL, lease_until = 0
           FROM json_each(?1) j WHERE anchors.id = j.value ->> 0 AND anchors.lease = ?2 AND anchors.status <> 'anchored'`,
        )
        .bind(JSON.stringify(part), lease),
    ),
  ];
};

/** Gives claimed rows back untouched, due when they were. */
export const releaseAnchors = (db: D1Database, lease: string): D1PreparedStatement =>
  db.prepare("UPDATE anchors SET lease = NULL, lease_until = 0 WHERE lease = ? AND status <> 'anchored'").bind(lease);

/**
 * The ledger is back: what waited because it was away is due now. The oldest statements asked most often whether it is, and so
 * would be the last to be taken.
 */
export const wakeWaiting = (db: D1Database, ledgerId: string, now: Instant): D1PreparedStatement =>
  db
    .prepare("UPDATE anchors SET next_at = ?2 WHERE ledger_id = ?1 AND status IN ('pending', 'prepared') AND next_at > ?2")
    .bind(ledgerId, now);

/** Parked rows become due again when their wait has passed. */
export const unparkAnchors = (db: D1Database, now: Instant): D1PreparedStatement =>
  db.prepare("UPDATE anchors SET status = 'pending' WHERE status = 'parked' AND next_at <= ?").bind(now);

/**
 * Statements that still waited for an earlier ledger when another took its place go to that one: the earlier takes nothing any more.
 * Mirrors have none of this kind.
 */
export const adoptWaiting = (db: D1Database, ledgerId: string, now: Instant): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE OR IGNORE anchors SET ledger_id = ?1, status = 'pending', prepared = NULL, attempts = 0, next_at = ?2, lease = NULL, lease_until = 0
       WHERE ord IN (SELECT ord FROM anchors INDEXED BY anchors_due
         WHERE status IN ('pending', 'prepared') AND ledger_id <> ?1 AND kind = 'event' AND lease_until <= ?2)`,
    )
    .bind(ledgerId, now);

export interface EntityAnchor {
  readonly event: string;
  readonly statement: string;
  readonly receipt: Receipt | null;
}

export interface LedgerState {
  readonly seen: SeenTree | null;
  readonly failures: number;
  readonly blockedUntil: Instant;
  readonly forked: boolean;
}

export const ledgerState = async (db: D1Database, ledgerId: string): Promise<LedgerState> => {
  const row = await db
    .prepare("SELECT size, root, note, failures, blocked_until, fork FROM ledger_state WHERE ledger_id = ?")
    .bind(ledgerId)
    .first<{ size: string; root: string | null; note: string | null; failures: number; blocked_until: number; fork: string | null }>();
  return {
    seen: row === null || row.root === null || row.note === null ? null : { size: row.size, root: row.root, note: row.note },
    failures: row?.failures ?? 0,
    blockedUntil: row?.blocked_until ?? 0,
    forked: row?.fork != null,
  };
};

/** Sizes are decimal text of up to 20 digits: the longer is the larger, then text order decides. */
const isLarger =
  "(length(excluded.size) > length(ledger_state.size) OR (length(excluded.size) = length(ledger_state.size) AND excluded.size > ledger_state.size))";

/**
 * The ledger answered with a tree that passed every check. A smaller tree than the one known changes nothing but the breaker.
 * Learned for a row, it is kept only while that row is under its lease: what a run learned before its database was restored to
 * an earlier day is not for that day's rows. So it goes first in the batch that ends the lease.
 */
export const rememberTree = (
  db: D1Database,
  ledgerId: string,
  seen: SeenTree,
  now: Instant,
  learnedFor: { readonly anchorId: string; readonly lease: string } | null = null,
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO ledger_state (ledger_id, size, root, note, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?6 IS NULL OR EXISTS (SELECT 1 FROM anchors WHERE id = ?6 AND lease = ?7)
       ON CONFLICT (ledger_id) DO UPDATE SET failures = 0, blocked_until = 0, updated_at = excluded.updated_at,
         root = CASE WHEN ${isLarger} THEN excluded.root ELSE root END,
         note = CASE WHEN ${isLarger} THEN excluded.note ELSE note END,
         size = CASE WHEN ${isLarger} THEN excluded.size ELSE size END`,
    )
    .bind(ledgerId, seen.size, seen.root, seen.note, now, learnedFor?.anchorId ?? null, learnedFor?.lease ?? null);

const failuresUntilOpen = 5;

/** The ledger could not be used. After five times in a row it is left alone for a while that grows with each further failure. */
export const countFailure = (
  db: D1Database,
  ledgerId: string,
  failuresBefore: number,
  now: Instant,
  spread: number,
): D1PreparedStatement => {
  const failures = failuresBefore + 1;
  const blockedUntil = failures >= failuresUntilOpen ? now + retryDelayMs(failures, spread) : 0;
  return db
    .prepare(
      `INSERT INTO ledger_state (ledger_id, failures, blocked_until, updated_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (ledger_id) DO UPDATE SET failures = ?2, blocked_until = ?3, updated_at = ?4`,
    )
    .bind(ledgerId, failures, blockedUntil, now);
};

/** Two signed trees that cannot both be true: kept as evidence, and the ledger is asked nothing until an operator has looked. */
export const rememberFork = (
  db: D1Database,
  ledgerId: string,
  evidence: { readonly old: string; readonly new: string },
  now: Instant,
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO ledger_state (ledger_id, fork, updated_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (ledger_id) DO UPDATE SET fork = COALESCE(fork, ?2), updated_at = ?3`,
    )
    .bind(ledgerId, JSON.stringify(evidence), now);

/** What the ledger of its time holds, or will hold, about one record: the statement and, once confirmed, its receipt. In the order of their commits. */
export const entityAnchors = async (db: D1Database, entityId: string): Promise<EntityAnchor[]> => {
  const { results } = await db
    .prepare(
      "SELECT event, statement, CASE status WHEN 'anchored' THEN receipt END AS receipt FROM anchors WHERE entity_id = ? ORDER BY ord",
    )
    .bind(entityId)
    .all<{ event: string; statement: string; receipt: string | null }>();
  return results.map(({ event, statement, receipt }) => ({ event, statement, receipt: receipt === null ? null : parseReceipt(receipt) }));
};

/** The newest statement about a log's checkpoint that the ledger has confirmed; null before the first. */
export const newestCheckpointAnchor = async (db: D1Database, ledgerId: string, origin: string): Promise<PublishedAnchor | null> => {
  const row = await db
    .prepare(
      `SELECT event, entry_hash, statement, receipt, anchored_at FROM anchors
       WHERE entity_id = ? AND ledger_id = ? AND kind = 'checkpoint' AND status = 'anchored' ORDER BY ord DESC LIMIT 1`,
    )
    .bind(origin, ledgerId)
    .first<{ event: string; entry_hash: string; statement: string; receipt: string; anchored_at: Instant }>();
  if (row === null) return null;
  const { event, entry_hash: entryHash, statement, receipt, anchored_at: anchoredAt } = row;
  return { event, ledgerId, entryHash, statement, status: "anchored", receipt, anchoredAt };
};
