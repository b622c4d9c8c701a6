// c2sp.org/tlog-checkpoint: formats, parses and verifies the statement that a log signs about its tree. The format allows additional lines,
// but only the three lines with origin, size and root are accepted, because this code could not verify claims in other lines.
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
  /** The log's name: its URL without the scheme. It is also the name of the log's key. */
  readonly origin: string;
}

/** Returns true if the text has the format of our logs' names: a key name that consists of a host and a path. */
export const isTlogOrigin = (text: string): boolean => isKeyName(text) && /^[^/]+(?:\/[^/]+)+$/.test(text);

/** Returns the log's path, such as `/ledger/2026h2` for `api.example.com/ledger/2026h2`. */
export const getLogPath = (origin: string): string => origin.slice(origin.indexOf("/"));

/** Formats a checkpoint. Throws TypeError unless the origin, size and root are valid for one of our logs. */
export const formatCheckpoint = ({ origin, size, root }: Checkpoint): string => {
  if (!isTlogOrigin(origin) || root.length !== hashLength || size < 0n) throw new TypeError("checkpoint: invalid origin, size or root");
  return `${origin}\n${size}\n${toBase64(root)}\n`;
};

/**
 * Parses a checkpoint. Returns null unless the text is exactly three lines in canonical form. Any origin is accepted, because other logs
 * choose their own.
 */
export const parseCheckpointText = (text: string): Checkpoint | null => {
  const [, origin = "", size = "", root = ""] = /^([^\n]+)\n([^\n]+)\n([^\n]+)\n$/.exec(text) ?? [];
  const count = parseCount(size);
  const bytes = fromBase64(root);
  return origin === "" || count === null || bytes?.length !== hashLength ? null : { origin, size: count, root: bytes };
};

/** Parses a signed checkpoint without verifying its signatures. Returns null if it is malformed. */
export const parseCheckpoint = (note: string): Checkpoint | null => {
  const parsed = parseNote(note);
  return parsed === null ? null : parseCheckpointText(parsed.text);
};

/**
 * Removes all signature lines except the log's own. The result is the text that timestamp authorities timestamp. Returns null if the note
 * is malformed.
 */
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
  /** The signatures by trusted witnesses, each with its time. */
  readonly cosignatures: readonly VerifiedSignature[];
}
export type CheckpointVerdict = Verdict<CosignedCheckpoint, CheckpointFault>;

/** The log that a reader trusts, with its keys and its witnesses. */
export interface CheckpointTrust {
  readonly origin: string;
  readonly keys: readonly VerifierKey[];
  readonly witnesses?: readonly VerifierKey[];
  /** For logs with other signature algorithms: replaces the check of the log's signature with `keys`. */
  readonly isSignedByLog?: (note: string) => Promise<boolean>;
}

/** Verifies that the trusted log signed the checkpoint in `note`. A witness's signature cannot replace the log's signature. */
export const verifyCheckpoint = async (crypto: NoteCrypto, note: string, trust: CheckpointTrust): Promise<CheckpointVerdict> => {
  const parsed = parseNote(note);
  if (parsed === null) return fail("note_malformed");
  const keys = trust.keys.filter((key) => key.kind === keyKinds.log);
  const witnesses = (trust.witnesses ?? []).filter((key) => key.kind === keyKinds.witness);
  const verdict = await verifyNote(crypto, parsed, [...keys, ...witnesses]);
  if (!verdict.ok && verdict.fault === "bad_signature") return verdict;
  const signatures = verdict.ok ? verdict.signatures : [];
  const isSigned = await (trust.isSignedByLog?.(note) ?? signatures.some(({ key }) => key.kind === keyKinds.log));
  if (!isSigned) return fail("no_known_signature");
  const checkpoint = parseCheckpointText(parsed.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  if (checkpoint.origin !== trust.origin) return fail("origin_mismatch");
  return { ok: true, checkpoint, cosignatures: signatures.filter(({ key }) => key.kind === keyKinds.witness) };
};
