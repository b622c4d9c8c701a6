// Reading a log of C2SP tiles that may be anybody's: tiles each once and a few at a time, proofs made of them, and whether one
// tree goes on from another. Nothing is believed: proofs are for the caller to check, and a log is accused of two histories only
// by tiles that prove themselves to be of a tree it signed.
import { base64Of, bytesOfBase64 } from "../../core/bytes.ts";
import type { Failure, Fork, LedgerAdapter, Retry, SeenTree } from "../../core/ledger/adapter.ts";
import type { Checkpoint } from "../../core/ledger/checkpoint.ts";
import { continuation, tilesForContinuation } from "../../core/ledger/continuation.ts";
import { countOf, hashBytes, type Hash, type TreeHead } from "../../core/ledger/merkle.ts";
import type { TrustedLogKey } from "../../core/ledger/receipt.ts";
import {
  consistencyProofFromTiles,
  inclusionProofFromTiles,
  tilePath,
  tilesReadBy,
  tileWidth,
  type ReadTile,
  type TilePlace,
} from "../../core/ledger/tiles.ts";
import { retry, type Answer } from "./exchange.ts";

export interface Ledger {
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
) => Promise<{ readonly ok: true; readonly answer: Answer } | Retry>;

const maxTileBytes = tileWidth * hashBytes;
const tilesAtOnce = 4; // of the six connections an invocation may hold open

/** Runs `work` on every item, `lanes` at a time; results in the order of the items. */
export const inLanes = async <T, R>(items: readonly T[], lanes: number, work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
};

export interface LogTiles {
  /** Fetches what is not here yet; null when all of it is. */
  readonly load: (places: readonly TilePlace[]) => Promise<Retry | null>;
  readonly read: ReadTile;
}

/** The tiles of one piece of work: fetched once each, exactly as long as their width says. */
export const openTiles = (readPath: ReadPath, signal: AbortSignal): LogTiles => {
  const tiles = new Map<string, Uint8Array>();

  /** The hashes of one tile. A log may drop a partial tile once the full one is there. */
  const fetchTile = async ({ level, n, width }: TilePlace): Promise<Uint8Array | Retry> => {
    for (const asked of width === tileWidth ? [width] : [width, tileWidth]) {
      const sent = await readPath(tilePath({ level, n, width: asked }), maxTileBytes, signal);
      if (!sent.ok) return sent;
      const { status, body } = sent.answer;
      if (status === 200) return body.length === asked * hashBytes ? body.subarray(0, width * hashBytes) : retry("tile_malformed");
      if (status !== 404) return retry(`tile_http_${status}`);
    }
    return retry("tile_missing");
  };

  return {
    load: async (places) => {
      const wanted = [...new Map(places.map((place) => [tilePath(place), place])).entries()].filter(([path]) => !tiles.has(path));
      let refused: Retry | null = null;
      await inLanes(wanted, tilesAtOnce, async ([path, place]) => {
        if (refused !== null) return;
        const tile = await fetchTile(place);
        if ("ok" in tile) refused = tile;
        else tiles.set(path, tile);
      });
      return refused;
    },
    read: (level, n, width) => tiles.get(tilePath({ level, n, width })) ?? new Uint8Array(0),
  };
};

const headOf = ({ size, root }: SeenTree): TreeHead => ({ size: countOf(size) ?? 0n, root: bytesOfBase64(root) ?? new Uint8Array(0) });

/** A checkpoint that a pinned key signed. */
export interface ReadCheckpoint {
  readonly note: string;
  readonly checkpoint: Checkpoint;
}

export const seenOf = ({ note, checkpoint }: ReadCheckpoint): SeenTree => ({
  size: checkpoint.size.toString(),
  root: base64Of(checkpoint.root),
  note,
});

/**
 * Null when the tree just read and the last one seen are one history, whichever is the larger. A checkpoint smaller than one
 * seen before may come out of a cache; a log that cannot show the larger tree any more is asked again, because without its
 * tiles nothing proves that it changed anything but its mind: once it has grown past the old size, they do.
 */
export const historyFault = async (
  hash: Hash,
  tiles: LogTiles,
  lastSeen: SeenTree | null,
  now: ReadCheckpoint,
): Promise<Retry | Fork | null> => {
  if (lastSeen === null) return null;
  const seen = headOf(lastSeen);
  const [older, newer] = seen.size <= now.checkpoint.size ? [seen, now.checkpoint] : [now.checkpoint, seen];
  const refused = await tiles.load(tilesForContinuation(older.size, newer.size));
  if (refused !== null) return newer === seen && refused.code === "tile_missing" ? retry("checkpoint_behind") : refused;
  const shown = continuation(hash, older, newer, tiles.read);
  if (shown === "unproven") return retry("tiles_mismatch");
  return shown === "forked" ? { ok: false, kind: "fork", evidence: { old: lastSeen.note, new: now.note } } : null;
};

/** The reading half of a ledger's adapter, whatever its addresses and however it signs. */
export const logReader = (
  hash: Hash,
  readPath: ReadPath,
  newest: (signal: AbortSignal) => Promise<({ readonly ok: true } & ReadCheckpoint) | Failure>,
): Pick<LedgerAdapter, "head" | "inclusion" | "consistency"> => {
  const proof = async (build: (hash: Hash, read: ReadTile) => Uint8Array[], signal: AbortSignal) => {
    const tiles = openTiles(readPath, signal);
    const refused = await tiles.load(tilesReadBy(build));
    return refused ?? ({ ok: true, hashes: build(hash, tiles.read) } as const);
  };
  return {
    head: async (lastSeen, signal) => {
      const read = await newest(signal);
      if (!read.ok) return read;
      const fault = await historyFault(hash, openTiles(readPath, signal), lastSeen, read);
      return fault ?? { ok: true, seen: seenOf(read) };
    },
    inclusion: (index, size, signal) => proof((by, read) => inclusionProofFromTiles(by, index, size, read), signal),
    consistency: (from, to, signal) => proof((by, read) => consistencyProofFromTiles(by, from, to, read), signal),
  };
};
