// Reads a log of C2SP tiles without trusting it: fetches tiles, builds proofs from them, and checks that two trees are consistent. The
// caller verifies the proofs. The reader reports a fork only if the log has signed two different trees of the same size, or if the tiles
// that prove the fork belong to a tree that the log has signed.
import { toBase64, fromBase64 } from "../../core/bytes.ts";
import type { LedgerFailure, ForkEvidence, LedgerAdapter, RetryableFailure, VerifiedTree } from "../../core/ledger/adapter.ts";
import type { Checkpoint } from "../../core/ledger/checkpoint.ts";
import { checkTreeConsistency, listConsistencyTiles } from "../../core/ledger/tree-consistency.ts";
import {
  buildConsistencyProof,
  buildInclusionProof,
  parseCount,
  hashLength,
  type NodeReader,
  type TreeHead,
} from "../../core/ledger/merkle.ts";
import type { TrustedLogKey } from "../../core/ledger/receipt.ts";
import {
  createTileNodeReader,
  formatTilePath,
  listTilesRead,
  tileWidth,
  type TileReader,
  type TileLocation,
} from "../../core/ledger/tiles.ts";
import { retryableFailure, type ExchangeResponse } from "./exchange.ts";

export interface LedgerEndpoint {
  /** The log's name in its checkpoints. */
  readonly origin: string;
  readonly role: "primary" | "mirror";
  /** The log's URL, without a trailing slash. */
  readonly baseUrl: string;
  /** The log's pinned keys, which are never fetched from the log. */
  readonly trust: readonly TrustedLogKey[];
}

/** Sends a GET request to a path under the log's URL. */
export type ReadPath = (
  path: string,
  maxBytes: number,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly response: ExchangeResponse } | RetryableFailure>;

const maxTileBytes = tileWidth * hashLength;
const maxConcurrentTiles = 4; // fewer than the six connections that an invocation may have open

/** Calls `work` for every item, at most `concurrency` at a time. Returns the results in the same order. */
export const mapConcurrently = async <T, R>(items: readonly T[], concurrency: number, work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const runWorker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: concurrency }, runWorker));
  return results;
};

export interface TileStore {
  /** Fetches missing tiles. Returns null if all tiles are loaded; otherwise, returns a failure. */
  readonly load: (locations: readonly TileLocation[]) => Promise<RetryableFailure | null>;
  readonly read: TileReader;
}

/** Creates a store that fetches each tile once and rejects tiles whose length does not match their width. */
export const createTileStore = (readPath: ReadPath, signal: AbortSignal): TileStore => {
  const tiles = new Map<string, Uint8Array>();

  /**
   * Returns the hashes in one tile. If a partial tile is missing, reads the full tile, because a log may delete partial tiles once the full
   * tile exists.
   */
  const fetchTile = async ({ level, n, width }: TileLocation): Promise<Uint8Array | RetryableFailure> => {
    for (const requestedWidth of width === tileWidth ? [width] : [width, tileWidth]) {
      const sent = await readPath(formatTilePath({ level, n, width: requestedWidth }), maxTileBytes, signal);
      if (!sent.ok) return sent;
      const { status, body } = sent.response;
      if (status === 200)
        return body.length === requestedWidth * hashLength ? body.subarray(0, width * hashLength) : retryableFailure("tile_malformed");
      if (status !== 404) return retryableFailure(`tile_http_${status}`);
    }
    return retryableFailure("tile_missing");
  };

  return {
    load: async (locations) => {
      const byPath = new Map(locations.map((location) => [formatTilePath(location), location]));
      const missing = [...byPath.entries()].filter(([path]) => !tiles.has(path));
      let refused: RetryableFailure | null = null;
      await mapConcurrently(missing, maxConcurrentTiles, async ([path, location]) => {
        if (refused !== null) return;
        const tile = await fetchTile(location);
        if ("ok" in tile) refused = tile;
        else tiles.set(path, tile);
      });
      return refused;
    },
    read: (level, n, width) => tiles.get(formatTilePath({ level, n, width })) ?? new Uint8Array(0),
  };
};

const toTreeHead = ({ size, root }: VerifiedTree): TreeHead => ({
  size: parseCount(size) ?? 0n,
  root: fromBase64(root) ?? new Uint8Array(0),
});

/** A checkpoint with its note. A pinned key has signed the note. */
export interface VerifiedCheckpoint {
  readonly note: string;
  readonly checkpoint: Checkpoint;
}

export const toSeenTree = ({ note, checkpoint }: VerifiedCheckpoint): VerifiedTree => ({
  size: checkpoint.size.toString(),
  root: toBase64(checkpoint.root),
  note,
});

/**
 * Returns null if the current tree and the last tree seen are consistent. Either tree can be the larger one. If the current tree is
 * smaller, its checkpoint may come from a cache that does not have the tiles of the larger tree yet. Missing tiles are then a retryable
 * failure (`checkpoint_behind`). Two roots at the same size prove a fork. For trees of different sizes, only the tiles of the larger tree
 * can prove one.
 */
export const checkHistory = async (
  tiles: TileStore,
  lastSeen: VerifiedTree | null,
  now: VerifiedCheckpoint,
): Promise<RetryableFailure | ForkEvidence | null> => {
  if (lastSeen === null) return null;
  const seen = toTreeHead(lastSeen);
  const [older, newer] = seen.size <= now.checkpoint.size ? [seen, now.checkpoint] : [now.checkpoint, seen];
  const refused = await tiles.load(listConsistencyTiles(older.size, newer.size));
  if (refused !== null) return newer === seen && refused.code === "tile_missing" ? retryableFailure("checkpoint_behind") : refused;
  const consistency = checkTreeConsistency(older, newer, tiles.read);
  if (consistency === "unproven") return retryableFailure("tiles_mismatch");
  return consistency === "forked" ? { ok: false, kind: "fork", evidence: { old: lastSeen.note, new: now.note } } : null;
};

/**
 * Creates the read methods that all ledger adapters share. The two parameters contain everything that differs between ledgers, such as
 * paths and signatures.
 */
export const createLogReader = (
  readPath: ReadPath,
  getNewestCheckpoint: (signal: AbortSignal) => Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure>,
): Pick<LedgerAdapter, "getHead" | "getInclusionProof" | "getConsistencyProof"> => {
  const proof = async (size: bigint, build: (read: NodeReader) => Uint8Array[], signal: AbortSignal) => {
    const tiles = createTileStore(readPath, signal);
    const refused = await tiles.load(listTilesRead(size, build));
    return refused ?? ({ ok: true, hashes: build(createTileNodeReader(size, tiles.read)) } as const);
  };
  return {
    getHead: async (lastSeen, signal) => {
      const current = await getNewestCheckpoint(signal);
      if (!current.ok) return current;
      const fault = await checkHistory(createTileStore(readPath, signal), lastSeen, current);
      return fault ?? { ok: true, verifiedTree: toSeenTree(current) };
    },
    getInclusionProof: (index, size, signal) => proof(size, (read) => buildInclusionProof(index, size, read), signal),
    getConsistencyProof: (from, to, signal) => proof(to, (read) => buildConsistencyProof(from, to, read), signal),
  };
};
