// Builds proofs that signed checkpoints cover the entries of a chain.
import type { AuditProof, HeadsProof } from "../../core/audit/proof.ts";
import { isSignedByAll, type LogKeys } from "../transparency-log/signing.ts";
import {
  buildTlogProof,
  findCheckpoint,
  findFreezeReason,
  findOldestCheckpointCovering,
  type SignedCheckpoint,
} from "../transparency-log/tables.ts";
import * as tables from "./tables.ts";
import type { ChainState, StoredEntry } from "./tables.ts";

export interface ChainHeadProof {
  /** The log size for which the proof is valid. */
  readonly size: number;
  readonly proof: AuditProof;
}

export interface EntryProof {
  readonly seq: number;
  readonly tlog_proof: string;
}

export interface TrailProof extends ChainState {
  readonly entries: readonly StoredEntry[];
  /** The c2sp.org/tlog-proof@v1 of each entry, in the order of `entries`. */
  readonly proofs: readonly string[];
  readonly heads: HeadsProof | null;
}

export interface ProofPorts {
  readonly storage: DurableObjectStorage;
  readonly openKeys: () => Promise<LogKeys>;
  /** Returns the newest signed checkpoint with at least `covers` entries. Returns null if the log is frozen. */
  readonly getSignedCheckpoint: (covers: number) => Promise<SignedCheckpoint | null>;
}

const maxCheckpoints = 3; // signing a checkpoint can take a second

/**
 * Finds a checkpoint that covers at least `size` entries and the newest record of heads. Earlier records can no longer be proven. `find`
 * returns a checkpoint with at least the given number of entries. While it signs one, another chain can add a record. After three
 * checkpoints, returns the last one even if it does not cover the newest record.
 */
const findCoveringNewestRecord = async (
  sql: SqlStorage,
  size: number,
  find: (covers: number) => Promise<SignedCheckpoint | null>,
): Promise<SignedCheckpoint | null> => {
  const getSizeWithRecord = (): number => Math.max(size, (tables.findNewestRecord(sql)?.log_index ?? -1) + 1);
  let checkpoint = await find(getSizeWithRecord());
  for (let found = 1; found < maxCheckpoints && checkpoint !== null && checkpoint.size < getSizeWithRecord(); found += 1)
    checkpoint = await find(getSizeWithRecord());
  return checkpoint;
};

/** Implements `AuditLog.proveChainHead`. */
export const proveChainHead = async (ports: ProofPorts, chain: string, atSize: number | null): Promise<ChainHeadProof | null> => {
  const { sql } = ports.storage;
  const newestIndex = tables.findHeadIndex(sql, chain, Number.MAX_SAFE_INTEGER);
  if (newestIndex === null) return null;
  const { origin } = await ports.openKeys();
  const checkpoint =
    atSize === null ? await findCoveringNewestRecord(sql, newestIndex + 1, ports.getSignedCheckpoint) : findCheckpoint(sql, atSize);
  const index = checkpoint === null ? null : tables.findHeadIndex(sql, chain, checkpoint.size);
  if (checkpoint === null || index === null) return null;
  return {
    size: checkpoint.size,
    proof: {
      origin,
      checkpoint: checkpoint.note,
      head_tlog_proof: buildTlogProof(sql, index, checkpoint),
      heads: tables.buildHeadsProof(sql, chain, checkpoint),
    },
  };
};

/** Implements `AuditLog.proveEntries`. */
export const proveEntries = async (ports: ProofPorts, chain: string, seqs: readonly number[]): Promise<EntryProof[] | null> => {
  const { sql } = ports.storage;
  const entries = tables.listLogIndices(sql, chain, seqs);
  const last = Math.max(-1, ...entries.map(({ log_index }) => log_index));
  const checkpoint = last < 0 ? null : await ports.getSignedCheckpoint(last + 1);
  if (checkpoint === null) return last < 0 ? [] : null;
  return entries.map(({ seq, log_index }) => ({ seq, tlog_proof: buildTlogProof(sql, log_index, checkpoint) }));
};

/**
 * Returns the oldest checkpoint that covers at least `size` entries, if all current keys have signed it. Otherwise, signs a new checkpoint
 * if necessary and returns the newest one, or null if the log is frozen.
 */
const findFirstCheckpoint = async (
  { storage, openKeys, getSignedCheckpoint }: ProofPorts,
  size: number,
): Promise<SignedCheckpoint | null> => {
  const first = findOldestCheckpointCovering(storage.sql, size);
  const { signers } = await openKeys();
  return first !== null && isSignedByAll(first.note, signers) ? first : await getSignedCheckpoint(size);
};

/** Implements `AuditLog.getTrail`. */
export const buildTrail = async (ports: ProofPorts, chain: string, changeIds: readonly string[]): Promise<TrailProof | null> => {
  const { storage } = ports;
  const { sql } = storage;
  const entries = tables.listEntriesByChangeIds(sql, chain, changeIds);
  const state = tables.findChainState(sql, chain);
  const last = entries.at(-1);
  // Adds the record of heads before signing, so that one checkpoint covers both the entries and the record.
  if (last !== undefined && findFreezeReason(sql) === null)
    storage.transactionSync(() => tables.recordHeadsForNewChain(sql, chain, Date.now()));
  const checkpoint = last === undefined ? null : await findFirstCheckpoint(ports, Number(last.log_index) + 1);
  if (state === null || checkpoint === null) return null;
  const recordCheckpoint = await findCoveringNewestRecord(sql, 0, (covers) => findFirstCheckpoint(ports, covers));
  return {
    ...state,
    entries,
    proofs: entries.map(({ log_index }) => buildTlogProof(sql, Number(log_index), checkpoint)),
    heads: recordCheckpoint === null ? null : tables.buildHeadsProof(sql, chain, recordCheckpoint),
  };
};
