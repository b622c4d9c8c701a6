// Keys and note-format secrets from chosen seeds, so that tests sign with known keys.
import { base64Of, bytesOfBase64Url, bytesOfHex, concatBytes } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { keyKinds, skeyOf, verifierKey, vkeyOf, type KeyKind } from "../../core/ledger/note.ts";
import { openNoteSigner } from "../../storage/note-keys.ts";

/** The secret of the key called `name` with this seed. */
export const secretOfSeed = async (name: string, seed: Uint8Array<ArrayBuffer>, kind: KeyKind = keyKinds.log): Promise<string> => {
  const pkcs8 = concatBytes(bytesOfHex("302e020100300506032b657004220420") ?? new Uint8Array(0), seed);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = (await crypto.subtle.exportKey("jwk", key)) as { x?: string };
  const publicKey = bytesOfBase64Url(x ?? "") ?? new Uint8Array(0);
  return skeyOf({ name, keyId: verifierKey(sha256, name, kind, publicKey).keyId, kind, seed });
};

/** The secret of the key called `name` whose seed is 32 times `byte`: fit for development only. */
export const secretOf = (name: string, byte: number, kind: KeyKind = keyKinds.log): Promise<string> =>
  secretOfSeed(name, new Uint8Array(32).fill(byte), kind);

/** A secret of the key called `name` that is as good as random: always the same one. */
export const randomSecretOf = (name: string, kind: KeyKind = keyKinds.log): Promise<string> =>
  secretOfSeed(name, new Uint8Array(sha256(`drawn for ${name}`)), kind);

/** 32 bytes in base64 that are as good as random: always the same ones for a number. */
export const randomKey = (which: number): string => base64Of(sha256(`key ${which} of the tests`));

/** The public key of a secret, in its one-line form. */
export const vkeyOfSecret = async (secret: string): Promise<string> => vkeyOf((await openNoteSigner(secret)).key);
