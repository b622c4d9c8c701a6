// Creates keys and signed-note secrets from fixed seeds.
import { toBase64, fromBase64Url, fromHex, concatBytes } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { keyKinds, formatSkey, createVerifierKey, formatVkey, type KeyKind } from "../../core/ledger/note.ts";
import { openKeysNamed, openNoteSigner } from "../../storage/note-keys.ts";

/** Derives the secret of the key `name` from this seed. */
export const createSecretFromSeed = async (name: string, seed: Uint8Array<ArrayBuffer>, kind: KeyKind = keyKinds.log): Promise<string> => {
  const pkcs8 = concatBytes(fromHex("302e020100300506032b657004220420") ?? new Uint8Array(0), seed);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = (await crypto.subtle.exportKey("jwk", key)) as { x?: string };
  const publicKey = fromBase64Url(x ?? "") ?? new Uint8Array(0);
  return formatSkey({ name, keyId: createVerifierKey(name, kind, publicKey).keyId, kind, seed });
};

/** Derives the secret of the key `name` from a seed of `byte` repeated 32 times. Production settings refuse such a key. */
export const createSecret = (name: string, byte: number, kind: KeyKind = keyKinds.log): Promise<string> =>
  createSecretFromSeed(name, new Uint8Array(32).fill(byte), kind);

/** Derives the secret of the key `name` from a seed that looks random but is always the same. */
export const createRandomSecret = (name: string, kind: KeyKind = keyKinds.log): Promise<string> =>
  createSecretFromSeed(name, new Uint8Array(sha256(`drawn for ${name}`)), kind);

/** Returns 32 bytes in base64 that look random but are always the same for the same index. */
export const createRandomKey = (index: number): string => toBase64(sha256(`key ${index} of the tests`));

/** Returns a secret's public key in its one-line form. */
export const deriveVkey = async (secret: string): Promise<string> => formatVkey((await openNoteSigner(secret)).key);

/** The tests' LOG_SEED is `createRandomKey(logSeedIndex)`. */
export const logSeedIndex = 4;

/** Returns a log's public key, which is derived from the tests' LOG_SEED and the log's name. */
export const deriveLogVkey = async (name: string): Promise<string> => {
  const [signer] = await openKeysNamed({ secrets: "", logSeed: createRandomKey(logSeedIndex) }, name);
  if (signer === undefined) throw new Error("no key");
  return formatVkey(signer.key);
};
