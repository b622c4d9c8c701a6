// Checkpoints of the logs, one a quarter of an hour, what others attested of them, and the largest tree the audit log ever
// signed. They live in home 00: a log is one for all homes.
import type { Attestation } from "../core/ledger/adapter.ts";
import { checkpointStatement, entryHash } from "../core/ledger/statement.ts";
import { minuteMs, type Instant } from "../core/time.ts";

export interface TakenCheckpoint {
  readonly origin: string;
  /** Of the audit log; null for the ledger, which remembers itself in ledger_state. */
  readonly shard: number | null;
  /** Count of quarters of an hour since 1970. */
  readonly window: number;
  readonly at: Instant;
  readonly size: string;
  readonly root: string;
  readonly note: string;
  readonly headsRoot: string;
  readonly headsSize: string;
}

/** Somebody who is to attest a checkpoint, or has already. */
export interface AskedAttestor {
  readonly kind: Attestation["kind"];
  readonly name: string;
  readonly attestation: Attestation | null;
}

/** The largest tree a log of ours signed, as remembered outside of it. */
export const highwater = async (db: D1Database, shard: number): Promise<{ readonly size: string; readonly root: string } | null> =>
  db.prepare("SELECT size, root FROM log_highwater WHERE shard = ?").bind(shard).first<{ size: string; root: string }>();

