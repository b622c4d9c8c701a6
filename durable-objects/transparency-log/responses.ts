// What anyone may read from a log over HTTP (c2sp.org/tlog-tiles): its checkpoint, tiles, entries and single proofs. Tiles and
// entries never change under their address, so they may be kept for good; the checkpoint is new every second.
import { parseCount } from "../../core/ledger/merkle.ts";
import { encodeEntryBundle, parseTilePath, tileWidth } from "../../core/ledger/tiles.ts";
import { findCheckpoint, findNewestCheckpoint, listPublishedEntries, findPublishedTile, type SignedCheckpoint } from "./tables.ts";
import { buildTlogProof } from "./object.ts";

const immutableCacheControl = "max-age=31536000, immutable"; // a year, the longest that caches honour

/** Plain text that is never cached: refusals and everything that changes. */
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

const bytesResponse = (bytes: Uint8Array<ArrayBuffer>, isPublic: boolean): Response =>
  new Response(bytes, {
    headers: {
      "Content-Type": "application/octet-stream",
      "Cache-Control": `${isPublic ? "public" : "private"}, ${immutableCacheControl}`,
      "X-Content-Type-Options": "nosniff",
      "Access-Control-Allow-Origin": "*",
      ...(isPublic ? {} : { Vary: "Authorization" }),
    },
  });

export const notFoundResponse = (): Response => textResponse(404, "There is nothing here.\n");

/** Said by a log that has found its own past changed. */
export const frozenResponse = (): Response =>
  textResponse(503, "The log does not sign or take anything until its operator has looked at it.\n");

export const checkpointResponse = (checkpoint: SignedCheckpoint | null): Response =>
  checkpoint === null ? frozenResponse() : textResponse(200, checkpoint.note);

export interface ReadRights {
  readonly entriesArePublic: boolean;
  /** Null when this reader may read entries; the refusal otherwise. */
  readonly entriesRefusal: () => Response | null;
}

/** The tile or bundle at `path` (`tile/...`). 404 for what is not an address, and for what the log does not hold yet. */
export const tileResponse = (sql: SqlStorage, path: string, rights: ReadRights): Response => {
  const place = parseTilePath(path);
  if (place === null) return notFoundResponse();
  const { level, n, width } = place;
  if (n > BigInt(Math.floor(Number.MAX_SAFE_INTEGER / tileWidth))) return notFoundResponse();
  if (level !== "entries") {
    const tile = findPublishedTile(sql, level, n, width);
    return tile === null ? notFoundResponse() : bytesResponse(new Uint8Array(tile), true);
  }
  const refusal = rights.entriesRefusal();
  if (refusal !== null) return refusal;
  const entries = listPublishedEntries(sql, n, width);
  return entries === null ? notFoundResponse() : bytesResponse(encodeEntryBundle(entries), rights.entriesArePublic);
};

/** `proof?index=&size=`: the proof of one entry against a signed checkpoint, the newest unless a size is named. */
export const proofResponse = (sql: SqlStorage, query: URLSearchParams): Response => {
  const index = parseCount(query.get("index") ?? "");
  const wanted = query.get("size");
  const size = wanted === null ? null : parseCount(wanted);
  if (index === null || (wanted !== null && size === null)) return textResponse(400, "index and size are decimal counts.\n");
  const checkpoint = size === null ? findNewestCheckpoint(sql) : size < 2n ** 53n ? findCheckpoint(sql, Number(size)) : null;
  if (checkpoint === null || index >= BigInt(checkpoint.size))
    return textResponse(404, "No signed checkpoint of that size holds that entry.\n");
  return textResponse(200, buildTlogProof(sql, Number(index), checkpoint));
};
