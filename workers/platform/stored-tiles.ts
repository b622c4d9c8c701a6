// Serves full tiles of the logs from R2, so that reading old tiles does not start the log's Durable Object. R2 is not trusted. If R2
// returns no tile, or a tile without the service's tag, the Durable Object serves it.
import { getLogPath } from "../../core/ledger/checkpoint.ts";
import { parseAuditOrigin } from "../../core/ledger/log-names.ts";
import { parseTilePath, tileWidth } from "../../core/ledger/tiles.ts";
import { hourMs, secondMs, type Clock, type Instant } from "../../core/time.ts";
import { createReadAccess } from "../../durable-objects/ledger-log/access.ts";
import { bytesResponse, publicAccess } from "../../durable-objects/transparency-log/responses.ts";
import { findTaggedTile, openTileBucket, TileConflict, type TileBucket } from "../../storage/log-tiles.ts";
import type { Env } from "../env.ts";
import { getErrorKind, type Log } from "../log.ts";

/** Returns the response to a request for a full tile of the log with this name, or null if the log's Durable Object must respond. */
export type ServeStoredTile = (origin: string, request: Request) => Promise<Response | null>;

const pauseMs = 30 * secondMs; // for how long reads skip R2 after it has failed
/**
 * The minimum time between log lines about conflicts in one log. They can be frequent: after an earlier log seed is removed, every read of
 * a tile that was tagged with it is a conflict.
 */
const conflictReportMs = hourMs;

export const createTileServer = (env: Env, baseUrl: string, clock: Clock, log: Log): ServeStoredTile => {
  const buckets = new Map<string, TileBucket | null>();
  let pausedUntil = 0;
  /** For each log, the earliest time at which a conflict is logged again. */
  const nextConflictReports = new Map<string, Instant>();

  const openBucket = (origin: string): TileBucket | null => {
    const known = buckets.get(origin);
    if (known !== undefined) return known;
    const bucket = openTileBucket(env.LOG_TILES, env.LOG_SEED as string | undefined, origin);
    buckets.set(origin, bucket);
    return bucket;
  };

  return async (origin, request) => {
    const bucket = openBucket(origin);
    const location = parseTilePath(new URL(request.url).pathname.slice(getLogPath(origin).length + 1));
    if (bucket === null || location?.width !== tileWidth || !["GET", "HEAD"].includes(request.method) || clock() < pausedUntil) return null;
    const access = parseAuditOrigin(baseUrl, origin) === null ? createReadAccess(env, request) : publicAccess;
    if (location.level === "entries" && access.entriesRefusal() !== null) return null;
    try {
      const tile = await findTaggedTile(bucket, location);
      if (tile === null) return null;
      return bytesResponse(request.method === "GET" ? tile : null, location.level !== "entries" || access.entriesArePublic);
    } catch (error) {
      const now = clock();
      if (!(error instanceof TileConflict)) {
        log.error({ at: "log tiles", error: getErrorKind(error) });
        pausedUntil = now + pauseMs;
      } else if (now >= (nextConflictReports.get(origin) ?? 0)) {
        log.error({ at: "log tiles", error: error.message });
        nextConflictReports.set(origin, now + conflictReportMs);
      }
      return null;
    }
  };
};
