// Base class of the two transparency logs, the embedded ledger and the audit log. It has the methods with which both logs report on
// themselves. Signing, proofs and reading over HTTP are in the neighboring files.
import { DurableObject } from "cloudflare:workers";
import { toBase64, fromHex, toHex } from "../../core/bytes.ts";
import { migrateSchema, type SchemaSteps } from "../schema-steps.ts";
import * as tables from "./tables.ts";

export interface LogState {
  /** A decimal number; roots are hex. */
  readonly size: string;
  /** The newest signed tree; null before the first. */
  readonly signed: { readonly size: string; readonly root: string } | null;
  /** The reason the log is frozen; null if it is not frozen. */
  readonly frozen: string | null;
}

export abstract class TransparencyLog<E> extends DurableObject<E> {
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
   * Detects storage that was restored to an earlier state. The arguments describe the largest tree that this log ever signed (decimal size,
   * hex root), which the caller stores outside the log. A log that does not begin with that tree freezes, so that it never signs a second
   * history. Returns false if the log is frozen. Throws a TypeError for a malformed size or root.
   */
  checkHighwater(size: string, root: string): boolean {
    const bytes = fromHex(root);
    if (bytes === null || !/^[0-9]{1,15}$/.test(size)) throw new TypeError("log: not a tree head");
    return this.ctx.storage.transactionSync(() => tables.freezeUnlessConsistent(this.ctx.storage.sql, { size: Number(size), root: bytes }));
  }

  /**
   * Returns the hashes, in base64, that prove to witnesses that one tree of this log extends the other. Throws a RangeError if the log does
   * not have both trees.
   */
  buildConsistencyProof(oldSize: string, newSize: string): string[] {
    const [from, to] = [Number(oldSize), Number(newSize)];
    if (!(from <= to && to <= tables.getLogSize(this.ctx.storage.sql))) throw new RangeError("log: there are no such trees");
    return tables.buildConsistencyProof(this.ctx.storage.sql, from, to).map(toBase64);
  }
}
