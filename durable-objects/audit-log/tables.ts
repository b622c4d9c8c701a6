// The tables that only audit logs have: chains, their entries and the tree of chain heads. Functions that write several rows must be called
// inside a transaction.
import { createGenesisHead, createNextEntry, type ChainHead, type HashedEntry } from "../../core/audit/chain.ts";
import {
  computeChangedHeadNodes,
  hashHeadLeaf,
  serializeHeadLeaf,
  computeHeadPath,
  hashHeadsRecord,
  serializeHeadsRecord,
  computeHeadsRoot,
} from "../../core/audit/heads.ts";
import type { HeadsProof } from "../../core/audit/proof.ts";
import type { PendingEntry } from "../../core/audit/trail.ts";
import { toBase64, fromHex, toHex } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import type { NodeReader } from "../../core/ledger/merkle.ts";
import { toIso, type Instant } from "../../core/time.ts";
import {
  appendLeaves,
  buildTlogProof,
  findLeafIndex,
  findMeta,
  getLogSize,
  setMeta,
  type NewLeaf,
  type SignedCheckpoint,
} from "../transparency-log/tables.ts";

export interface AuditRow extends PendingEntry {
  /** The ID of the change that the entry records. */
  readonly id: string;
  /** The position of the change in its shard's change log. */
  readonly changeOrd: number;
  /** The shard whose change log contains the change. */
  readonly shard: string;
  readonly chain: string;
  readonly payloadHash: string;
  /** The salt and payload, or null if only the shard's database stores them. */
  readonly payload: string | null;
}

const isValidRow = (row: AuditRow): boolean =>
  /^[0-9a-f]{32}$/.test(row.chain) &&
  /^[0-9a-f]{64}$/.test(row.payloadHash) &&
  Number.isFinite(new Date(row.at).getTime()) &&
  [row.id, row.type, row.entityType, row.entityId].every((text) => text !== "" && text.isWellFormed());

const dedupeBytes = 16; // with 128 bits, collisions are impossible in practice

/**
 * Builds the key by which an entry is recognized if it is appended again. The chain is part of the key, because one change can add an entry
 * to two chains.
 */
const dedupeKeyFor = (id: string, chain: string): Uint8Array => sha256(`${id}:${chain}`).subarray(0, dedupeBytes);

interface Chain {
  readonly index: number;
  readonly head: ChainHead;
}

type ChainRow = {
  idx: number;
  seq: number;
  head: ArrayBuffer;
  epoch: number;
  sealed_seq: number | null;
  sealed_head: ArrayBuffer | null;
};

const findChainRow = (sql: SqlStorage, tag: string): ChainRow | null =>
  sql.exec<ChainRow>("SELECT idx, seq, head, epoch, sealed_seq, sealed_head FROM chain WHERE tag = ?", tag).toArray()[0] ?? null;

const toChainHead = (seq: number, hash: ArrayBuffer): ChainHead => ({ seq: BigInt(seq), hash: toHex(new Uint8Array(hash)) });

const findChain = (sql: SqlStorage, tag: string): Chain | null => {
  const row = findChainRow(sql, tag);
  return row === null ? null : { index: row.idx, head: toChainHead(row.seq, row.head) };
};

const countHeads = (sql: SqlStorage): number =>
  sql.exec<{ size: number }>("SELECT COALESCE(MAX(idx) + 1, 0) AS size FROM chain").one().size;

const getEpoch = (sql: SqlStorage): number => Number(findMeta(sql, "epoch") ?? "0");

const saveHead = (sql: SqlStorage, tag: string, { index, head }: Chain, epoch: number): void => {
  sql.exec(
    `INSERT INTO chain (idx, tag, seq, head, epoch) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (idx) DO UPDATE SET
       sealed_seq = CASE WHEN epoch < ?5 THEN seq ELSE sealed_seq END,
       sealed_head = CASE WHEN epoch < ?5 THEN head ELSE sealed_head END,
       seq = excluded.seq, head = excluded.head, epoch = excluded.epoch`,
    index,
    tag,
    Number(head.seq),
    fromHex(head.hash),
    epoch,
  );
};

