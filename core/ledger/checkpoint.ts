// c2sp.org/tlog-checkpoint: what a log says about itself and signs. Exactly three lines here: origin, size, root. Further
// lines are allowed by the format and refused by us, because nobody could audit what they say.
import { toBase64, fromBase64 } from "../bytes.ts";
import { fail, type Verdict } from "../result.ts";
import { parseCount, hashLength, type TreeHead } from "./merkle.ts";
import {
  isKeyName,
  keyKinds,
  parseNote,
  verifyNote,
  type NoteCrypto,
  type NoteFault,
  type VerifiedSignature,
  type VerifierKey,
} from "./note.ts";

export interface Checkpoint extends TreeHead {
  /** The log's name: its address without the scheme. Also the name of its key. */
  readonly origin: string;
}

/** True for what one of our logs may be called: it is a key name, and a path follows its host. */
export const isTlogOrigin = (text: string): boolean => isKeyName(text) && /^[^/]+(?:\/[^/]+)+$/.test(text);

/** Path of a log's name: `/ledger/2026h2` of `api.example.com/ledger/2026h2`. */
export const getLogPath = (origin: string): string => origin.slice(origin.indexOf("/"));

export const formatCheckpoint = ({ origin, size, root }: Checkpoint): string => {
  if (!isTlogOrigin(origin) || root.length !== hashLength || size < 0n) throw new TypeError("checkpoint: not a checkpoint of ours");
  return `${origin}\n${size}\n${toBase64(root)}\n`;
};

/** Null unless the text is exactly three lines in their one spelling. The origin is any line: other logs choose their own. */
export const parseCheckpointText = (text: string): Checkpoint | null => {
  const [, origin = "", size = "", root = ""] = /^([^\n]+)\n([^\n]+)\n([^\n]+)\n$/.exec(text) ?? [];
  const count = parseCount(size);
  const bytes = fromBase64(root);
  return origin === "" || count === null || bytes?.length !== hashLength ? null : { origin, size: count, root: bytes };
};

/** What a signed checkpoint claims, before anyone looked at its signatures; null when it is not one. */
export const parseCheckpoint = (note: string): Checkpoint | null => {
  const parsed = parseNote(note);
  return parsed === null ? null : parseCheckpointText(parsed.text);
};

/** The note without the lines of others: what the log itself wrote, and what a time stamp is over. Null for what is no checkpoint. */
export const stripCosignatures = (note: string): string | null => {
  const parsed = parseNote(note);
  const origin = parsed === null ? undefined : parseCheckpointText(parsed.text)?.origin;
  if (parsed === null || origin === undefined) return null;
  const lines = note.slice(parsed.text.length + 1).split(/(?<=\n)/);
  return `${parsed.text}\n${lines.filter((_, at) => parsed.signatures[at]?.name === origin).join("")}`;
};

export type CheckpointFault = "note_malformed" | NoteFault | "checkpoint_malformed" | "origin_mismatch";
export interface CosignedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** By the known witnesses, each with its time. */
  readonly cosignatures: readonly VerifiedSignature[];
}
export type CheckpointVerdict = Verdict<CosignedCheckpoint, CheckpointFault>;

/** What a reader of checkpoints trusts: one log, under each of its keys, and the witnesses it knows. */
export interface CheckpointTrust {
  readonly origin: string;
  readonly keys: readonly VerifierKey[];
  readonly witnesses?: readonly VerifierKey[];
}

/** The checkpoint in `note`, if the trusted log signed it. However many witnesses signed, without the log it is nothing. */
export const verifyCheckpoint = async (crypto: NoteCrypto, note: string, trust: CheckpointTrust): Promise<CheckpointVerdict> => {
  const parsed = parseNote(note);
  if (parsed === null) return fail("note_malformed");
  const keys = trust.keys.filter((key) => key.kind === keyKinds.log);
  const witnesses = (trust.witnesses ?? []).filter((key) => key.kind === keyKinds.witness);
  const verdict = await verifyNote(crypto, parsed, [...keys, ...witnesses]);
  if (!verdict.ok) return verdict;
  if (!verdict.signatures.some(({ key }) => key.kind === keyKinds.log)) return fail("no_known_signature");
  const checkpoint = parseCheckpointText(parsed.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  if (checkpoint.origin !== trust.origin) return fail("origin_mismatch");
  return { ok: true, checkpoint, cosignatures: verdict.signatures.filter(({ key }) => key.kind === keyKinds.witness) };
};
