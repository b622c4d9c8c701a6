// Uploads a log's full tiles to R2. Nothing that writes or signs waits for R2: an upload that fails is repeated with increasing delays.
import { computeRetryDelayMs, type Backoff } from "../../core/retry.ts";
import { minuteMs, secondMs, type Clock, type Instant } from "../../core/time.ts";
import { tileWidth, type TileLocation } from "../../core/ledger/tiles.ts";
import { putTile, type TileBucket } from "../../storage/log-tiles.ts";
import {
  countUploadedTiles,
  findFreezeReason,
  findMeta,
  findNewestCheckpoint,
  readFullTile,
  saveUploadedTiles,
  setMeta,
} from "./tables.ts";

/** How long full tiles are collected before they are uploaded. Until then, the object serves them. */
export const uploadDelayMs = 10 * secondMs;
const maxTilesPerRun = 256; // 65,536 entries; a run takes about 15 seconds if a call takes 50 ms
const uploadBackoff: Backoff = { firstMs: uploadDelayMs, maxMs: 15 * minuteMs };

/**
 * Counts the level-0 tiles whose entries are all covered by a signed checkpoint. Only these are uploaded: if a log is restored to an earlier
 * state, entries that it has not signed can change.
 */
const countSignedTiles = (sql: SqlStorage): number => Math.floor((findNewestCheckpoint(sql)?.size ?? 0) / tileWidth);

/** Lists the tiles that become full with the last entry of level-0 tile `n`: its entries, the tile, and possibly tiles of higher levels. */
const listTilesCompletedBy = (n: number): TileLocation[] => {
  const tiles: TileLocation[] = [{ level: "entries", n: BigInt(n), width: tileWidth }];
  for (let level = 0, count = n + 1; Number.isInteger(count); level += 1, count /= tileWidth)
    tiles.push({ level, n: BigInt(count - 1), width: tileWidth });
  return tiles;
};

export class TileArchive {
  readonly #storage: DurableObjectStorage;
  readonly #tiles: TileBucket;
  readonly #clock: Clock;
  #running: Promise<void> | undefined;

  constructor(storage: DurableObjectStorage, tiles: TileBucket, clock: Clock) {
    this.#storage = storage;
    this.#tiles = tiles;
    this.#clock = clock;
  }

  /** Returns when `run` should be called next, or null if there is nothing to upload. */
  findNextRunAt(): Instant | null {
    return this.#hasWork() ? Math.max(this.#clock() + uploadDelayMs, this.#getRetryAt()) : null;
  }

  /**
   * Uploads the tiles that are not in R2 yet, oldest first. After a failed upload, does nothing until its retry is due. Never rejects.
   * Concurrent calls share one run.
   */
  run(): Promise<void> {
    this.#running ??= this.#uploadAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  #hasWork(): boolean {
    const { sql } = this.#storage;
    return findFreezeReason(sql) === null && countUploadedTiles(sql) < countSignedTiles(sql);
  }

  #getRetryAt(): Instant {
    return Number(findMeta(this.#storage.sql, "upload_retry_at") ?? "0");
  }

  async #uploadAll(): Promise<void> {
    const { sql } = this.#storage;
    if (!this.#hasWork() || this.#clock() < this.#getRetryAt()) return;
    try {
      for (let count = 0; count < maxTilesPerRun && this.#hasWork(); count += 1) await this.#uploadNext();
      setMeta(sql, "upload_failures", "0");
    } catch (error) {
      const failures = Number(findMeta(sql, "upload_failures") ?? "0") + 1;
      setMeta(sql, "upload_failures", String(failures));
      setMeta(sql, "upload_retry_at", String(this.#clock() + computeRetryDelayMs(uploadBackoff, failures)));
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
      console.error(JSON.stringify({ level: "error", at: "log-tiles.upload", error: reason }));
    }
  }

  /** Uploads all tiles that the next level-0 tile completes. If the object dies before it counts them, it uploads the same bytes again. */
  async #uploadNext(): Promise<void> {
    const { sql } = this.#storage;
    const n = countUploadedTiles(sql);
    await Promise.all(listTilesCompletedBy(n).map((location) => putTile(this.#tiles, location, readFullTile(sql, location))));
    saveUploadedTiles(sql, n + 1);
  }
}
