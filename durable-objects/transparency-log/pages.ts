// What anyone may read from a log over HTTP (c2sp.org/tlog-tiles): its checkpoint, tiles, entries and single proofs. Tiles and
// entries never change under their address, so they may be kept for good; the checkpoint is new every second.
import { countOf } from "../../core/ledger/merkle.ts";
import { entryBundle, placeOfTilePath, tileWidth } from "../../core/ledger/tiles.ts";
import { checkpointAt, newestCheckpoint, publishedEntries, publishedTile, type SignedCheckpoint } from "./tables.ts";
import { tlogProofAt } from "./object.ts";

const forEver = "max-age=31536000, immutable"; // a year, the longest that caches honour

/** Plain text that is never cached: refusals and everything that changes. */
export const plain = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response =>
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

const octets = (bytes: Uint8Array<ArrayBuffer>, isPublic: boolean): Response =>
  new Response(bytes, {
    headers: {
      "Content-Type": "application/octet-stream",
      "Cache-Control": `${isPublic ? "public" : "private"}, ${forEver}`,
      "X-Content-Type-Options": "nosniff",
      "Access-Control-Allow-Origin": "*",
      ...(isPublic ? {} : { Vary: "Authorization" }),
    },
  });

export const nothingHere = (): Response => plain(404, "There is nothing here.\n");

/** Said by a log that has found its own past changed. */
export const frozenPage = (): Response => plain(503, "The log does not sign or take anything until its operator has looked at it.\n");

export const checkpointPage = (checkpoint: SignedCheckpoint | null): Response =>
  checkpoint === null ? frozenPage() : plain(200, checkpoint.note);

export interface ReadRights {
  readonly entriesArePublic: boolean;
  /** Null when this reader may read entries; the refusal otherwise. */
  readonly entriesRefusal: () => Response | null;
}

/** The tile or bundle at `path` (`tile/...`). 404 for what is not an address, and for what the log does not hold yet. */
export const tilePage = (sql: SqlStorage, path: string, rights: ReadRights): Response => {
  const place = placeOfTilePath(path);
  if (place === null) return nothingHere();
  const { level, n, width } = place;
  if (n > BigInt(Math.floor(Number.MAX_SAFE_INTEGER / tileWidth))) return nothingHere();
  if (level !== "entries") {
    const tile = publishedTile(sql, level, n, width);
    return tile === null ? nothingHere() : octets(new Uint8Array(tile), true);
  }
  const refusal = rights.entriesRefusal();
  if (refusal !== null) return refusal;
  const entries = publishedEntries(sql, n, width);
  return entries === null ? nothingHere() : octets(entryBundle(entries), rights.entriesArePublic);
};

/** `proof?index=&size=`: the proof of one entry against a signed checkpoint, the newest unless a size is named. */
export const proofPage = (sql: SqlStorage, query: URLSearchParams): Response => {
  const index = countOf(query.get("index") ?? "");
  const wanted = query.get("size");
  const size = wanted === null ? null : countOf(wanted);
  if (index === null || (wanted !== null && size === null)) return plain(400, "index and size are decimal counts.\n");
  const checkpoint = size === null ? newestCheckpoint(sql) : size < 2n ** 53n ? checkpointAt(sql, Number(size)) : null;
  if (checkpoint === null || index >= BigInt(checkpoint.size)) return plain(404, "No signed checkpoint of that size holds that entry.\n");
  return plain(200, tlogProofAt(sql, Number(index), checkpoint));
};
