// The tables of an intake journal.
import type { StoredIndex } from "../../core/access/address-index.ts";
import type { CertId, ClientId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { CompiledStatement } from "../../storage/database.ts";
import type { JournalEntry, KeyedReceipt } from "./entry.ts";

/** The maximum size of an entry's texts in bytes. The platform stores at most 2 MB per row, and the other columns need some of that. */
const maxEntryBytes = 1_900_000;

/** Limits a batch of large entries, so that it fits in the object's memory and the database can finish it before the timeout. */
const maxBatchBytes = 5_000_000;

type StoredStatement = readonly [textId: number, params: readonly unknown[]];

const storeText = (sql: SqlStorage, text: string): number => {
  const find = () => sql.exec<{ id: number }>("SELECT id FROM statement_text WHERE sql = ?", text).toArray()[0]?.id;
  return find() ?? sql.exec<{ id: number }>("INSERT INTO statement_text (sql) VALUES (?) RETURNING id", text).one().id;
};

const storeStatements = (sql: SqlStorage, statements: readonly CompiledStatement[]): string =>
  JSON.stringify(statements.map(({ sql: text, params }): StoredStatement => [storeText(sql, text), params]));

const loadStatements = (sql: SqlStorage, stored: string): CompiledStatement[] =>
  (JSON.parse(stored) as StoredStatement[]).map(([textId, params]) => ({
    sql: sql.exec<{ sql: string }>("SELECT sql FROM statement_text WHERE id = ?", textId).one().sql,
    params,
  }));

const countBytes = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);