const saveHeadNodes = (sql: SqlStorage, changed: ReadonlyMap<number, Uint8Array>, epoch: number): void => {
  for (const { height, index, hash } of computeChangedHeadNodes(countHeads(sql), changed, (at, idx) =>
    currentNodeReader(sql)(at, BigInt(idx)),
  )) {
    sql.exec(
      `INSERT INTO head_node (height, idx, hash, epoch) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (height, idx) DO UPDATE SET
         sealed = CASE WHEN epoch < ?4 THEN hash ELSE sealed END, hash = excluded.hash, epoch = excluded.epoch`,
      height,
      index,
      hash,
      epoch,
    );
  }
};

type NodeRow = { hash: ArrayBuffer; epoch: number; sealed: ArrayBuffer | null };

const getNodeRow = (sql: SqlStorage, height: number, index: bigint): NodeRow =>
  sql.exec<NodeRow>("SELECT hash, epoch, sealed FROM head_node WHERE height = ? AND idx = ?", height, Number(index)).one();

const currentNodeReader =
  (sql: SqlStorage): NodeReader =>
  (height, index) =>
    new Uint8Array(getNodeRow(sql, height, index).hash);

/** Reads the nodes of the tree of heads as they were at the newest record. */
const recordedNodeReader = (sql: SqlStorage): NodeReader => {
  const epoch = getEpoch(sql);
  return (height, index) => {
    const row = getNodeRow(sql, height, index);
    const bytes = row.epoch < epoch ? row.hash : row.sealed;
    if (bytes === null) throw new RangeError("audit log: the node is newer than the record");
    return new Uint8Array(bytes);
  };
};

export interface AppendOutcome {
  readonly appended: number;
  /** The number of rows that were skipped because their chains already contain them. This happens if a change log is read twice. */
  readonly known: number;
  /** The IDs of rows that were not appended because they have invalid values. Only a bug can cause this. */
  readonly malformed: readonly string[];
}

interface NewEntry {
  readonly row: AuditRow;
  readonly leaf: NewLeaf;
  readonly chain: number;
  readonly seq: number;
  readonly prev: string;
}

