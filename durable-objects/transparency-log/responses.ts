// Serves a log over HTTP (c2sp.org/tlog-tiles): checkpoint, tiles, entries and individual proofs. Tiles and entries never change, so caches
// may keep them for a year.
import { buildInclusionProof, hashLength, parseCount } from "../../core/ledger/merkle.ts";
import { encodeEntryBundle, parseEntryBundle, parseTilePath, tileWidth } from "../../core/ledger/tiles.ts";
import { TileUnavailable, type RemovedTiles } from "./removed-tiles.ts";
import {
  formatProofFromTiles,
  isTileRemoved,
  findCheckpoint,
  findNewestCheckpoint,
  findPublishedTile,
  listPublishedEntries,
  type SignedCheckpoint,
} from "./tables.ts";

const immutableCacheControl = "max-age=31536000, immutable"; // one year

/** Returns a plain-text response that is never cached. */
export const textResponse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(text, {
    status,
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Access-Control-Allow-Origin": "*",
      ...headers,
    },
  });

export const bytesResponse = (bytes: Uint8Array<ArrayBuffer> | null, isPublic: boolean): Response =>
  new Response(bytes, {
    headers: {
      "Content-Type": "application/octet-stream",
      "Cache-Control": `${isPublic ? "public" : "private"}, ${immutableCacheControl}`,
      "X-Content-Type-Options": "nosniff",
      "Access-Control-Allow-Origin": "*",
      ...(isPublic ? {} : { Vary: "Authorization" }),
    },
  });

export const notFoundResponse = (): Response => textResponse(404, "Not found.\n");

export const frozenResponse = (): Response => textResponse(503, "The log is frozen until its operator has inspected it.\n");

export const checkpointResponse = (checkpoint: SignedCheckpoint | null): Response =>
  checkpoint === null ? frozenResponse() : textResponse(200, checkpoint.note);

export interface ReadAccess {
  readonly entriesArePublic: boolean;
  /** Returns null if the caller may read entries. Otherwise, returns the refusal. */
  readonly entriesRefusal: () => Response | null;
}

export const publicAccess: ReadAccess = { entriesArePublic: true, entriesRefusal: () => null };

const retryAfterSeconds = 30;

/** Calls `respond`. If that call needs a tile that is only in R2 and cannot be read, responds with 503. */
const withRemovedTiles = async (respond: () => Promise<Response>): Promise<Response> => {
  try {
    return await respond();
  } catch (error) {
    if (!(error instanceof TileUnavailable)) throw error;
    return textResponse(503, "This part of the log cannot be read right now. Try again later.\n", {
      "Retry-After": String(retryAfterSeconds),
    });
  }
};

/**
 * Serves the tile or entry bundle at `path` (`tile/...`). Responds with
 * - 404 if the path is malformed or the tile does not exist yet;
 * - the refusal of `access` if the sender may not read entries;
 * - 503 if the tile is only in R2 and cannot be read.
 */
export const tileResponse = async (sql: SqlStorage, path: string, access: ReadAccess, removed: RemovedTiles): Promise<Response> => {
  const address = parseTilePath(path);
  if (address === null) return notFoundResponse();
  const { level, n, width } = address;
  if (n > BigInt(Math.floor(Number.MAX_SAFE_INTEGER / tileWidth))) return notFoundResponse();
  if (level !== "entries") {
    if (isTileRemoved(sql, address))
      return withRemovedTiles(async () => bytesResponse((await removed.load(address)).slice(0, width * hashLength), true));
    const tile = findPublishedTile(sql, level, n, width);
    return tile === null ? notFoundResponse() : bytesResponse(new Uint8Array(tile), true);
  }
  const refusal = access.entriesRefusal();
  if (refusal !== null) return refusal;
  if (isTileRemoved(sql, address))
    return withRemovedTiles(async () => {
      const removedEntries = parseEntryBundle(await removed.load(address)) ?? [];
      return bytesResponse(encodeEntryBundle(removedEntries.slice(0, width)), access.entriesArePublic);
    });
  const entries = listPublishedEntries(sql, n, width);
  return entries === null ? notFoundResponse() : bytesResponse(encodeEntryBundle(entries), access.entriesArePublic);
};

/**
 * Serves `proof?index=&size=`: the proof that the signed checkpoint of that size (by default, the newest one) contains the entry. Responds
 * with
 * - 400 if a number is malformed;
 * - 404 if there is no such checkpoint or it does not contain the entry;
 * - 503 if the proof needs a tile that is only in R2 and cannot be read.
 */
export const proofResponse = async (sql: SqlStorage, query: URLSearchParams, removed: RemovedTiles): Promise<Response> => {
  const index = parseCount(query.get("index") ?? "");
  const requestedSize = query.get("size");
  const size = requestedSize === null ? null : parseCount(requestedSize);
  if (index === null || (requestedSize !== null && size === null))
    return textResponse(400, "index and size must be whole numbers in decimal notation.\n");
  const checkpoint = size === null ? findNewestCheckpoint(sql) : size < 2n ** 53n ? findCheckpoint(sql, Number(size)) : null;
  if (checkpoint === null || index >= BigInt(checkpoint.size))
    return textResponse(404, "No signed checkpoint of that size contains that entry.\n");
  return withRemovedTiles(async () => {
    const read = await removed.openReader(BigInt(checkpoint.size), (nodes) => buildInclusionProof(index, BigInt(checkpoint.size), nodes));
    return textResponse(200, formatProofFromTiles(Number(index), checkpoint, read));
  });
};
