// Uploads a log's full tiles to R2, and then deletes old ones from the log's tables. Appending and signing never wait for R2. Uploads that
// fail are retried with increasing delays.
import { computeRetryDelayMs, type Backoff } from "../../core/retry.ts";
import { minuteMs, secondMs, type Clock, type Instant } from "../../core/time.ts";
import { areBytesEqual } from "../../core/bytes.ts";
import { formatTilePath, tileWidth, type TileLocation } from "../../core/ledger/tiles.ts";
import { findTile, putTile, TileConflict, type TileBucket } from "../../storage/log-tiles.ts";
import {
  countRemovedTiles,
  countUploadedTiles,
  findFreezeReason,
  findMeta,
  findNewestCheckpoint,
  readFullTile,
  removeOldestTile,
  saveUploadedTiles,
  setMeta,
} from "./tables.ts";

/** The delay before an upload. Tiles that become full within this time are uploaded together. */
export const uploadDelayMs = 10 * secondMs;
const maxTilesPerRun = 256; // uploading these 65,536 entries takes about 13 seconds if each call takes 50 ms
const uploadBackoff: Backoff = { firstMs: uploadDelayMs, maxMs: 15 * minuteMs };

/**
 * Counts the level-0 tiles whose entries a signed checkpoint covers. Only these are uploaded, because other entries can change if the log
 * is restored to an earlier state.
 */
const countSignedTiles = (sql: SqlStorage): number => Math.floor((findNewestCheckpoint(sql)?.size ?? 0) / tileWidth);

/** Lists the tiles that become full when level-0 tile `n` does: this tile, its entry bundle, and sometimes tiles of higher levels. */
const listTilesCompletedBy = (n: number): TileLocation[] => {
  const tiles: TileLocation[] = [{ level: "entries", n: BigInt(n), width: tileWidth }];
  for (let level = 0, count = n + 1; Number.isInteger(count); level += 1, count /= tileWidth)
    tiles.push({ level, n: BigInt(count - 1), width: tileWidth });
  return tiles;
};

export interface TileArchiveOptions {
  readonly storage: DurableObjectStorage;
  readonly bucket: TileBucket;
  /** The number of newest level-0 tiles to keep in the log's tables, or null to keep all tiles. */
  readonly keptTiles: number | null;
  readonly clock: Clock;
}

export class TileArchive {
  readonly #storage: DurableObjectStorage;
  readonly #bucket: TileBucket;
  readonly #keptTiles: number | null;
  readonly #clock: Clock;
  #running: Promise<void> | undefined;

  constructor({ storage, bucket, keptTiles, clock }: TileArchiveOptions) {
    this.#storage = storage;
    this.#bucket = bucket;
    this.#keptTiles = keptTiles;
    this.#clock = clock;
  }

  /** Returns the time at which `run` should be called next, or null if there is nothing to do. */
  findNextRunAt(): Instant | null {
    return this.#canUpload() || this.#canRemove() ? Math.max(this.#clock() + uploadDelayMs, this.#getRetryAt()) : null;
  }

  /**
   * Uploads full tiles that are not in R2 yet, and then deletes old tiles that R2 has. Each step starts with the oldest tile and processes
   * at most 256 level-0 tiles. After a failure, calls do nothing until the retry time. Never rejects. Concurrent calls share one run.
   */
  run(): Promise<void> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  #canUpload(): boolean {
    const { sql } = this.#storage;
    return findFreezeReason(sql) === null && countUploadedTiles(sql) < countSignedTiles(sql);
  }

  /** Returns true if the oldest level-0 tile in the table is uploaded, and is older than the `keptTiles` newest signed tiles. */
  #canRemove(): boolean {
    const { sql } = this.#storage;
    if (this.#keptTiles === null || findFreezeReason(sql) !== null) return false;
    return countRemovedTiles(sql) < Math.min(countUploadedTiles(sql), countSignedTiles(sql) - this.#keptTiles);
  }

  #getRetryAt(): Instant {
    return Number(findMeta(this.#storage.sql, "upload_retry_at") ?? "0");
  }

  async #runOnce(): Promise<void> {
    const { sql } = this.#storage;
    if (this.#clock() < this.#getRetryAt()) return;
    try {
      for (let count = 0; count < maxTilesPerRun && this.#canUpload(); count += 1) await this.#uploadNext();
      for (let count = 0; count < maxTilesPerRun && this.#canRemove(); count += 1) await this.#removeNext();
      if (findMeta(sql, "upload_failures") !== null) setMeta(sql, "upload_failures", "0");
    } catch (error) {
      const failures = Number(findMeta(sql, "upload_failures") ?? "0") + 1;
      setMeta(sql, "upload_failures", String(failures));
      setMeta(sql, "upload_retry_at", String(this.#clock() + computeRetryDelayMs(uploadBackoff, failures)));
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
      console.error(JSON.stringify({ level: "error", at: "log-tiles.upload", error: reason }));
    }
  }

  /**
   * Uploads the next level-0 tile, and the tiles that became full with it. If the process dies before it saves the new count, the tiles are
   * uploaded again.
   */
  async #uploadNext(): Promise<void> {
    const { sql } = this.#storage;
    const n = countUploadedTiles(sql);
    await Promise.all(listTilesCompletedBy(n).map((location) => putTile(this.#bucket, location, readFullTile(sql, location))));
    saveUploadedTiles(sql, n + 1);
  }

  /** Deletes the oldest tile and its entries, after checking that R2 returns exactly the same bytes. */
  async #removeNext(): Promise<void> {
    const { sql } = this.#storage;
    const n = BigInt(countRemovedTiles(sql));
    const locations: TileLocation[] = [
      { level: 0, n, width: tileWidth },
      { level: "entries", n, width: tileWidth },
    ];
    await Promise.all(locations.map((location) => this.#ensureStored(location)));
    this.#storage.transactionSync(() => removeOldestTile(sql));
  }

  /**
   * Compares a tile with the bytes that R2 returns for it. If R2 does not have the tile, uploads it first. Throws TileConflict if the bytes
   * differ.
   */
  async #ensureStored(location: TileLocation): Promise<void> {
    const bytes = readFullTile(this.#storage.sql, location);
    const stored = await findTile(this.#bucket, location);
    if (stored === null) await putTile(this.#bucket, location, bytes);
    const copy = stored ?? (await findTile(this.#bucket, location));
    if (copy === null || !areBytesEqual(copy, bytes)) throw new TileConflict(formatTilePath(location));
  }
}
