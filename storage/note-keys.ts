// Opens the keys of logs and witnesses, and verifies their signatures with WebCrypto.
import { deriveKeySeed, parseLogSeeds } from "../core/ledger/log-seed.ts";
import { hashNode } from "../core/ledger/merkle.ts";
import {
  keyKinds,
  parseSkey,
  createVerifierKey,
  type KeyKind,
  type NoteCrypto,
  type NoteSigner,
  type VerifierKey,
} from "../core/ledger/note.ts";
import { openEd25519 } from "./signer.ts";

const openSeed = async (name: string, kind: KeyKind, seed: Uint8Array): Promise<NoteSigner> => {
  const { key, publicKey } = await openEd25519(seed);
  const verifier = createVerifierKey(name, kind, publicKey);
  return { key: verifier, sign: async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, message)) };
};

/** Opens a secret key in note format. Throws if the key is malformed or its key ID does not match its public key. */
export const openNoteSigner = async (secret: string): Promise<NoteSigner> => {
  const parsed = parseSkey(secret);
  if (parsed === null) throw new Error("note keys: not a note-format secret");
  const signer = await openSeed(parsed.name, parsed.kind, parsed.seed);
  if (signer.key.keyId !== parsed.keyId) throw new Error("note keys: the key id is not that of the key");
  return signer;
};

export interface KeySource {
  /** Secret keys in note format, separated by spaces. Keys with names other than the requested one are ignored. */
  readonly secrets: string | undefined;
  /** The setting LOG_SEED. If `secrets` contains no key with the requested name, the key is derived from this setting. */
  readonly logSeed: string | undefined;
}

/**
 * Opens the keys with this name. If no secret has this name, derives one key from each log seed in use (two during a rotation). Throws in
 * these cases:
 * - There is neither a secret with this name nor a log seed in use.
 * - Any secret is malformed.
 * - A secret with this name is of a different kind.
 */
export const openKeysNamed = async (
  { secrets = "", logSeed }: KeySource,
  name: string,
  kind: KeyKind = keyKinds.log,
): Promise<readonly NoteSigner[]> => {
  const all = secrets.split(/\s+/).filter((secret) => secret !== "");
  if (all.some((secret) => parseSkey(secret) === null)) throw new Error("note keys: not a note-format secret");
  const ownSecrets = all.filter((secret) => parseSkey(secret)?.name === name);
  const signers = await Promise.all(
    ownSecrets.length > 0
      ? ownSecrets.map(openNoteSigner)
      : (parseLogSeeds(logSeed) ?? [])
          .filter(({ validTo }) => validTo === undefined)
          .map(({ seed }) => openSeed(name, kind, deriveKeySeed(seed, name))),
  );
  if (signers.length === 0 || signers.some(({ key }) => key.kind !== kind)) throw new Error("note keys: no key with this name and kind");
  return signers;
};

/** Lists the public keys with this name from earlier log seeds, each with the end of its validity period. */
export const listEarlierKeys = (
  logSeed: string,
  name: string,
): Promise<readonly { readonly key: VerifierKey; readonly validTo: string }[]> =>
  Promise.all(
    (parseLogSeeds(logSeed) ?? []).flatMap(({ seed, validTo }) =>
      validTo === undefined ? [] : [openSeed(name, keyKinds.log, deriveKeySeed(seed, name)).then(({ key }) => ({ key, validTo }))],
    ),
  );

export const noteCrypto: NoteCrypto = {
  hashNode,
  verifyEd25519: async (publicKey, message, signature) => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), new Uint8Array(message));
  },
};
