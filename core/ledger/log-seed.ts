// Derives the keys of logs and witnesses from one secret, so that adding a shard requires no new secret.
import { concatBytes, encodeUtf8, fromBase64 } from "../bytes.ts";
import { hmacSha256, type Bytes } from "../hash.ts";
import { parseKeyWithValidity } from "./key-validity.ts";

const seedBytes = 32;

export interface LogSeed {
  readonly seed: Bytes;
  /** When the keys derived from this seed stopped signing (ISO 8601); undefined while they are in use. */
  readonly validTo?: string;
}

const parseLogSeed = (text: string): LogSeed | null => {
  const parsed = parseKeyWithValidity(text);
  const seed = parsed === null ? null : fromBase64(parsed.key);
  if (parsed === null || seed?.length !== seedBytes) return null;
  return { seed, ...(parsed.validTo !== undefined && { validTo: parsed.validTo }) };
};

/**
 * Parses LOG_SEED: seeds of 32 bytes in base64, separated by spaces. An earlier seed is followed by `@` and the time when its keys stopped
 * signing. During a rotation, two seeds are in use. Returns null if a seed is malformed or no seed is in use.
 */
export const parseLogSeeds = (text: string | undefined): readonly LogSeed[] | null => {
  const words = (text ?? "").split(/\s+/).filter((word) => word !== "");
  const seeds = words.map(parseLogSeed).filter((seed) => seed !== null);
  return seeds.length === words.length && seeds.some(({ validTo }) => validTo === undefined) ? seeds : null;
};

/**
 * Returns the Ed25519 seed of the key with this name: HKDF-SHA-256 (RFC 5869) over the log seed, without a salt and with the name as info.
 * A derived key reveals nothing about keys with other names.
 */
export const deriveKeySeed = (logSeed: Uint8Array, name: string): Bytes => {
  const extracted = hmacSha256(new Uint8Array(seedBytes), logSeed);
  return new Uint8Array(hmacSha256(extracted, concatBytes(encodeUtf8(`svc-log-key-v1\n${name}`), new Uint8Array([1]))));
};
