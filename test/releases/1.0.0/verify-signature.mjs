// core/bytes.ts
var utf8Encoder = new TextEncoder();
var encodeUtf8 = (text) => utf8Encoder.encode(text);
var strictUtf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
var nativeEncoders = Uint8Array.prototype;
var hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
var toHex = (bytes) => {
  if (nativeEncoders.toHex !== void 0) return nativeEncoders.toHex.call(bytes);
  let hex = "";
  for (const byte of bytes) hex += hexPairs[byte];
  return hex;
};
var concatBytes = (...parts) => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

// verifier/hash.ts
var blockLength = 64;
var rounds = 64;
var primes = (() => {
  const found = [];
  for (let candidate = 2; found.length < rounds; candidate += 1) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
})();
var computeRootBits = (value, power) => {
  const target = BigInt(value) << 32n * power;
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** power <= target) root += bit;
  return Number(root & 0xffffffffn);
};
var roundConstants = Uint32Array.from(primes, (prime) => computeRootBits(prime, 3n));
var initialState = Uint32Array.from(primes.slice(0, 8), (prime) => computeRootBits(prime, 2n));
var padMessage = (data) => {
  const length = Math.ceil((data.length + 9) / blockLength) * blockLength;
  const bytes = new Uint8Array(length);
  bytes.set(data);
  bytes[data.length] = 128;
  const view = new DataView(bytes.buffer);
  view.setUint32(length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(length - 4, data.length << 3 >>> 0);
  return bytes;
};
var rotateRight = (word, bits) => word >>> bits | word << 32 - bits;
var sha256 = (input) => {
  const message = padMessage(typeof input === "string" ? encodeUtf8(input) : input);
  const words = new DataView(message.buffer);
  const state = initialState.slice();
  const w = new Uint32Array(rounds);
  for (let block = 0; block < message.length; block += blockLength) {
    for (let at = 0; at < 16; at += 1) w[at] = words.getUint32(block + 4 * at);
    for (let at = 16; at < rounds; at += 1) {
      const w2 = w[at - 2];
      const w15 = w[at - 15];
      const small1 = rotateRight(w2, 17) ^ rotateRight(w2, 19) ^ w2 >>> 10;
      const small0 = rotateRight(w15, 7) ^ rotateRight(w15, 18) ^ w15 >>> 3;
      w[at] = small1 + w[at - 7] + small0 + w[at - 16];
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let at = 0; at < rounds; at += 1) {
      const big1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
      const big0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
      const t1 = h + big1 + (e & f ^ ~e & g) + roundConstants[at] + w[at] | 0;
      const t2 = big0 + (a & b ^ a & c ^ b & c) | 0;
      h = g;
      g = f;
      f = e;
      e = d + t1 | 0;
      d = c;
      c = b;
      b = a;
      a = t1 + t2 | 0;
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = state[at] + word;
  }
  const digest = new Uint8Array(32);
  const view = new DataView(digest.buffer);
  for (const [at, word] of state.entries()) view.setUint32(4 * at, word);
  return digest;
};
var hmacSha256 = (key, data) => {
  const block = new Uint8Array(blockLength);
  block.set(key.length > blockLength ? sha256(key) : key);
  const inner = sha256(
    concatBytes(
      block.map((byte) => byte ^ 54),
      typeof data === "string" ? encodeUtf8(data) : data
    )
  );
  return sha256(
    concatBytes(
      block.map((byte) => byte ^ 92),
      inner
    )
  );
};

// core/webhooks/verify-signature.ts
var toleranceSeconds = 300;
var signatureHeaderPattern = /^t=(\d{1,12})((?:,v\d{1,3}=[^,\s]+)+)$/;
var signaturePattern = /^v1=([0-9a-f]{64})$/;
var isSameSignature = (a, b) => {
  let difference = 0;
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
};
var verifySignature = (rawBody, signatureHeader, secret, nowSeconds) => {
  const [, time, signatures] = signatureHeaderPattern.exec(signatureHeader ?? "") ?? [];
  if (time === void 0 || signatures === void 0 || secret === "") return false;
  if (!(Math.abs(nowSeconds - Number(time)) <= toleranceSeconds)) return false;
  const body = typeof rawBody === "string" ? encodeUtf8(rawBody) : rawBody;
  const expected = toHex(hmacSha256(encodeUtf8(secret), concatBytes(encodeUtf8(`${time}.`), body)));
  let isValid = false;
  for (const part of signatures.split(",")) {
    const [, signature] = signaturePattern.exec(part) ?? [];
    isValid = signature !== void 0 && isSameSignature(expected, signature) || isValid;
  }
  return isValid;
};
export {
  verifySignature
};
