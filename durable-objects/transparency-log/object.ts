// The base class of the two transparency logs: the embedded ledger and the audit log.
import { DurableObject } from "cloudflare:workers";
import { toBase64, fromHex, toHex } from "../../core/bytes.ts";
import { openTileBucket, type TileBucket } from "../../storage/log-tiles.ts";
import { migrateSchema, type SchemaSteps } from "../schema-steps.ts";
import * as tables from "./tables.ts";
import { RemovedTiles } from "./removed-tiles.ts";
import { TileArchive } from "./tile-archive.ts";

export interface TileEnv {
  /** The bucket for full tiles. Without a bucket, nothing is uploaded or deleted. */
  readonly LOG_TILES?: R2Bucket;
  /** The seed from which the keys of logs are derived. A log with a configured secret key does not use it. */
  readonly LOG_SEED?: string;
}

export interface LogState {
  readonly size: string;
  /** The newest signed tree, with its root in hex. Null if the log has not signed a tree yet. */
  readonly signed: { readonly size: string; readonly root: string } | null;
  /** The reason why the log is frozen, or null if it is not frozen. */
  readonly frozen: string | null;
}

export abstract class TransparencyLog<E extends TileEnv> extends DurableObject<E> {
  #bucket: TileBucket | null | undefined;
  #archive: TileArchive | undefined;
  #removedTiles: RemovedTiles | undefined;

  constructor(ctx: DurableObjectState, env: E, steps: SchemaSteps) {
    super(ctx, env);
    migrateSchema(ctx.storage, steps);
  }

  getState(): LogState {
    const { sql } = this.ctx.storage;
    const newest = tables.findNewestCheckpoint(sql);
    return {
      size: String(tables.getLogSize(sql)),
      signed: newest === null ? null : { size: String(newest.size), root: toHex(newest.root) },
      frozen: tables.findFreezeReason(sql),
    };
  }

  /**
   * Freezes the log if its storage was restored to an earlier state, so that it never signs a second history. The caller passes the size
   * (decimal) and root (hex) of the largest tree that the log has signed, from a copy that is stored elsewhere. Returns false if the log is
   * frozen. Throws a TypeError for a malformed size or root.
   */
  checkHighwater(size: string, root: string): boolean {
    const bytes = fromHex(root);
    if (bytes === null || !/^[0-9]{1,15}$/.test(size)) throw new TypeError("log: not a tree head");
    return this.ctx.storage.transactionSync(() => tables.freezeUnlessConsistent(this.ctx.storage.sql, { size: Number(size), root: bytes }));
  }

  /**
   * Returns the hashes (base64) that prove that the tree of size `newSize` extends the tree of size `oldSize`. Throws a RangeError if
   * `newSize` is larger than the log or smaller than `oldSize`.
   */
  buildConsistencyProof(oldSize: string, newSize: string): string[] {
    const [from, to] = [Number(oldSize), Number(newSize)];
    if (!(from <= to && to <= tables.getLogSize(this.ctx.storage.sql))) throw new RangeError("log: there are no such trees");
    return tables.buildConsistencyProof(this.ctx.storage.sql, from, to).map(toBase64);
  }

  /** Returns the log's name, or null if the log is not configured. */
  protected abstract getOrigin(): string | null;

  /** Returns the number of newest level-0 tiles to keep in the log's tables, or null to keep all tiles. */
  protected abstract getKeptTiles(): number | null;

  #getBucket(): TileBucket | null {
    const origin = this.#bucket === undefined ? this.getOrigin() : null;
    if (origin !== null) this.#bucket = openTileBucket(this.env.LOG_TILES, this.env.LOG_SEED, origin);
    return this.#bucket ?? null;
  }

  /** Returns the archive of tiles, or null if this deployment has no bucket for tiles. */
  protected getArchive(): TileArchive | null {
    const bucket = this.#getBucket();
    if (bucket === null) return null;
    this.#archive ??= new TileArchive({ storage: this.ctx.storage, bucket, keptTiles: this.getKeptTiles(), clock: Date.now });
    return this.#archive;
  }

  protected getRemovedTiles(): RemovedTiles {
    this.#removedTiles ??= new RemovedTiles(this.ctx.storage.sql, this.#getBucket());
    return this.#removedTiles;
  }

  /** Sets an alarm if there are tiles to upload or delete, unless an alarm is already set for an earlier time. */
  protected async requestUpload(): Promise<void> {
    const nextAt = this.getArchive()?.findNextRunAt() ?? null;
    if (nextAt === null) return;
    const alarmAt = await this.ctx.storage.getAlarm();
    if (alarmAt === null || alarmAt > nextAt) await this.ctx.storage.setAlarm(nextAt);
  }
}
