// A transparency log as an object: appends are one synchronous transaction, signatures come after it. Two logs are made of
// it: the embedded ledger and the audit log. Free functions do the work; the class adds what every log answers.
import { DurableObject } from "cloudflare:workers";
import { toBase64, fromHex, toHex } from "../../core/bytes.ts";
import { formatCheckpoint } from "../../core/ledger/checkpoint.ts";
import { keyKinds, parseNote, signNote, type NoteSigner } from "../../core/ledger/note.ts";
import { formatTlogProof } from "../../core/ledger/tlog-proof.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { openNoteSigner } from "../../storage/note-keys.ts";
import { migrateSchema, type SchemaSteps } from "../schema-steps.ts";
import * as tables from "./tables.ts";
import type { SignedCheckpoint } from "./tables.ts";

/** A log's name and the keys that sign for it: one, or two while it changes from one to the other. */
export interface LogKeys {
  readonly origin: string;
  readonly signers: readonly NoteSigner[];
}

/** Opens note-format secrets, separated by spaces. All must be log keys of one name, which is the log's origin. Throws otherwise. */
export const openLogKeys = async (secrets: string): Promise<LogKeys> => {
  const signers = await Promise.all(
    secrets
      .split(/\s+/)
      .filter((secret) => secret !== "")
      .map(openNoteSigner),
  );
  const [first] = signers;
  if (first === undefined || !signers.every(({ key }) => key.kind === keyKinds.log && key.name === first.key.name)) {
    throw new Error("log keys: not the keys of one log");
  }
  return { origin: first.key.name, signers };
};

const minSignSpacingMs = secondMs; // a checkpoint a second at most, however many readers ask: each is kept for good

export const isSignedByAll = (note: string, signers: readonly NoteSigner[]): boolean => {
  const lines = parseNote(note)?.signatures ?? [];
  return signers.every(({ key }) => lines.some(({ name, keyId }) => name === key.name && keyId === key.keyId));
};

/**
 * The newest signed checkpoint, signing the committed tree if it has grown and a second has passed. With `covers` it waits out
 * that second instead of answering with a checkpoint smaller than that. Null from a log that is frozen.
 * The tree is on disk before it is signed, and the signature before it leaves: a crash in between leaves a tree nobody has seen.
 */
export const ensureSignedCheckpoint = async (
  storage: DurableObjectStorage,
  keys: LogKeys,
  clock: Clock,
  covers = 0,
): Promise<SignedCheckpoint | null> => {
  const { sql } = storage;
  for (let waited = false; ; waited = true) {
    if (tables.findFreezeReason(sql) !== null) return null;
    const newest = tables.findNewestCheckpoint(sql);
    const size = tables.getLogSize(sql);
    if (size < covers) throw new RangeError("log: there is no such tree to sign yet");
    if (newest !== null && newest.size <= size && isSignedByAll(newest.note, keys.signers)) {
      if (newest.size === size || (covers > 0 && newest.size >= covers)) return newest;
      const age = clock() - newest.signedAt;
      const waitMs = age >= 0 && age < minSignSpacingMs && !waited ? minSignSpacingMs - age : 0; // a clock that was set back holds nobody up
      if (waitMs > 0 && covers === 0) return newest;
      if (waitMs > 0) {
        await scheduler.wait(waitMs);
        continue;
      }
    }
    const head = tables.findHeadToSign(sql);
    if (head === null) return null;
    await storage.sync();
    const note = await signNote(formatCheckpoint({ origin: keys.origin, ...head }), keys.signers);
    const signed = { size, root: head.root, note, signedAt: clock() };
    return storage.transactionSync(() => tables.saveCheckpoint(sql, signed));
  }
};

/** The text tlog-proof of the entry at `index` against a checkpoint that covers it. */
export const buildTlogProof = (sql: SqlStorage, index: number, checkpoint: SignedCheckpoint): string =>
  formatTlogProof({ index: BigInt(index), hashes: tables.buildInclusionProof(sql, index, checkpoint.size), checkpoint: checkpoint.note });

/** What a log answers to its own service about itself. */
export interface LogState {
  readonly size: string;
  /** The newest tree that was signed; sizes are decimal, roots hex. */
  readonly signed: { readonly size: string; readonly root: string } | null;
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
   * Guards against storage that was set back: the caller remembers, elsewhere, the largest tree this log ever signed. A log
   * that no longer begins with it freezes, rather than sign a second history. False when it is frozen.
   */
  checkHighwater(size: string, root: string): boolean {
    const bytes = fromHex(root);
    if (bytes === null || !/^[0-9]{1,15}$/.test(size)) throw new TypeError("log: not a tree head");
    return this.ctx.storage.transactionSync(() => tables.freezeUnlessConsistent(this.ctx.storage.sql, { size: Number(size), root: bytes }));
  }

  /** Base64 hashes that connect two trees of this log, for witnesses. */
  buildConsistencyProof(oldSize: string, newSize: string): string[] {
    const [from, to] = [Number(oldSize), Number(newSize)];
    if (!(from <= to && to <= tables.getLogSize(this.ctx.storage.sql))) throw new RangeError("log: there are no such trees");
    return tables.buildConsistencyProof(this.ctx.storage.sql, from, to).map(toBase64);
  }
}