const raiseHighwater = (db: D1Database, shard: number, size: string, root: string, now: Instant): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO log_highwater (shard, size, root, updated_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (shard) DO UPDATE SET size = excluded.size, root = excluded.root, updated_at = excluded.updated_at
       WHERE CAST(excluded.size AS INTEGER) > CAST(log_highwater.size AS INTEGER)`,
    )
    .bind(shard, size, root, now);

/**
 * Keeps a checkpoint, and asks for it to be anchored in each ledger and attested by each attestor. The same window again changes
 * nothing. What an attestor has not answered about earlier checkpoints is given up: a later one covers them, and a stamp that
 * comes late says no more than the newer one.
 */
export const keepCheckpoint = async (
  db: D1Database,
  taken: TakenCheckpoint,
  asks: { readonly ledgerIds: readonly string[]; readonly attestors: readonly AskedAttestor[] },
  now: Instant,
): Promise<void> => {
  const statement = checkpointStatement(taken);
  await db.batch([
    db
      .prepare(
        `INSERT INTO checkpoints (origin, window, size, root, note, heads_root, heads_size, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (origin, window) DO NOTHING`,
      )
      .bind(taken.origin, taken.window, taken.size, taken.root, taken.note, taken.headsRoot, taken.headsSize, now),
    ...asks.ledgerIds.map((ledgerId) =>
      db
        .prepare(
          `INSERT INTO anchors (id, ledger_id, kind, entity_id, event, statement, entry_hash, next_at, created_at)
           VALUES (?, ?, 'checkpoint', ?, ?, ?, ?, ?, ?) ON CONFLICT (ledger_id, entry_hash) DO NOTHING`,
        )
        .bind(
          crypto.randomUUID(),
          ledgerId,
          taken.origin,
          taken.shard === null ? "ledger.checkpoint" : "audit.checkpoint",
          statement,
          entryHash(statement),
          now,
          now,
        ),
    ),
    ...asks.attestors.map(({ kind, name, attestation }) =>
      db
        .prepare(
          `INSERT INTO attestations (origin, window, kind, attestor, status, next_at, data, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (origin, window, kind, attestor) DO NOTHING`,
        )
        .bind(
          taken.origin,
          taken.window,
          kind,
          name,
          attestation === null ? "pending" : "attested",
          now,
          attestation === null ? null : JSON.stringify(attestation),
          attestation?.time ?? null,
        ),
    ),
    db
      .prepare("UPDATE attestations SET status = 'given_up' WHERE origin = ? AND window < ? AND status = 'pending'")
      .bind(taken.origin, taken.window),
    ...(taken.shard === null ? [] : [raiseHighwater(db, taken.shard, taken.size, taken.root, now)]),
  ]);
};

/** The newest checkpoint kept of a log. */
export const newestCheckpoint = async (
  db: D1Database,
  origin: string,
): Promise<{ readonly window: number; readonly size: string } | null> =>
  db
    .prepare("SELECT window, size FROM checkpoints WHERE origin = ? ORDER BY window DESC LIMIT 1")
    .bind(origin)
    .first<{ window: number; size: string }>();

/** Size of the newest checkpoint of a log that this witness has cosigned; "0" when none is known. */
export const witnessedSize = async (db: D1Database, origin: string, witness: string): Promise<string> =>
  (await db
    .prepare(
      `SELECT c.size FROM attestations a JOIN checkpoints c ON c.origin = a.origin AND c.window = a.window
       WHERE a.origin = ? AND a.kind = 'cosignature' AND a.attestor = ? AND a.status = 'attested' ORDER BY a.window DESC LIMIT 1`,
    )
    .bind(origin, witness)
    .first<string>("size")) ?? "0";

export interface DueAttestation {
  readonly origin: string;
  readonly window: number;
  readonly kind: Attestation["kind"];
  readonly attestor: string;
  readonly attempts: number;
  readonly note: string;
  readonly size: string;
}

const leaseMs = minuteMs; // an attestor is given ten seconds, three times over in the worst case

/** What is due, oldest first; leased by putting its next turn off, so that two runs at once do not ask the same twice. */
export const claimAttestations = async (db: D1Database, most: number, now: Instant): Promise<DueAttestation[]> => {
  const { results: claimed } = await db
    .prepare(
      `UPDATE attestations SET next_at = ?1 + ${leaseMs}, attempts = attempts + 1 WHERE rowid IN (
         SELECT rowid FROM attestations WHERE status = 'pending' AND next_at <= ?1 ORDER BY next_at LIMIT ?2)
       RETURNING origin, window, kind, attestor, attempts`,
    )
    .bind(now, most)
    .all<Omit<DueAttestation, "note" | "size"> & Record<string, unknown>>();
  if (claimed.length === 0) return [];
  const checkpoints = await db.batch<{ note: string; size: string }>(
    claimed.map(({ origin, window }) =>
      db.prepare("SELECT note, size FROM checkpoints WHERE origin = ? AND window = ?").bind(origin, window),
    ),
  );
  return claimed.map((row, at) => {
    const kept = checkpoints[at]?.results[0];
    if (kept === undefined) throw new Error("attestations: a row without its checkpoint");
    return { origin: row.origin, window: row.window, kind: row.kind, attestor: row.attestor, attempts: row.attempts, ...kept };
  });
};

/** What became of a claimed row: attested, kept unverified, given up, or to be asked again at `nextAt`. */
export type AttestationEnd =
  | { readonly status: "attested" | "unverified"; readonly attestation: Attestation }
  | { readonly status: "given_up" }
  | { readonly status: "pending"; readonly nextAt: Instant };

export const endAttestation = (db: D1Database, row: DueAttestation, end: AttestationEnd): D1PreparedStatement => {
  const attestation = "attestation" in end ? end.attestation : null;
  return db
    .prepare(
      `UPDATE attestations SET status = ?, next_at = COALESCE(?, next_at), data = ?, time = ?
       WHERE origin = ? AND window = ? AND kind = ? AND attestor = ? AND status = 'pending'`,
    )
    .bind(
      end.status,
      end.status === "pending" ? end.nextAt : null,
      attestation === null ? null : JSON.stringify(attestation),
      attestation?.time ?? null,
      row.origin,
      row.window,
      row.kind,
      row.attestor,
    );
};

export interface AttestedCheckpoint {
  readonly size: string;
  /** Hex. */
  readonly root: string;
  readonly note: string;
  readonly attestations: readonly Attestation[];
}

/**
 * The first checkpoint of a log that covers the entry and is attested as far as asked: by so many witnesses, and by an authority
 * where there is one. `sinceWindow` is a window before which the entry was not in the log.
 */
export const attestedCheckpoint = async (
  db: D1Database,
  asked: {
    readonly origin: string;
    readonly index: string;
    readonly sinceWindow: number;
    readonly witnessMin: number;
    readonly needsStamp: boolean;
  },
): Promise<AttestedCheckpoint | null> => {
  const row = await db
    .prepare(
      `SELECT c.size, c.root, c.note, json_group_array(json(a.data)) AS attestations
       FROM checkpoints c JOIN attestations a ON a.origin = c.origin AND a.window = c.window AND a.status = 'attested'
       WHERE c.origin = ?1 AND c.window >= ?2 AND CAST(c.size AS INTEGER) > CAST(?3 AS INTEGER)
       GROUP BY c.window HAVING SUM(a.kind = 'cosignature') >= ?4 AND SUM(a.kind = 'rfc3161') >= ?5 ORDER BY c.window LIMIT 1`,
    )
    .bind(asked.origin, asked.sinceWindow, asked.index, asked.witnessMin, asked.needsStamp ? 1 : 0)
    .first<{ size: string; root: string; note: string; attestations: string }>();
  return row === null ? null : { ...row, attestations: JSON.parse(row.attestations) as Attestation[] };
};