/** Inserts an entry. Returns false if the entry is too large for a row. */
export const insertEntry = (sql: SqlStorage, entry: JournalEntry): boolean => {
  const { certId, clientId, day, fingerprint, issuedAt, receipt, published } = entry;
  const statements = storeStatements(sql, entry.statements);
  const twinStatements = storeStatements(sql, entry.twinStatements);
  const bytes = countBytes([published, statements, twinStatements, receipt?.receiptSealed ?? ""]);
  if (bytes > maxEntryBytes) return false;
  sql.exec(
    `INSERT INTO entry (cert_id, client_id, day, fingerprint, issued_at, key_hash, body_hash, receipt_sealed, published, statements,
       twin_statements, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[certId, clientId, day, fingerprint, issuedAt, receipt?.keyHash ?? null, receipt?.bodyHash ?? null],
    ...[receipt?.receiptSealed ?? null, published, statements, twinStatements, bytes],
  );
  return true;
};

type ReceiptRow = { key_hash: string; body_hash: string; receipt_sealed: string };

/** Finds the response of an entry that is waiting or was placed a few seconds ago. */
export const findReceipt = (sql: SqlStorage, keyHash: string): KeyedReceipt | null => {
  const [row] = sql
    .exec<ReceiptRow>(
      `SELECT key_hash, body_hash, receipt_sealed FROM entry WHERE key_hash = ?1
       UNION ALL SELECT key_hash, body_hash, receipt_sealed FROM placed_receipt WHERE key_hash = ?1`,
      keyHash,
    )
    .toArray();
  return row === undefined ? null : { keyHash: row.key_hash, bodyHash: row.body_hash, receiptSealed: row.receipt_sealed };
};

export interface JournalUsage {
  readonly entries: number;
  readonly bytes: number;
  /** The issuance time of the oldest entry, or null if there is none. Ignores entries that the database has refused. */
  readonly oldestAt: Instant | null;
}

export const getUsage = (sql: SqlStorage): JournalUsage => {
  const { entries, bytes } = sql
    .exec<{ entries: number; bytes: number }>("SELECT COUNT(*) AS entries, COALESCE(SUM(bytes), 0) AS bytes FROM entry")
    .one();
  const oldestAt =
    sql.exec<{ at: number }>("SELECT issued_at AS at FROM entry WHERE refusals = 0 ORDER BY ord LIMIT 1").toArray()[0]?.at ?? null;
  return { entries, bytes, oldestAt };
};

/** Counts the client's entries of one day, and the bytes of all its entries. */
export const getUsageOfClient = (sql: SqlStorage, clientId: ClientId, day: number): Pick<JournalUsage, "entries" | "bytes"> =>
  sql
    .exec<{ entries: number; bytes: number }>(
      "SELECT COUNT(*) FILTER (WHERE day = ?) AS entries, COALESCE(SUM(bytes), 0) AS bytes FROM entry WHERE client_id = ?",
      day,
      clientId,
    )
    .one();

/** Returns the number of the newest entry, or 0 if there is none. */
export const findHead = (sql: SqlStorage): number =>
  sql.exec<{ head: number }>("SELECT COALESCE(MAX(ord), 0) AS head FROM entry").one().head;

/** Counts the entries up to number `upTo`, ignoring those that the database has refused. */
export const countWaiting = (sql: SqlStorage, upTo = Number.MAX_SAFE_INTEGER): number =>
  sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM entry WHERE refusals = 0 AND ord <= ?", upTo).one().n;

/** The certificates that a withdrawal covers. */
export interface WithdrawalScope {
  readonly until: Instant;
  /** The clients that issued the certificates. Null means all clients. */
  readonly clientIds: readonly ClientId[] | null;
  /** All forms in which rows can contain the person's addresses. */
  readonly addressForms: readonly StoredIndex[];
}

const isIssuedInScope = "issued_at <= ?1 AND (?2 IS NULL OR client_id IN (SELECT value FROM json_each(?2)))";

/**
 * Returns true if the journal may contain a certificate in the scope. The person's addresses are compared only with entries that the
 * database has refused, because these can stay for days. Other entries will be placed soon, so any of them counts.
 */
export const mayContain = (sql: SqlStorage, { until, clientIds, addressForms }: WithdrawalScope): boolean => {
  const clients = clientIds === null ? null : JSON.stringify(clientIds);
  const has = (condition: string, ...params: readonly string[]): boolean =>
    sql.exec(`SELECT 1 FROM entry WHERE ${condition} AND ${isIssuedInScope} LIMIT 1`, until, clients, ...params).toArray().length > 0;
  return (
    has("refusals = 0") ||
    has(
      "refusals > 0 AND EXISTS (SELECT 1 FROM json_each(?3) WHERE instr(entry.statements, json_each.value) > 0)",
      JSON.stringify(addressForms),
    )
  );
};

export const hasEntries = (sql: SqlStorage): boolean => sql.exec("SELECT 1 FROM entry LIMIT 1").toArray().length > 0;

/** The data for writing an entry to the database. */
export interface WaitingEntry extends Pick<JournalEntry, "certId" | "fingerprint" | "statements" | "twinStatements"> {
  readonly ord: number;
  readonly refusals: number;
}

type EntryRow = {
  ord: number;
  cert_id: string;
  fingerprint: string;
  refusals: number;
  statements: string;
  twin_statements: string;
  bytes: number;
};

const placingColumns = "ord, cert_id, fingerprint, refusals, statements, twin_statements, bytes";

const toWaitingEntry = (sql: SqlStorage, row: EntryRow): WaitingEntry => ({
  ord: row.ord,
  certId: row.cert_id as CertId,
  fingerprint: row.fingerprint,
  refusals: row.refusals,
  statements: loadStatements(sql, row.statements),
  twinStatements: loadStatements(sql, row.twin_statements),
});

/**
 * Lists the entries that the database has refused least often, oldest first. Lists up to `max` entries with up to `maxBatchBytes` in total,
 * or a single entry that is larger.
 */
export const listWaiting = (sql: SqlStorage, max: number): WaitingEntry[] => {
  const rows: EntryRow[] = [];
  let size = 0;
  for (const row of sql.exec<EntryRow>(
    `SELECT ${placingColumns} FROM entry WHERE refusals = (SELECT MIN(refusals) FROM entry) ORDER BY ord LIMIT ?`,
    max,
  )) {
    size += row.bytes;
    if (rows.length > 0 && size > maxBatchBytes) break;
    rows.push(row);
  }
  return rows.map((row) => toWaitingEntry(sql, row));
};

export const findWaiting = (sql: SqlStorage, certId: CertId): WaitingEntry | null => {
  const [row] = sql.exec<EntryRow>(`SELECT ${placingColumns} FROM entry WHERE cert_id = ?`, certId).toArray();
  return row === undefined ? null : toWaitingEntry(sql, row);
};

export const findPublished = (sql: SqlStorage, certId: CertId): string | null =>
  sql.exec<{ published: string }>("SELECT published FROM entry WHERE cert_id = ?", certId).toArray()[0]?.published ?? null;

/** Deletes an entry that the database now contains. Its response is kept for a few seconds. */
export const deletePlaced = (sql: SqlStorage, ord: number, now: Instant): void => {
  sql.exec(
    `INSERT INTO placed_receipt (key_hash, body_hash, receipt_sealed, placed_at)
     SELECT key_hash, body_hash, receipt_sealed, ? FROM entry WHERE ord = ? AND key_hash IS NOT NULL
     ON CONFLICT (key_hash) DO UPDATE SET placed_at = excluded.placed_at`,
    now,
    ord,
  );
  sql.exec("DELETE FROM entry WHERE ord = ?", ord);
};

export const countRefusal = (sql: SqlStorage, ord: number): void => {
  sql.exec("UPDATE entry SET refusals = refusals + 1 WHERE ord = ?", ord);
};

export const deletePlacedReceipts = (sql: SqlStorage, until: Instant): void => {
  sql.exec("DELETE FROM placed_receipt WHERE placed_at <= ?", until);
};

export const hasPlacedReceipts = (sql: SqlStorage): boolean => sql.exec("SELECT 1 FROM placed_receipt LIMIT 1").toArray().length > 0;