const insertEntry = (sql: SqlStorage, { row, chain, seq, prev }: NewEntry, logIndex: number): void => {
  sql.exec(
    `INSERT INTO entry (chain, seq, log_index, change_id, change_ord, shard, at, type, entity_type, entity_id, payload_hash, prev_hash, payload)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    chain,
    seq,
    logIndex,
    row.id,
    row.changeOrd,
    row.shard,
    row.at,
    row.type,
    row.entityType,
    row.entityId,
    fromHex(row.payloadHash),
    fromHex(prev),
    row.payload,
  );
};

/** Appends each valid row to its chain unless the chain already contains it. Call it inside a transaction. */
export const appendRows = (sql: SqlStorage, rows: readonly AuditRow[]): AppendOutcome => {
  const epoch = getEpoch(sql);
  const chains = new Map<string, Chain>();
  const fresh: NewEntry[] = [];
  const inBatch = new Set<string>();
  const malformed: string[] = [];
  let chainCount = countHeads(sql);
  for (const row of rows) {
    if (!isValidRow(row)) {
      malformed.push(row.id);
      continue;
    }
    const dedupe = dedupeKeyFor(row.id, row.chain);
    const key = toHex(dedupe);
    if (inBatch.has(key) || findLeafIndex(sql, dedupe) !== null) continue;
    inBatch.add(key);
    let chain = chains.get(row.chain) ?? findChain(sql, row.chain);
    if (chain === null) {
      chain = { index: chainCount, head: createGenesisHead({ chain: row.chain, chainIndex: BigInt(chainCount) }) };
      chainCount += 1;
    }
    const { head } = createNextEntry(row.chain, chain.head, {
      type: row.type,
      entity_type: row.entityType,
      entity_id: row.entityId,
      at: toIso(row.at),
      payload_hash: row.payloadHash,
    });
    const leaf = { dedupeKey: dedupe, entry: fromHex(head.hash) as Uint8Array };
    fresh.push({ row, leaf, chain: chain.index, seq: Number(head.seq), prev: chain.head.hash });
    chains.set(row.chain, { index: chain.index, head });
  }
  const indices = appendLeaves(
    sql,
    fresh.map(({ leaf }) => leaf),
  );
  for (const [at, entry] of fresh.entries()) insertEntry(sql, entry, indices[at] as number);
  const changed = new Map<number, Uint8Array>();
  for (const [tag, chain] of chains) {
    saveHead(sql, tag, chain, epoch);
    changed.set(chain.index, hashHeadLeaf(tag, chain.head));
  }
  saveHeadNodes(sql, changed, epoch);
  return { appended: fresh.length, known: rows.length - fresh.length - malformed.length, malformed };
};

type RecordRow = { log_index: number; record: string; root: string; size: number };

export const findNewestRecord = (sql: SqlStorage): RecordRow | null =>
  sql.exec<RecordRow>("SELECT log_index, record, root, size FROM heads_record ORDER BY log_index DESC LIMIT 1").toArray()[0] ?? null;

/**
 * Appends a record with the root of the tree of heads if the log has changed since the last record. Returns the newest record, or null for
 * an empty log.
 */
const recordHeads = (sql: SqlStorage, at: string): RecordRow | null => {
  const last = findNewestRecord(sql);
  const size = getLogSize(sql);
  if (size === (last === null ? 0 : last.log_index + 1)) return last;
  const heads = countHeads(sql);
  const root = toHex(computeHeadsRoot(heads, currentNodeReader(sql)));
  const record = serializeHeadsRecord({ at, heads_root: root, heads_size: String(heads), log_size: String(size), schema: "svc-heads-v1" });
  const [index] = appendLeaves(sql, [{ dedupeKey: sha256(`heads:${size}`).subarray(0, dedupeBytes), entry: hashHeadsRecord(record) }]);
  if (index !== size) throw new Error("audit log: a heads record of this size is already in the log");
  sql.exec("INSERT INTO heads_record (log_index, record, root, size) VALUES (?, ?, ?, ?)", index, record, root, heads);
  setMeta(sql, "epoch", String(getEpoch(sql) + 1));
  return { log_index: index, record, root, size: heads };
};

/**
 * Adds a record of heads if no record contains the chain yet. Otherwise, the log could not prove that the chain is complete until the
 * 15-minute interval ends.
 */
export const recordHeadsForNewChain = (sql: SqlStorage, tag: string, now: Instant): void => {
  const chain = findChain(sql, tag);
  if (chain !== null && chain.index >= (findNewestRecord(sql)?.size ?? 0)) recordHeads(sql, toIso(now));
};

/** The data of a closed 15-minute interval. Except for `checkpointSize`, it never changes. */
export interface ClosedInterval {
  readonly at: string;
  /**
   * The size of the log when the interval was closed, including the record of heads. The interval's checkpoint has at least this many
   * entries.
   */
  readonly size: number;
  readonly headsRoot: string;
  readonly headsSize: number;
  /** The size of the interval's checkpoint, or null until it is signed. */
  readonly checkpointSize: number | null;
}

/** Closes the interval if it is not closed yet, and returns its data. */
export const closeInterval = (sql: SqlStorage, number: number, at: string): ClosedInterval => {
  if (sql.exec("SELECT 1 FROM interval WHERE number = ?", number).toArray().length === 0) {
    const record = recordHeads(sql, at);
    sql.exec(
      "INSERT INTO interval (number, at, size, record_index) VALUES (?, ?, ?, ?)",
      number,
      at,
      getLogSize(sql),
      record?.log_index ?? null,
    );
  }
  const row = sql
    .exec<Omit<ClosedInterval, "headsRoot"> & { headsRoot: string | null }>(
      `SELECT i.at, i.size, r.root AS headsRoot, COALESCE(r.size, 0) AS headsSize, i.checkpoint_size AS checkpointSize
       FROM interval i LEFT JOIN heads_record r ON r.log_index = i.record_index WHERE i.number = ?`,
      number,
    )
    .one();
  return { ...row, headsRoot: row.headsRoot ?? toHex(computeHeadsRoot(0, currentNodeReader(sql))) };
};

/** Saves the size of the interval's checkpoint, unless a size is already saved. */
export const saveIntervalCheckpoint = (sql: SqlStorage, number: number, size: number): void => {
  sql.exec("UPDATE interval SET checkpoint_size = ? WHERE number = ? AND checkpoint_size IS NULL", size, number);
};

/** A stored entry with its position in the log and the change that it records. `payload` is null if only the shard's database stores it. */
export interface StoredEntry extends HashedEntry {
  readonly log_index: string;
  readonly change_id: string;
  readonly change_ord: number;
  readonly shard: string;
  readonly payload: string | null;
}

export interface ChainState {
  readonly chainIndex: number;
  /** The chain's newest entry. In a `ChainPage`, the newest entry at the requested log size. */
  readonly head: { readonly seq: string; readonly hash: string };
}

export interface ChainPage extends ChainState {
  readonly chain: string;
  readonly entries: readonly StoredEntry[];
  /** The `beforeSeq` for the next page, or null on the last page. */
  readonly nextBeforeSeq: string | null;
}

const entryColumns =
  "e.seq, e.at, e.type, e.entity_type, e.entity_id, e.payload_hash, e.prev_hash, l.entry AS hash, e.log_index, e.change_id, e.change_ord, e.shard, e.payload";

type EntryRow = Omit<StoredEntry, "chain" | "seq" | "log_index" | "at" | "payload_hash" | "prev_hash" | "hash"> &
  Record<"seq" | "log_index" | "at", number> &
  Record<"payload_hash" | "prev_hash" | "hash", ArrayBuffer>;

const toStoredEntry = (chain: string, { seq, at, payload_hash, prev_hash, hash, log_index, ...row }: EntryRow): StoredEntry => ({
  ...row,
  chain,
  seq: String(seq),
  at: toIso(at),
  payload_hash: toHex(new Uint8Array(payload_hash)),
  prev_hash: toHex(new Uint8Array(prev_hash)),
  hash: toHex(new Uint8Array(hash)),
  log_index: String(log_index),
});

export interface ChainPageQuery {
  readonly limit: number;
  /** Returns only entries before this sequence number. If null, starts with the newest entry. */
  readonly beforeSeq?: number | null;
  /** Returns the chain as it was when the log had this size. By default, returns it as it is now. */
  readonly belowSize?: number;
  /** Returns only entries about the entities with these IDs. */
  readonly about?: readonly string[] | null;
  /** Returns only entries of these types. */
  readonly types?: readonly string[] | null;
}

/** The most entries that a query with `about` or `types` examines. Matching entries can be rare in a long chain. */
export const maxEntriesScanned = 2_000;

/**
 * Returns a page of a chain, newest entry first. With `about` or `types`, a page can be short or empty even if older entries match. Returns
 * null if the chain had no entries when the log had the size `belowSize`.
 */
export const findChainPage = (
  sql: SqlStorage,
  tag: string,
  { limit, beforeSeq = null, belowSize = Number.MAX_SAFE_INTEGER, about = null, types = null }: ChainPageQuery,
): ChainPage | null => {
  const chain = findChain(sql, tag);
  const head = sql
    .exec<{ seq: number; hash: ArrayBuffer }>(
      `SELECT e.seq, l.entry AS hash FROM entry e JOIN leaf l ON l.idx = e.log_index
       WHERE e.chain = ? AND e.log_index < ? ORDER BY e.seq DESC LIMIT 1`,
      chain?.index ?? -1,
      belowSize,
    )
    .toArray()[0];
  if (chain === null || head === undefined) return null;
  const before = Math.min(beforeSeq ?? Number.MAX_SAFE_INTEGER, head.seq + 1);
  const first = Math.max(1, before - (about === null && types === null ? limit : maxEntriesScanned));
  const rows = sql
    .exec<EntryRow>(
      `SELECT ${entryColumns} FROM entry e JOIN leaf l ON l.idx = e.log_index WHERE e.chain = ? AND e.seq >= ? AND e.seq < ?
         AND (? OR e.entity_id IN (SELECT value FROM json_each(?))) AND (? OR e.type IN (SELECT value FROM json_each(?)))
         ORDER BY e.seq DESC LIMIT ?`,
      chain.index,
      first,
      before,
      about === null ? 1 : 0,
      JSON.stringify(about ?? []),
      types === null ? 1 : 0,
      JSON.stringify(types ?? []),
      limit,
    )
    .toArray();
  const reached = rows.length === limit ? (rows.at(-1)?.seq ?? first) : first;
  return {
    chain: tag,
    chainIndex: chain.index,
    head: { seq: String(head.seq), hash: toHex(new Uint8Array(head.hash)) },
    entries: rows.map((row) => toStoredEntry(tag, row)),
    nextBeforeSeq: reached > 1 ? String(reached) : null,
  };
};

/** Returns the entries that record these changes, oldest first. Omits changes that are not in the chain. */
export const listEntriesByChangeIds = (sql: SqlStorage, tag: string, changeIds: readonly string[]): StoredEntry[] =>
  changeIds
    .flatMap((id) =>
      sql
        .exec<EntryRow>(
          `SELECT ${entryColumns} FROM leaf_key k JOIN leaf l ON l.idx = k.idx JOIN entry e ON e.log_index = k.idx WHERE k.key = ?`,
          dedupeKeyFor(id, tag),
        )
        .toArray(),
    )
    .sort((a, b) => a.seq - b.seq)
    .map((row) => toStoredEntry(tag, row));

/** Returns a chain's index and newest entry, or null for a chain without entries. */
export const findChainState = (sql: SqlStorage, tag: string): ChainState | null => {
  const chain = findChain(sql, tag);
  return chain === null ? null : { chainIndex: chain.index, head: { seq: chain.head.seq.toString(), hash: chain.head.hash } };
};

/**
 * Returns the log index of the entry that was the chain's newest when the log had the size `belowSize`. Returns null if the chain had no
 * entries at that size.
 */
export const findHeadIndex = (sql: SqlStorage, tag: string, belowSize: number): number | null =>
  sql
    .exec<{ log_index: number }>(
      "SELECT e.log_index FROM entry e JOIN chain c ON c.idx = e.chain WHERE c.tag = ? AND e.log_index < ? ORDER BY e.seq DESC LIMIT 1",
      tag,
      belowSize,
    )
    .toArray()[0]?.log_index ?? null;

/** Lists the log indexes of the chain's entries with these sequence numbers, in order. Omits missing entries. */
export const listLogIndices = (sql: SqlStorage, tag: string, seqs: readonly number[]): { seq: number; log_index: number }[] =>
  sql
    .exec<{ seq: number; log_index: number }>(
      `SELECT e.seq, e.log_index FROM entry e JOIN chain c ON c.idx = e.chain
       WHERE c.tag = ? AND e.seq IN (SELECT value FROM json_each(?)) ORDER BY e.seq`,
      tag,
      JSON.stringify(seqs),
    )
    .toArray();

/**
 * Proves that a chain is complete up to the newest record of heads. Returns null if no record contains the chain yet, or if the checkpoint
 * does not cover the newest record.
 */
export const buildHeadsProof = (sql: SqlStorage, tag: string, checkpoint: SignedCheckpoint): HeadsProof | null => {
  const record = findNewestRecord(sql);
  const row = findChainRow(sql, tag);
  if (record === null || row === null || record.log_index >= checkpoint.size || row.idx >= record.size) return null;
  const isUnchanged = row.epoch < getEpoch(sql);
  const [seq, hash] = isUnchanged ? [row.seq, row.head] : [row.sealed_seq, row.sealed_head];
  if (seq === null || hash === null) throw new Error("audit log: a recorded chain has no recorded head");
  return {
    record: record.record,
    record_tlog_proof: buildTlogProof(sql, record.log_index, checkpoint),
    leaf: serializeHeadLeaf(tag, toChainHead(seq, hash)),
    path: computeHeadPath(row.idx, record.size, recordedNodeReader(sql)).map(toBase64),
    size: String(record.size),
  };
};
