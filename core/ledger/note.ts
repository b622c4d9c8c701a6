// c2sp.org/signed-note: text with signature lines, and the one-line key formats. A log's Ed25519 key signs only the text. A witness's key
// signs the text and a time (c2sp.org/tlog-cosignature). The signing function is an argument, because core does not use WebCrypto.
import { toBase64, fromBase64, fromHex, concatBytes, toHex, encodeUtf8 } from "../bytes.ts";
import { sha256 } from "../hash.ts";
import { fail, type Verdict } from "../result.ts";
import type { NodeHash } from "./merkle.ts";

export interface NoteCrypto {
  readonly hashNode: NodeHash;
  readonly verifyEd25519: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => Promise<boolean>;
}

/**
 * Caches tree nodes and signature checks. Receipts in one batch, and the audit proofs in one pack, have the same signature and share most
 * nodes. The cache grows without limit, so use a new cache for each verification.
 */
export const memoizeNoteCrypto = (crypto: NoteCrypto): NoteCrypto => {
  const verdicts = new Map<string, Promise<boolean>>();
  const nodes = new Map<string, Uint8Array>();
  return {
    hashNode: (left, right) => {
      const cacheKey = `${toBase64(left)} ${toBase64(right)}`;
      const node = nodes.get(cacheKey) ?? crypto.hashNode(left, right);
      nodes.set(cacheKey, node);
      return node;
    },
    verifyEd25519: (publicKey, message, signature) => {
      const cacheKey = [publicKey, signature, sha256(message)].map(toBase64).join(" ");
      const verdict = verdicts.get(cacheKey) ?? crypto.verifyEd25519(publicKey, message, signature);
      verdicts.set(cacheKey, verdict);
      return verdict;
    },
  };
};

/** The byte that identifies a key's kind. It is part of the key's one-line form, and one of the inputs of the key ID. */
export const keyKinds = { log: 0x01, witness: 0x04 } as const;
export type KeyKind = (typeof keyKinds)[keyof typeof keyKinds];

const keyLength = 32; // the length of an Ed25519 public key and of its seed
const signatureLength = 64;
const timestampLength = 8;

export interface VerifierKey {
  readonly name: string;
  /** The key ID, eight hex digits. A signature line identifies its key by name and key ID. */
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

export interface SecretKey {
  readonly name: string;
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly seed: Uint8Array<ArrayBuffer>;
}

/**
 * Returns whether the text is a key name. A key name must not contain whitespace or a plus sign, because these characters mark the end of
 * the name in signature lines and in keys.
 */
export const isKeyName = (name: string): boolean => name.isWellFormed() && /^[^\p{White_Space}\p{Cc}+]+$/u.test(name);

const computeKeyId = (name: string, kind: KeyKind, publicKey: Uint8Array): string =>
  toHex(sha256(concatBytes(encodeUtf8(`${name}\n`), new Uint8Array([kind]), publicKey)).subarray(0, 4));

export const createVerifierKey = (name: string, kind: KeyKind, publicKey: Uint8Array<ArrayBuffer>): VerifierKey => ({
  name,
  keyId: computeKeyId(name, kind, publicKey),
  kind,
  publicKey,
});

/** Formats a public key as `<name>+<key id>+<base64 of kind and public key>`, for example `ledger.example/log+1a2b3c4d+AQ…`. */
export const formatVkey = (key: VerifierKey): string =>
  `${key.name}+${key.keyId}+${toBase64(concatBytes(new Uint8Array([key.kind]), key.publicKey))}`;

const parseKeyParts = (text: string): { name: string; keyId: string; kind: KeyKind; material: Uint8Array<ArrayBuffer> } | null => {
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes?.length !== 1 + keyLength) return null;
  const kind = Object.values(keyKinds).find((known) => known === bytes[0]);
  return kind === undefined ? null : { name, keyId, kind, material: bytes.slice(1) };
};

/** Parses a public key. Returns null unless the key has a known kind and the key ID matches its bytes. */
export const parseVkey = (text: string): VerifierKey | null => {
  const parts = parseKeyParts(text);
  if (parts === null) return null;
  const key = createVerifierKey(parts.name, parts.kind, parts.material);
  return key.keyId === parts.keyId ? key : null;
};

const secretPrefix = "PRIVATE+KEY+";

/** Formats a secret key as `PRIVATE+KEY+<name>+<key id>+<base64 of kind and seed>`, as Go's sumdb/note does. */
export const formatSkey = (key: SecretKey): string =>
  `${secretPrefix}${key.name}+${key.keyId}+${toBase64(concatBytes(new Uint8Array([key.kind]), key.seed))}`;

/**
 * Parses a secret key. Returns null if the text is malformed. Does not check the key ID: that requires the public key, which the caller
 * derives from the seed.
 */
export const parseSkey = (text: string): SecretKey | null => {
  const parts = text.startsWith(secretPrefix) ? parseKeyParts(text.slice(secretPrefix.length)) : null;
  return parts === null ? null : { name: parts.name, keyId: parts.keyId, kind: parts.kind, seed: parts.material };
};

export interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Note {
  /** The signed text. It ends with a line break. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const forbiddenControlPattern = /[\u0000-\u0009\u000b-\u001f]/;
const keyIdLength = 4;
const maxSignatures = 100; // the format requires supporting 16 signatures; each line can cost one verification

const parseSignatureLine = (line: string): NoteSignature | null => {
  const [, name = "", encoded = ""] = /^\u2014 ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes === null || bytes.length <= keyIdLength) return null;
  return { name, keyId: toHex(bytes.subarray(0, keyIdLength)), bytes: bytes.slice(keyIdLength) };
};

/** Parses a note. Returns null if it is malformed. Does not verify signatures. */
export const parseNote = (note: string): Note | null => {
  if (!note.isWellFormed() || forbiddenControlPattern.test(note) || !note.endsWith("\n")) return null;
  const blank = note.lastIndexOf("\n\n");
  if (blank < 0) return null;
  const lines = note.slice(blank + 2, -1).split("\n");
  if (lines.length > maxSignatures) return null;
  const signatures = lines.map(parseSignatureLine);
  return signatures.every((signature) => signature !== null) ? { text: note.slice(0, blank + 1), signatures } : null;
};

const parseBigEndian = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`);

/** Returns the bytes that a cosignature signs. `time` is in seconds since 1970. */
const encodeCosignedText = (time: bigint, text: string): Uint8Array<ArrayBuffer> => encodeUtf8(`cosignature/v1\ntime ${time}\n${text}`);

export interface VerifiedSignature {
  readonly key: VerifierKey;
  /** The time of the signature in seconds since 1970, by the witness's clock; null for a log's signature. */
  readonly time: bigint | null;
}

/** Verifies a signature. Returns null if it is not valid for the key. */
const verifyNoteSignature = async (
  crypto: NoteCrypto,
  key: VerifierKey,
  bytes: Uint8Array,
  text: string,
): Promise<VerifiedSignature | null> => {
  if (key.kind === keyKinds.log) {
    const good = bytes.length === signatureLength && (await crypto.verifyEd25519(key.publicKey, encodeUtf8(text), bytes));
    return good ? { key, time: null } : null;
  }
  if (bytes.length !== timestampLength + signatureLength) return null;
  const time = parseBigEndian(bytes.subarray(0, timestampLength));
  if (time >= 1n << 63n) return null;
  const good = await crypto.verifyEd25519(key.publicKey, encodeCosignedText(time, text), bytes.subarray(timestampLength));
  return good ? { key, time } : null;
};

export type NoteFault = "bad_signature" | "no_known_signature";
export type NoteVerdict = Verdict<{ signatures: readonly VerifiedSignature[] }, NoteFault>;

/**
 * Verifies the signatures by `keys` and ignores all others. Fails with `bad_signature` if a line has the name and key ID of one of `keys`
 * but its signature is invalid. Fails with `no_known_signature` if no line is by one of `keys`.
 */
export const verifyNote = async (crypto: NoteCrypto, note: Note, keys: readonly VerifierKey[]): Promise<NoteVerdict> => {
  const signatures: VerifiedSignature[] = [];
  for (const { name, keyId, bytes } of note.signatures) {
    const key = keys.find((known) => known.name === name && known.keyId === keyId);
    if (key === undefined) continue;
    const signature = await verifyNoteSignature(crypto, key, bytes, note.text);
    if (signature === null) return fail("bad_signature");
    signatures.push(signature);
  }
  return signatures.length === 0 ? fail("no_known_signature") : { ok: true, signatures };
};

export interface NoteSigner {
  readonly key: VerifierKey;
  readonly sign: (message: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;
}

const formatSignatureLine = (key: VerifierKey, bytes: Uint8Array): string =>
  `\u2014 ${key.name} ${toBase64(concatBytes(fromHex(key.keyId) ?? new Uint8Array(0), bytes))}\n`;

const encodeBigEndian = (value: bigint): Uint8Array => fromHex(value.toString(16).padStart(2 * timestampLength, "0")) as Uint8Array;

/** Signs `text`. Throws TypeError if it does not end with a line break, if there are no signers, or if a signer is not a log key. */
export const signNote = async (text: string, signers: readonly NoteSigner[]): Promise<string> => {
  if (!text.endsWith("\n") || signers.length === 0)
    throw new TypeError("note: the text must end with a line break and needs at least one signer");
  let note = `${text}\n`;
  for (const { key, sign } of signers) {
    if (key.kind !== keyKinds.log) throw new TypeError("note: a witness key can only cosign");
    note += formatSignatureLine(key, await sign(encodeUtf8(text)));
  }
  return note;
};

/** Creates a witness's signature line. `time` is in seconds since 1970. Throws TypeError if the key is a log key. */
export const createCosignatureLine = async (text: string, signer: NoteSigner, time: bigint): Promise<string> => {
  if (signer.key.kind !== keyKinds.witness) throw new TypeError("note: only a witness key can cosign");
  return formatSignatureLine(signer.key, concatBytes(encodeBigEndian(time), await signer.sign(encodeCosignedText(time, text))));
};
