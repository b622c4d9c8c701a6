// Reading a log of C2SP tiles that may be anybody's: tiles each once and a few at a time, proofs made of them, and whether one
// tree goes on from another. Nothing is believed: proofs are for the caller to check, and a log is accused of two histories only
// by tiles that prove themselves to be of a tree it signed.
import { toBase64, fromBase64 } from "../../core/bytes.ts";
import type { LedgerFailure, ForkEvidence, LedgerAdapter, RetryableFailure, VerifiedTree } from "../../core/ledger/adapter.ts";
import type { Checkpoint } from "../../core/ledger/checkpoint.ts";
import { checkTreeConsistency, listConsistencyTiles } from "../../core/ledger/tree-consistency.ts";
import { parseCount, hashLength, type HashFunction, type TreeHead } from "../../core/ledger/merkle.ts";
import type { TrustedLogKey } from "../../core/ledger/receipt.ts";
import {
  buildConsistencyProofFromTiles,
  buildInclusionProofFromTiles,
  formatTilePath,
  listTilesRead,
  tileWidth,
  type TileReader,
  type TileLocation,
} from "../../core/ledger/tiles.ts";
import { retryableFailure, type ExchangeResponse } from "./exchange.ts";

export interface LedgerEndpoint {
  /** Name of the log in its checkpoints. */
  readonly origin: string;
  readonly role: "primary" | "mirror";
  /** Address of the log, without a trailing slash; paths of the interface follow it. */
  readonly baseUrl: string;
  /** Pinned, never fetched from the log. */
  readonly trust: readonly TrustedLogKey[];
}

/** One GET below the address of the log. */
export type ReadPath = (
  path: string,
  maxBytes: number,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly answer: ExchangeResponse } | RetryableFailure>;

const maxTileBytes = tileWidth * hashLength;
const maxConcurrentTiles = 4; // of the six connections an invocation may hold open

/** Runs `work` on every item, `lanes` at a time; results in the order of the items. */
export const mapConcurrently = async <T, R>(items: readonly T[], lanes: number, work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
};

export interface TileStore {
  /** Fetches what is not here yet; null when all of it is. */
  readonly load: (places: readonly TileLocation[]) => Promise<RetryableFailure | null>;
  readonly read: TileReader;
}

/** The tiles of one piece of work: fetched once each, exactly as long as their width says. */
export const createTileStore = (readPath: ReadPath, signal: AbortSignal): TileStore => {
  const tiles = new Map<string, Uint8Array>();

  /** The hashes of one tile. A log may drop a partial tile once the full one is there. */
  const fetchTile = async ({ level, n, width }: TileLocation): Promise<Uint8Array | RetryableFailure> => {
    for (const asked of width === tileWidth ? [width] : [width, tileWidth]) {
      const sent = await readPath(formatTilePath({ level, n, width: asked }), maxTileBytes, signal);
      if (!sent.ok) return sent;
      const { status, body } = sent.answer;
      if (status === 200)
        return body.length === asked * hashLength ? body.subarray(0, width * hashLength) : retryableFailure("tile_malformed");
      if (status !== 404) return retryableFailure(`tile_http_${status}`);
    }
    return retryableFailure("tile_missing");
  };

  return {
    load: async (places) => {
      const wanted = [...new Map(places.map((place) => [formatTilePath(place), place])).entries()].filter(([path]) => !tiles.has(path));
      let refused: RetryableFailure | null = null;
      await mapConcurrently(wanted, maxConcurrentTiles, async ([path, place]) => {
        if (refused !== null) return;
        const tile = await fetchTile(place);
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

/** A checkpoint that a pinned key signed. */
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
 * Null when the tree just read and the last one seen are one history, whichever is the larger. A checkpoint smaller than one
 * seen before may come out of a cache; a log that cannot show the larger tree any more is asked again, because without its
 * tiles nothing proves that it changed anything but its mind: once it has grown past the old size, they do.
 */
export const checkHistory = async (
  hash: HashFunction,
  tiles: TileStore,
  lastSeen: VerifiedTree | null,
  now: VerifiedCheckpoint,
): Promise<RetryableFailure | ForkEvidence | null> => {
  if (lastSeen === null) return null;
  const seen = toTreeHead(lastSeen);
  const [older, newer] = seen.size <= now.checkpoint.size ? [seen, now.checkpoint] : [now.checkpoint, seen];
  const refused = await tiles.load(listConsistencyTiles(older.size, newer.size));
  if (refused !== null) return newer === seen && refused.code === "tile_missing" ? retryableFailure("checkpoint_behind") : refused;
  const shown = checkTreeConsistency(hash, older, newer, tiles.read);
  if (shown === "unproven") return retryableFailure("tiles_mismatch");
  return shown === "forked" ? { ok: false, kind: "fork", evidence: { old: lastSeen.note, new: now.note } } : null;
};

/** The reading half of a ledger's adapter, whatever its addresses and however it signs. */
export const createLogReader = (
  hash: HashFunction,
  readPath: ReadPath,
  newest: (signal: AbortSignal) => Promise<({ readonly ok: true } & VerifiedCheckpoint) | LedgerFailure>,
): Pick<LedgerAdapter, "getHead" | "getInclusionProof" | "getConsistencyProof"> => {
  const proof = async (build: (hash: HashFunction, read: TileReader) => Uint8Array[], signal: AbortSignal) => {
    const tiles = createTileStore(readPath, signal);
    const refused = await tiles.load(listTilesRead(build));
    return refused ?? ({ ok: true, hashes: build(hash, tiles.read) } as const);
  };
  return {
    getHead: async (lastSeen, signal) => {
      const read = await newest(signal);
      if (!read.ok) return read;
      const fault = await checkHistory(hash, createTileStore(readPath, signal), lastSeen, read);
      return fault ?? { ok: true, seen: toSeenTree(read) };
    },
    getInclusionProof: (index, size, signal) => proof((by, read) => buildInclusionProofFromTiles(by, index, size, read), signal),
    getConsistencyProof: (from, to, signal) => proof((by, read) => buildConsistencyProofFromTiles(by, from, to, read), signal),
  };
};
