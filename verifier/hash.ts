// SHA-256 and HMAC-SHA-256 in plain TypeScript, with the API of core/hash.ts. The built verifier contains this file instead of
// core/hash.ts. WebCrypto cannot be used because it hashes asynchronously, and core needs synchronous hashes.
import { concatBytes, toHex, encodeUtf8 } from "../core/bytes.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

const blockLength = 64;
const rounds = 64;

const primes = ((): number[] => {
  const found: number[] = [];
  for (let candidate = 2; found.length < rounds; candidate += 1) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
})();

/**
 * Returns the first 32 fractional bits of the square root (`power` 2) or cube root (`power` 3) of a number. FIPS 180-4 uses such bits as
 * constants. Integer arithmetic makes the result exact.
 */
const computeRootBits = (value: number, power: bigint): number => {
  const target = BigInt(value) << (32n * power);
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** power <= target) root += bit;
  return Number(root & 0xffffffffn);
};

const roundConstants = Uint32Array.from(primes, (prime) => computeRootBits(prime, 3n));
const initialState = Uint32Array.from(primes.slice(0, 8), (prime) => computeRootBits(prime, 2n));

/** Pads the message to whole blocks with a 1 bit, 0 bits and its length in bits. */
const padMessage = (data: Uint8Array): Uint8Array => {
  const length = Math.ceil((data.length + 9) / blockLength) * blockLength;
  const bytes = new Uint8Array(length);
  bytes.set(data);
  bytes[data.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(length - 4, (data.length << 3) >>> 0);
  return bytes;
};

const rotateRight = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** Returns the 32-byte SHA-256 hash. */
export const sha256 = (input: string | Uint8Array): Bytes => {
  const message = padMessage(typeof input === "string" ? encodeUtf8(input) : input);
  const words = new DataView(message.buffer);
  const state = initialState.slice();
  const w = new Uint32Array(rounds);
  for (let block = 0; block < message.length; block += blockLength) {
    for (let at = 0; at < 16; at += 1) w[at] = words.getUint32(block + 4 * at);
    for (let at = 16; at < rounds; at += 1) {
      const w2 = w[at - 2] as number;
      const w15 = w[at - 15] as number;
      const small1 = rotateRight(w2, 17) ^ rotateRight(w2, 19) ^ (w2 >>> 10);
      const small0 = rotateRight(w15, 7) ^ rotateRight(w15, 18) ^ (w15 >>> 3);
      w[at] = small1 + (w[at - 7] as number) + small0 + (w[at - 16] as number);
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let at = 0; at < rounds; at += 1) {
      const big1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
      const big0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
      const t1 = (h + big1 + ((e & f) ^ (~e & g)) + (roundConstants[at] as number) + (w[at] as number)) | 0;
      const t2 = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] as number) + word;
  }
  const digest = new Uint8Array(32);
  const view = new DataView(digest.buffer);
  for (const [at, word] of state.entries()) view.setUint32(4 * at, word);
  return digest;
};

/** Returns the SHA-256 as 64 lowercase hex characters. Text is hashed as UTF-8. */
export const sha256Hex = (data: string | Uint8Array): string => toHex(sha256(data));

/** Returns the 32-byte HMAC-SHA-256. */
export const hmacSha256 = (key: Uint8Array, data: string | Uint8Array): Bytes => {
  const block = new Uint8Array(blockLength);
  block.set(key.length > blockLength ? sha256(key) : key);
  const inner = sha256(
    concatBytes(
      block.map((byte) => byte ^ 0x36),
      typeof data === "string" ? encodeUtf8(data) : data,
    ),
  );
  return sha256(
    concatBytes(
      block.map((byte) => byte ^ 0x5c),
      inner,
    ),
  );
};
