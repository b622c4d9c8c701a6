// The keys and signed checkpoints of a log.
import { formatCheckpoint } from "../../core/ledger/checkpoint.ts";
import { parseNote, signNote, type NoteSigner } from "../../core/ledger/note.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { openKeysNamed, type KeySource } from "../../storage/note-keys.ts";
import * as tables from "./tables.ts";
import type { SignedCheckpoint } from "./tables.ts";

/** A log's name and its signing keys. There are two keys during a rotation. */
export interface LogKeys {
  readonly origin: string;
  readonly signers: readonly NoteSigner[];
}

/** Opens a log's keys. Throws if the log has no key or a secret is malformed. */
export const openLogKeys = async (source: KeySource, origin: string): Promise<LogKeys> => ({
  origin,
  signers: await openKeysNamed(source, origin),
});

const minSignSpacingMs = secondMs; // limits the number of checkpoints, because each one is stored forever

export const isSignedByAll = (note: string, signers: readonly NoteSigner[]): boolean => {
  const lines = parseNote(note)?.signatures ?? [];
  return signers.every(({ key }) => lines.some(({ name, keyId }) => name === key.name && keyId === key.keyId));
};

/**
 * Returns the newest signed checkpoint. First signs the current tree in these cases:
 * - There is no checkpoint yet.
 * - The tree has grown and the last checkpoint is at least a second old.
 * - A current key has not signed the last checkpoint.
 *
 * With `covers`, returns the newest checkpoint if it has that many entries. Otherwise, signs a new one, which can take up to a second.
 * Returns null if the log is frozen. Throws a RangeError if the log has fewer than `covers` entries. The tree and the signature are on disk
 * before the caller gets the checkpoint, so a published tree is never lost.
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
      const waitMs = age >= 0 && age < minSignSpacingMs && !waited ? minSignSpacingMs - age : 0; // no wait if the clock was set back
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
