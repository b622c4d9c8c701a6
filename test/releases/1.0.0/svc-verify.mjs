#!/usr/bin/env node

// verifier/cli.ts
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process, { argv, stderr, stdout } from "node:process";
import { pathToFileURL } from "node:url";

// core/bytes.ts
var utf8Encoder = new TextEncoder();
var encodeUtf8 = (text) => utf8Encoder.encode(text);
var strictUtf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
var decodeUtf8 = (bytes) => {
  try {
    return strictUtf8Decoder.decode(bytes);
  } catch {
    return null;
  }
};
var nativeEncoders = Uint8Array.prototype;
var hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
var toHex = (bytes) => {
  if (nativeEncoders.toHex !== void 0) return nativeEncoders.toHex.call(bytes);
  let hex = "";
  for (const byte of bytes) hex += hexPairs[byte];
  return hex;
};
var chunkBytes = 8192;
var toBase64 = (bytes) => {
  if (nativeEncoders.toBase64 !== void 0) return nativeEncoders.toBase64.call(bytes);
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunkBytes) binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  return btoa(binary);
};
var toBase64Url = (bytes) => {
  if (nativeEncoders.toBase64 !== void 0) return nativeEncoders.toBase64.call(bytes, { alphabet: "base64url", omitPadding: true });
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};
var nativeDecoder = Uint8Array;
var decodeBase64 = (text, alphabet) => {
  if (nativeDecoder.fromBase64 !== void 0) {
    try {
      return nativeDecoder.fromBase64(text, { alphabet, lastChunkHandling: "strict" });
    } catch {
      return null;
    }
  }
  const plain = alphabet === "base64" ? text : text.replaceAll("-", "+").replaceAll("_", "/");
  const binary = atob(plain);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return toBase64(bytes) === plain ? bytes : null;
};
var fromBase64 = (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? decodeBase64(text, "base64") : null;
var fromBase64Url = (text) => text.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(text) ? decodeBase64(`${text}${"=".repeat((4 - text.length % 4) % 4)}`, "base64url") : null;
var fromHex = (text) => {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return bytes;
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
var areBytesEqual = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

// core/result.ts
var fail = (fault) => ({ ok: false, fault });
var ok = (value) => ({ ok: true, value });
var refuse = (code, detail) => detail === void 0 ? { ok: false, code } : { ok: false, code, detail };

// core/i-json.ts
var maxBodyDepth = 8;
var parseJson = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return void 0;
  }
};
var findStringEnd = (text, open) => {
  let at = open + 1;
  while (text.charCodeAt(at) !== 34) at += text.charCodeAt(at) === 92 ? 2 : 1;
  return at + 1;
};
var findIJsonFault = (text, { maxDepth = maxBodyDepth, looseMember = null }) => {
  const open = [];
  let expectsKey = false;
  let member = null;
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    if (char === "{" || char === "[") {
      open.push(char === "{" ? /* @__PURE__ */ new Set() : null);
      if (open.length > maxDepth) return "it is nested too deeply";
      expectsKey = char === "{";
      at += 1;
    } else if (char === "}" || char === "]") {
      open.pop();
      expectsKey = false;
      at += 1;
    } else if (char === ",") {
      expectsKey = open.at(-1) !== null;
      at += 1;
    } else if (char === '"') {
      const end = findStringEnd(text, at);
      const raw = text.slice(at, end);
      const value = raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1);
      const isLoose = looseMember !== null && member === looseMember && open.length === 2 && !expectsKey;
      if (!isLoose && !value.isWellFormed()) return "a string contains a lone surrogate";
      if (expectsKey) {
        if (open.length === 1) member = value;
        const keys = open.at(-1);
        if (keys.has(value)) return "an object contains the same key twice";
        keys.add(value);
        expectsKey = false;
      }
      at = end;
    } else if (char === "-" || char >= "0" && char <= "9") {
      let end = at + 1;
      while (end < text.length && /[0-9eE.+-]/.test(text[end])) end += 1;
      if (!Number.isFinite(Number(text.slice(at, end)))) return "a number is too large";
      at = end;
    } else {
      at += 1;
    }
  }
  return null;
};
var parseIJson = (bytes, options = {}) => {
  const text = decodeUtf8(bytes);
  if (text === null) return refuse("invalid_request", "The body must be valid UTF-8.");
  const value = parseJson(text);
  if (value === void 0) return refuse("invalid_request", "The body must be valid JSON.");
  const fault = findIJsonFault(text, options);
  if (fault !== null) return refuse("invalid_request", `The body must be I-JSON (RFC 7493): ${fault}.`);
  return ok(value);
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
var sha256Hex = (data) => toHex(sha256(data));

// core/time.ts
var secondMs = 1e3;
var minuteMs = 60 * secondMs;
var hourMs = 60 * minuteMs;
var dayMs = 24 * hourMs;
var toIso = (instant) => new Date(instant).toISOString();
var toDayNumber = (instant) => Math.floor(instant / dayMs);

// core/ledger/key-validity.ts
var defaultValidFrom = "1970-01-01T00:00:00.000Z";
var isIsoTime = (text) => {
  if (typeof text !== "string" || !/^\d{4}-/.test(text)) return false;
  const instant = Date.parse(text);
  return Number.isFinite(instant) && toIso(instant) === text;
};
var isKeyInUse = ({ validFrom, validTo }, at) => validFrom <= at && (validTo === void 0 || at < validTo);

// core/ledger/note.ts
var memoizeNoteCrypto = (crypto2) => {
  const verdicts = /* @__PURE__ */ new Map();
  const nodes = /* @__PURE__ */ new Map();
  return {
    hashNode: (left, right) => {
      const cacheKey = `${toBase64(left)} ${toBase64(right)}`;
      const node = nodes.get(cacheKey) ?? crypto2.hashNode(left, right);
      nodes.set(cacheKey, node);
      return node;
    },
    verifyEd25519: (publicKey, message, signature) => {
      const cacheKey = [publicKey, signature, sha256(message)].map(toBase64).join(" ");
      const verdict = verdicts.get(cacheKey) ?? crypto2.verifyEd25519(publicKey, message, signature);
      verdicts.set(cacheKey, verdict);
      return verdict;
    }
  };
};
var keyKinds = { log: 1, witness: 4 };
var keyLength = 32;
var signatureLength = 64;
var timestampLength = 8;
var isKeyName = (name) => name.isWellFormed() && /^[^\p{White_Space}\p{Cc}+]+$/u.test(name);
var computeKeyId = (name, kind, publicKey) => toHex(sha256(concatBytes(encodeUtf8(`${name}
`), new Uint8Array([kind]), publicKey)).subarray(0, 4));
var createVerifierKey = (name, kind, publicKey) => ({
  name,
  keyId: computeKeyId(name, kind, publicKey),
  kind,
  publicKey
});
var parseKeyParts = (text) => {
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes?.length !== 1 + keyLength) return null;
  const kind = Object.values(keyKinds).find((known) => known === bytes[0]);
  return kind === void 0 ? null : { name, keyId, kind, material: bytes.slice(1) };
};
var parseVkey = (text) => {
  const parts = parseKeyParts(text);
  if (parts === null) return null;
  const key = createVerifierKey(parts.name, parts.kind, parts.material);
  return key.keyId === parts.keyId ? key : null;
};
var forbiddenControlPattern = /[\u0000-\u0009\u000b-\u001f]/;
var keyIdLength = 4;
var maxSignatures = 100;
var parseSignatureLine = (line) => {
  const [, name = "", encoded = ""] = /^\u2014 ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes === null || bytes.length <= keyIdLength) return null;
  return { name, keyId: toHex(bytes.subarray(0, keyIdLength)), bytes: bytes.slice(keyIdLength) };
};
var parseNote = (note) => {
  if (!note.isWellFormed() || forbiddenControlPattern.test(note) || !note.endsWith("\n")) return null;
  const blank = note.lastIndexOf("\n\n");
  if (blank < 0) return null;
  const lines = note.slice(blank + 2, -1).split("\n");
  if (lines.length > maxSignatures) return null;
  const signatures = lines.map(parseSignatureLine);
  return signatures.every((signature) => signature !== null) ? { text: note.slice(0, blank + 1), signatures } : null;
};
var parseBigEndian = (bytes) => BigInt(`0x${toHex(bytes)}`);
var encodeCosignedText = (time, text) => encodeUtf8(`cosignature/v1
time ${time}
${text}`);
var verifyNoteSignature = async (crypto2, key, bytes, text) => {
  if (key.kind === keyKinds.log) {
    const good2 = bytes.length === signatureLength && await crypto2.verifyEd25519(key.publicKey, encodeUtf8(text), bytes);
    return good2 ? { key, time: null } : null;
  }
  if (bytes.length !== timestampLength + signatureLength) return null;
  const time = parseBigEndian(bytes.subarray(0, timestampLength));
  if (time >= 1n << 63n) return null;
  const good = await crypto2.verifyEd25519(key.publicKey, encodeCosignedText(time, text), bytes.subarray(timestampLength));
  return good ? { key, time } : null;
};
var verifyNote = async (crypto2, note, keys) => {
  const signatures = [];
  for (const { name, keyId, bytes } of note.signatures) {
    const key = keys.find((known) => known.name === name && known.keyId === keyId);
    if (key === void 0) continue;
    const signature = await verifyNoteSignature(crypto2, key, bytes, note.text);
    if (signature === null) return fail("bad_signature");
    signatures.push(signature);
  }
  return signatures.length === 0 ? fail("no_known_signature") : { ok: true, signatures };
};

// core/canonical-json.ts
var isJsonObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var canonicalizeString = (text) => {
  if (!text.isWellFormed()) throw new TypeError("canonical JSON: lone surrogate");
  return JSON.stringify(text);
};
var canonicalizeArray = (items) => {
  let text = "[";
  for (let at = 0; at < items.length; at += 1) text += `${at === 0 ? "" : ","}${toCanonicalJson(items[at])}`;
  return `${text}]`;
};
var canonicalizeObject = (record) => {
  const prototype = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("canonical JSON: not a plain object");
  let text = "{";
  for (const key of Object.keys(record).sort())
    text += `${text === "{" ? "" : ","}${canonicalizeString(key)}:${toCanonicalJson(record[key])}`;
  return `${text}}`;
};
var toCanonicalJson = (value) => {
  if (typeof value === "string") return canonicalizeString(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("canonical JSON: number is not finite");
    return JSON.stringify(value);
  }
  if (typeof value !== "object") throw new TypeError(`canonical JSON: ${typeof value} is not JSON`);
  return Array.isArray(value) ? canonicalizeArray(value) : canonicalizeObject(value);
};

// core/ledger/merkle.ts
var hashLength = 32;
var leafPrefix = new Uint8Array([0]);
var hashLeaf = (entry) => sha256(concatBytes(leafPrefix, entry));
var nodeBuffer = new Uint8Array(1 + 2 * hashLength);
nodeBuffer[0] = 1;
var hashNode = (left, right) => {
  if (left.length !== hashLength || right.length !== hashLength) throw new RangeError("merkle: a node must have two hashes of 32 bytes");
  nodeBuffer.set(left, 1);
  nodeBuffer.set(right, 1 + hashLength);
  return sha256(nodeBuffer);
};
var computeEmptyRoot = () => sha256(new Uint8Array(0));
var maxTreeSize = (1n << 63n) - 1n;
var maxProofHashes = 63;
var parseCount = (text) => {
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(text)) return null;
  const count = BigInt(text);
  return count <= maxTreeSize ? count : null;
};
var getBitLength = (value) => {
  const high = Number(value >> 32n);
  return high === 0 ? 32 - Math.clz32(Number(value)) : 64 - Math.clz32(high);
};
var countOneBits = (value) => value.toString(2).replaceAll("0", "").length;
var isOdd = (value) => (value & 1n) === 1n;
var isPowerOfTwo = (value) => value > 0n && (value & value - 1n) === 0n;
var getInclusionProofLength = (index, size) => {
  const inner = getBitLength(index ^ size - 1n);
  return inner + countOneBits(index >> BigInt(inner));
};
var areHashes = (hashes) => hashes.every((hash) => hash.length === hashLength);
var computeRootFromInclusion = (claim, hash = hashNode) => {
  const { leaf, index, size, proof } = claim;
  if (index < 0n || index >= size || size > maxTreeSize || proof.length !== getInclusionProofLength(index, size)) return null;
  if (leaf.length !== hashLength || !areHashes(proof)) return null;
  let node = index;
  let last = size - 1n;
  let root = leaf;
  for (const sibling of proof) {
    if (isOdd(node) || node === last) {
      root = hash(sibling, root);
      while (!isOdd(node) && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      root = hash(root, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? root : null;
};
var isConsistent = (older, newer, proof, hash = hashNode) => {
  if (older.size < 0n || older.size > newer.size || newer.size > maxTreeSize || proof.length > maxProofHashes) return false;
  if (older.root.length !== hashLength || newer.root.length !== hashLength || !areHashes(proof)) return false;
  if (older.size === 0n && !areBytesEqual(older.root, computeEmptyRoot())) return false;
  if (older.size === newer.size) return proof.length === 0 && areBytesEqual(older.root, newer.root);
  if (older.size === 0n) return proof.length === 0;
  const path = isPowerOfTwo(older.size) ? [older.root, ...proof] : proof;
  const [first, ...rest] = path;
  if (first === void 0) return false;
  let node = older.size - 1n;
  let last = newer.size - 1n;
  while (isOdd(node)) {
    node >>= 1n;
    last >>= 1n;
  }
  let olderRoot = first;
  let newerRoot = first;
  for (const sibling of rest) {
    if (last === 0n) return false;
    if (isOdd(node) || node === last) {
      olderRoot = hash(sibling, olderRoot);
      newerRoot = hash(sibling, newerRoot);
      while (!isOdd(node) && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      newerRoot = hash(newerRoot, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && areBytesEqual(olderRoot, older.root) && areBytesEqual(newerRoot, newer.root);
};

// core/ledger/checkpoint.ts
var parseCheckpointText = (text) => {
  const [, origin = "", size = "", root = ""] = /^([^\n]+)\n([^\n]+)\n([^\n]+)\n$/.exec(text) ?? [];
  const count = parseCount(size);
  const bytes = fromBase64(root);
  return origin === "" || count === null || bytes?.length !== hashLength ? null : { origin, size: count, root: bytes };
};
var parseCheckpoint = (note) => {
  const parsed = parseNote(note);
  return parsed === null ? null : parseCheckpointText(parsed.text);
};
var stripCosignatures = (note) => {
  const parsed = parseNote(note);
  const origin = parsed === null ? void 0 : parseCheckpointText(parsed.text)?.origin;
  if (parsed === null || origin === void 0) return null;
  const lines = note.slice(parsed.text.length + 1).split(/(?<=\n)/);
  return `${parsed.text}
${lines.filter((_, at) => parsed.signatures[at]?.name === origin).join("")}`;
};
var verifyCheckpoint = async (crypto2, note, trust) => {
  const parsed = parseNote(note);
  if (parsed === null) return fail("note_malformed");
  const keys = trust.keys.filter((key) => key.kind === keyKinds.log);
  const witnesses = (trust.witnesses ?? []).filter((key) => key.kind === keyKinds.witness);
  const verdict = await verifyNote(crypto2, parsed, [...keys, ...witnesses]);
  if (!verdict.ok && verdict.fault === "bad_signature") return verdict;
  const signatures = verdict.ok ? verdict.signatures : [];
  const isSigned = await (trust.isSignedByLog?.(note) ?? signatures.some(({ key }) => key.kind === keyKinds.log));
  if (!isSigned) return fail("no_known_signature");
  const checkpoint = parseCheckpointText(parsed.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  if (checkpoint.origin !== trust.origin) return fail("origin_mismatch");
  return { ok: true, checkpoint, cosignatures: signatures.filter(({ key }) => key.kind === keyKinds.witness) };
};

// core/ledger/tlog-proof.ts
var proofHeader = "c2sp.org/tlog-proof@v1";
var formatTlogProof = ({ index, hashes, checkpoint, extra }) => [
  proofHeader,
  ...extra === void 0 ? [] : [`extra ${toBase64(extra)}`],
  `index ${index}`,
  ...hashes.map(toBase64),
  "",
  checkpoint
].join("\n");
var hashLinePattern = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
var formatTlogProofFromLines = (index, hashes, checkpoint) => parseCount(index) === null || !hashes.every((hash) => hashLinePattern.test(hash)) ? null : [proofHeader, `index ${index}`, ...hashes, "", checkpoint].join("\n");
var parseTlogProof = (text) => {
  const blank = text.indexOf("\n\n");
  if (blank < 0) return null;
  const [first, ...lines] = text.slice(0, blank).split("\n");
  if (first !== proofHeader) return null;
  const extraLine = lines[0]?.startsWith("extra ") ? lines.shift() : void 0;
  const extra = extraLine === void 0 ? void 0 : fromBase64(extraLine.slice("extra ".length));
  const [, digits = ""] = /^index ([0-9]+)$/.exec(lines.shift() ?? "") ?? [];
  const index = parseCount(digits);
  const hashes = lines.map(fromBase64);
  const checkpoint = text.slice(blank + 2);
  if (extra === null || extra?.length === 0 || index === null || parseCheckpoint(checkpoint) === null) return null;
  if (!hashes.every((hash) => hash?.length === hashLength)) return null;
  return { index, hashes, checkpoint, ...extra === void 0 ? {} : { extra } };
};
var findInclusionFault = (claim, head, hash) => {
  if (claim.index < 0n || claim.index >= head.size) return "index_outside_tree";
  if (claim.hashes.length !== getInclusionProofLength(claim.index, head.size)) return "proof_length";
  const root = computeRootFromInclusion({ leaf: claim.leaf, index: claim.index, size: head.size, proof: claim.hashes }, hash);
  return root !== null && areBytesEqual(root, head.root) ? null : "root_mismatch";
};
var verifyTlogProof = async (crypto2, text, entry, trust) => {
  const proof = parseTlogProof(text);
  if (proof === null) return fail("proof_malformed");
  const verdict = await verifyCheckpoint(crypto2, proof.checkpoint, trust);
  if (!verdict.ok) return verdict;
  const fault = findInclusionFault(
    { leaf: hashLeaf(entry), index: proof.index, hashes: proof.hashes },
    verdict.checkpoint,
    crypto2.hashNode
  );
  return fault === null ? { ...verdict, index: proof.index } : fail(fault);
};

// core/ledger/receipt.ts
var ledgerKinds = ["tlog", "rekor2"];
var textMemberNames = [
  "entry_hash",
  "kind",
  "leaf_hash",
  "leaf_index",
  "ledger",
  "root_hash",
  "signed_root",
  "submitted_at",
  "tree_size",
  "tx_ref",
  "verified_at"
];
var requiredMemberNames = [...textMemberNames, "inclusion_proof", "v"];
var formatReceipt = (receipt) => toCanonicalJson(receipt);
var isReceipt = (record) => {
  if (!isJsonObject(record)) return false;
  const names = Object.keys(record).filter((name) => name !== "leaf_body");
  return names.length === requiredMemberNames.length && requiredMemberNames.every((name) => Object.hasOwn(record, name)) && textMemberNames.every((name) => typeof record[name] === "string") && (!Object.hasOwn(record, "leaf_body") || typeof record.leaf_body === "string") && record.v === 1 && ledgerKinds.includes(record.kind) && Array.isArray(record.inclusion_proof) && record.inclusion_proof.every((hash) => typeof hash === "string");
};
var parseReceipt = (text) => {
  if (!text.isWellFormed()) return null;
  const parsed = parseIJson(encodeUtf8(text));
  return parsed.ok && isReceipt(parsed.value) && toCanonicalJson(parsed.value) === text ? parsed.value : null;
};
var filterKeysInUse = (keys, at) => keys.filter((key) => isKeyInUse(key, at));
var verifyCheckpointSigner = async (signedRoot, findSigners2) => {
  const note = parseNote(signedRoot);
  if (note === null) return fail("note_malformed");
  const signers = await findSigners2(note);
  if (typeof signers === "string") return fail(signers);
  const checkpoint = parseCheckpointText(note.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  return signers.some(({ origin }) => origin === checkpoint.origin) ? { ok: true, checkpoint } : fail("origin_mismatch");
};
var verifyCheckpointByLogKey = (crypto2, signedRoot, pinned) => verifyCheckpointSigner(signedRoot, async (note) => {
  const keys = pinned.map((key) => parseVkey(key.vkey)).filter((key) => key?.kind === keyKinds.log);
  const signed = await verifyNote(crypto2, note, keys);
  if (!signed.ok) return signed.fault;
  return pinned.filter(({ vkey }) => signed.signatures.some(({ key }) => vkey.startsWith(`${key.name}+${key.keyId}+`)));
});
var verifyReceipt = async (crypto2, receipt, statement, context) => {
  const index = parseCount(receipt.leaf_index);
  const leaf = fromBase64(receipt.leaf_hash);
  const hashes = receipt.inclusion_proof.map(fromBase64);
  const body = receipt.leaf_body === void 0 ? void 0 : fromBase64(receipt.leaf_body);
  if (index === null || leaf?.length !== hashLength || body === null) return fail("receipt_malformed");
  if (!hashes.every((hash) => hash?.length === hashLength)) return fail("receipt_malformed");
  if (!isIsoTime(receipt.submitted_at) || !isIsoTime(receipt.verified_at)) return fail("receipt_malformed");
  if (receipt.submitted_at > receipt.verified_at) return fail("receipt_malformed");
  const pinned = filterKeysInUse(context.trustedKeys, receipt.verified_at);
  const read = context.verifySignedRoot ?? ((signedRoot, keys) => verifyCheckpointByLogKey(crypto2, signedRoot, keys));
  const signed = await read(receipt.signed_root, pinned);
  if (!signed.ok) return signed;
  const { checkpoint } = signed;
  const { origin } = checkpoint;
  if (receipt.ledger !== `${receipt.kind}:${origin}` || receipt.tx_ref !== `${origin}#${index}` || receipt.tree_size !== checkpoint.size.toString() || receipt.root_hash !== toBase64(checkpoint.root)) {
    return fail("reference_mismatch");
  }
  const inclusionFault = findInclusionFault({ leaf, index, hashes }, checkpoint, crypto2.hashNode);
  if (inclusionFault !== null) return fail(inclusionFault);
  if (receipt.entry_hash !== sha256Hex(statement)) return fail("leaf_mismatch");
  if (receipt.kind === "tlog" ? body !== void 0 : body === void 0) return fail("leaf_mismatch");
  if (!areBytesEqual(leaf, hashLeaf(body ?? statement))) return fail("leaf_mismatch");
  if (body !== void 0 && !await context.isLeafBoundToStatement?.(body, statement)) return fail("leaf_mismatch");
  if (context.lastVerifiedTree !== void 0) {
    const { head, proof } = context.lastVerifiedTree;
    const [older, newer] = head.size <= checkpoint.size ? [head, checkpoint] : [checkpoint, head];
    if (!isConsistent(older, newer, proof)) return fail("fork");
  }
  return { ok: true, checkpoint, index };
};
var formatReceiptProof = (receipt) => formatTlogProofFromLines(receipt.leaf_index, receipt.inclusion_proof, receipt.signed_root);

// core/ledger/der.ts
var derTags = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  nullValue: 5,
  oid: 6,
  generalizedTime: 24,
  sequence: 48,
  set: 49
};
var toContextTag = (number, constructed = true) => 128 | (constructed ? 32 : 0) | number;
var maxDerBytes = 32 * 1024;
var maxDerDepth = 24;
var constructedBit = 32;
var isUniversalTag = (tag) => (tag & 192) === 0;
var isCanonicalContent = (tag, content) => {
  const [first = 0, second = 0] = content;
  if (tag === derTags.boolean) return content.length === 1 && (first === 0 || first === 255);
  if (tag === derTags.nullValue) return content.length === 0;
  if (tag === derTags.integer) {
    const padded = content.length > 1 && (first === 0 && second < 128 || first === 255 && second >= 128);
    return content.length > 0 && !padded;
  }
  if (tag === derTags.oid) {
    const isWhole = content.length > 0 && content.at(-1) < 128;
    return isWhole && content.every((byte, at) => byte !== 128 || at > 0 && content[at - 1] >= 128);
  }
  return true;
};
var parseValueAt = (bytes, at, end, depth) => {
  if (at + 2 > end || depth > maxDerDepth) return null;
  const tag = bytes[at];
  const first = bytes[at + 1];
  if ((tag & 31) === 31) return null;
  let length = first;
  let start = at + 2;
  if (first >= 128) {
    const count = first & 127;
    if (count > 2 || start + count > end) return null;
    length = 0;
    for (const byte of bytes.subarray(start, start + count)) length = length * 256 + byte;
    if (length < (count === 1 ? 128 : 256)) return null;
    start += count;
  }
  if (start + length > end) return null;
  const isConstructed = (tag & constructedBit) !== 0;
  const mustBe = (tag | constructedBit) === derTags.sequence || (tag | constructedBit) === derTags.set;
  if (isUniversalTag(tag) && (isConstructed !== mustBe || tag === 0)) return null;
  const content = bytes.subarray(start, start + length);
  if (!isConstructed && !isCanonicalContent(tag, content)) return null;
  const children = [];
  if (isConstructed) {
    for (let next = start; next < start + length; ) {
      const child = parseValueAt(bytes, next, start + length, depth + 1);
      if (child === null) return null;
      children.push(child);
      next += child.encoded.length;
    }
  }
  return { tag, content, encoded: bytes.subarray(at, start + length), children };
};
var parseDer = (bytes) => {
  if (bytes.length > maxDerBytes) return null;
  const copy = new Uint8Array(bytes);
  const value = parseValueAt(copy, 0, copy.length, 0);
  return value?.encoded.length === copy.length ? value : null;
};
var createSequenceReader = (value) => {
  const isSequence = value?.tag === derTags.sequence;
  const members = isSequence ? value.children : [];
  let at = 0;
  return {
    next: (tag) => {
      if (members[at]?.tag !== tag) return void 0;
      at += 1;
      return members[at - 1];
    },
    done: () => isSequence && at === members.length
  };
};
var parseOid = (value) => value?.tag === derTags.oid ? toHex(value.content) : null;
var encodeDer = (tag, ...parts) => {
  const content = concatBytes(...parts);
  const { length } = content;
  const header = length < 128 ? [length] : length < 256 ? [129, length] : [130, length >> 8, length & 255];
  if (length > 65535) throw new RangeError("der: the content must be at most 65,535 bytes");
  return concatBytes(new Uint8Array([tag, ...header]), content);
};
var encodeUnsignedInteger = (bytes) => {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const digits = bytes.subarray(start);
  return encodeDer(derTags.integer, (digits[0] ?? 0) >= 128 || digits.length === 0 ? new Uint8Array([0]) : new Uint8Array(0), digits);
};
var ecdsaDerToRaw = (signature, size) => {
  const members = createSequenceReader(parseDer(signature) ?? void 0);
  const numbers = [members.next(derTags.integer), members.next(derTags.integer)].map((value) => {
    const digits = value?.content[0] === 0 ? value.content.subarray(1) : value?.content;
    const isPositive = digits !== void 0 && digits.length > 0 && value?.content[0] < 128;
    return isPositive && digits.length <= size ? concatBytes(new Uint8Array(size - digits.length), digits) : null;
  });
  const [r, s] = numbers;
  return r != null && s != null && members.done() ? concatBytes(r, s) : null;
};

// core/ledger/spki.ts
var ecPublicKeyOid = "2a8648ce3d0201";
var rsaEncryptionOid = "2a864886f70d010101";
var p256Oid = "2a8648ce3d030107";
var curvesByOid = {
  [p256Oid]: { name: "P-256", size: 32 },
  "2b81040022": { name: "P-384", size: 48 }
};
var parseSpki = (spki) => {
  const algorithm = createSequenceReader(createSequenceReader(parseDer(spki) ?? void 0).next(derTags.sequence));
  const oid = parseOid(algorithm.next(derTags.oid));
  if (oid === rsaEncryptionOid) return { kind: "rsa" };
  const curve = curvesByOid[parseOid(algorithm.next(derTags.oid)) ?? ""];
  return oid === ecPublicKeyOid && curve !== void 0 ? { kind: "ecdsa", curve: curve.name, size: curve.size } : null;
};
var isSignedBy = async (subtle, spki, signed) => {
  const parsed = parseSpki(spki);
  if (parsed === null) return false;
  const { hash } = signed;
  const algorithm = parsed.kind === "rsa" ? { name: "RSASSA-PKCS1-v1_5", hash } : { name: "ECDSA", namedCurve: parsed.curve };
  const signature = parsed.kind === "rsa" ? new Uint8Array(signed.signature) : ecdsaDerToRaw(signed.signature, parsed.size);
  if (signature === null) return false;
  let key;
  try {
    key = await subtle.importKey("spki", new Uint8Array(spki), algorithm, false, ["verify"]);
  } catch {
    return false;
  }
  return subtle.verify({ name: algorithm.name, hash }, key, signature, new Uint8Array(signed.data));
};

// core/ledger/rekor.ts
var keyDetails = "PKIX_ECDSA_P256_SHA_256";
var toRekorSignature = ({ signature, publicKey }) => ({
  content: signature,
  verifier: { keyDetails, publicKey: { rawBytes: publicKey } }
});
var formatRekorLeaf = (entry) => toCanonicalJson({
  apiVersion: "0.0.2",
  kind: "hashedrekord",
  spec: { hashedRekordV002: { data: { algorithm: "SHA2_256", digest: entry.digest }, signature: toRekorSignature(entry) } }
});
var getMember = (value, ...path) => {
  let current = value;
  for (const name of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return void 0;
    current = current[name];
  }
  return current;
};
var parseJsonBytes = (bytes) => {
  const parsed = parseIJson(bytes);
  return parsed.ok ? parsed.value : void 0;
};
var parseEntryParts = (text, digest, signature, format) => {
  const content = getMember(signature, "content");
  const publicKey = getMember(signature, "verifier", "publicKey", "rawBytes");
  if (typeof digest !== "string" || typeof content !== "string" || typeof publicKey !== "string") return null;
  const entry = { digest, signature: content, publicKey };
  return format(entry) === text ? entry : null;
};
var parseRekorLeaf = (leaf) => {
  const record = getMember(parseJsonBytes(leaf), "spec", "hashedRekordV002");
  const text = String.fromCharCode(...leaf.subarray(0, 4096));
  return parseEntryParts(text, getMember(record, "data", "digest"), getMember(record, "signature"), formatRekorLeaf);
};
var createRekorLeafCheck = (crypto2, anchorKeys) => async (leaf, statement) => {
  const entry = parseRekorLeaf(leaf);
  const spki = fromBase64(entry?.publicKey ?? "");
  const signature = fromBase64(entry?.signature ?? "");
  if (entry === null || spki === null || signature === null) return false;
  if (entry.digest !== toBase64(sha256(statement)) || !anchorKeys.includes(entry.publicKey)) return false;
  return crypto2.verifyEcdsa(spki, statement, signature);
};

// core/ledger/rekor-receipt.ts
var ecdsaKeyKind = 2;
var computeEcdsaKeyId = (spki) => toHex(sha256(spki).subarray(0, 4));
var parseRekorKey = (vkey) => {
  const ed25519 = parseVkey(vkey);
  if (ed25519 !== null) {
    const { name: name2, keyId: keyId2, kind, publicKey } = ed25519;
    const isSignatureValid = async (crypto2, text, signature) => signature.length === 64 && crypto2.verifyEd25519(publicKey, encodeUtf8(text), signature);
    return kind === keyKinds.log ? { name: name2, keyId: keyId2, isSignatureValid } : null;
  }
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.[0] !== ecdsaKeyKind || !isKeyName(name)) return null;
  const spki = bytes.slice(1);
  if (parseSpki(spki)?.kind !== "ecdsa" || computeEcdsaKeyId(spki) !== keyId) return null;
  return { name, keyId, isSignatureValid: (crypto2, text, signature) => crypto2.verifyEcdsa(spki, encodeUtf8(text), signature) };
};
var isRekorVkey = (vkey) => parseRekorKey(vkey) !== null;
var findSigners = async (crypto2, note, trust) => {
  const signers = [];
  for (const { name, keyId, bytes } of note.signatures) {
    for (const trusted of trust) {
      const key = parseRekorKey(trusted.vkey);
      if (key?.name !== name || key.keyId !== keyId) continue;
      if (!await key.isSignatureValid(crypto2, note.text, bytes)) return "bad_signature";
      signers.push(trusted);
    }
  }
  return signers.length === 0 ? "no_known_signature" : signers;
};
var verifyRekorCheckpoint = (crypto2, signedRoot, trust) => verifyCheckpointSigner(signedRoot, (note) => findSigners(crypto2, note, trust));
var verifyRekorReceipt = async (crypto2, receipt, statement, trust) => {
  const verdict = await verifyReceipt(crypto2, receipt, statement, {
    trustedKeys: trust.logs,
    verifySignedRoot: (signedRoot, keys) => verifyRekorCheckpoint(crypto2, signedRoot, keys),
    isLeafBoundToStatement: createRekorLeafCheck(crypto2, trust.anchorKeys)
  });
  return verdict.ok && receipt.kind !== "rekor2" ? fail("leaf_mismatch") : verdict;
};

// verifier/json.ts
var decodeText = (bytes) => bytes === void 0 ? null : decodeUtf8(bytes);
var parseCanonical = (text) => {
  if (text === null) return void 0;
  try {
    const value = JSON.parse(text);
    return toCanonicalJson(value) === text ? value : void 0;
  } catch {
    return void 0;
  }
};
var asObject = (value) => isJsonObject(value) ? value : null;
var asString = (value) => typeof value === "string" ? value : null;
var asStrings = (value) => Array.isArray(value) && value.every((item) => typeof item === "string") ? value : null;
var hasExactMembers = (record, names) => Object.keys(record).length === names.length && names.every((name) => Object.hasOwn(record, name));
var isSameJson = (a, b) => a === void 0 || b === void 0 ? a === b : toCanonicalJson(a) === toCanonicalJson(b);
var findDifferingMembers = (a, b) => Object.keys(b).filter((name) => !isSameJson(a[name], b[name]));
var isSha256Hex = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

// verifier/trust.ts
var parseOptionalList = (value, parse) => {
  if (value === void 0 || value === null) return [];
  if (!Array.isArray(value)) return null;
  const all = value.map(parse);
  return all.every((item) => item !== null) ? all : null;
};
var parseKeyValidity = (record) => {
  const from = record.valid_from ?? defaultValidFrom;
  const to = record.valid_to ?? null;
  if (!isIsoTime(from) || to !== null && !isIsoTime(to)) return null;
  return to === null ? { validFrom: from } : { validFrom: from, validTo: to };
};
var logRoles = ["primary", "mirror", "audit"];
var parseTrustedLog = (value) => {
  const record = asObject(value);
  const window = record === null ? null : parseKeyValidity(record);
  const origin = asString(record?.origin);
  const vkey = asString(record?.vkey);
  if (record === null || window === null || origin === null || vkey === null || !logRoles.includes(record.role)) return null;
  return isRekorVkey(vkey) && vkey.startsWith(`${origin}+`) ? { origin, vkey, ...window, role: record.role } : null;
};
var parseWitnessKey = (value) => {
  const key = typeof value === "string" ? parseVkey(value) : null;
  return key?.kind === keyKinds.witness ? key : null;
};
var parseTimestampPin = (value) => {
  const record = asObject(value);
  const window = record === null ? null : parseKeyValidity(record);
  const name = asString(record?.name);
  return record !== null && window !== null && name !== null && isSha256Hex(record.spki_sha256) ? { name, spkiSha256: record.spki_sha256, ...window } : null;
};
var computeThumbprint = (x) => toBase64Url(sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));
var parseIssuerKey = (value) => {
  const record = asObject(value);
  const x = asString(record?.x) ?? "";
  const publicKey = fromBase64Url(x);
  if (record?.kty !== "OKP" || record.crv !== "Ed25519" || publicKey?.length !== 32) return null;
  const kid = computeThumbprint(x);
  const window = parseKeyValidity(record);
  return record.kid === kid && window !== null ? { kid, publicKey, ...window } : null;
};
var trustOf = (document) => {
  const record = asObject(document);
  if (record === null || record.version !== 1 && record.version !== "1") return null;
  const logs = parseOptionalList(record.logs, parseTrustedLog);
  const witnesses = parseOptionalList(record.witnesses, parseWitnessKey);
  const authorities = parseOptionalList(record.tsa, parseTimestampPin);
  const issuerKeys = parseOptionalList(asObject(record.issuer_keys)?.keys, parseIssuerKey);
  const anchorKeys = parseOptionalList(record.anchor_keys, (item) => typeof item === "string" && fromBase64(item) !== null ? item : null);
  const witnessMin = asObject(record.policy)?.witness_min ?? 0;
  if (logs === null || witnesses === null || authorities === null || issuerKeys === null || anchorKeys === null) return null;
  if (typeof witnessMin !== "number" || !Number.isSafeInteger(witnessMin) || witnessMin < 0) return null;
  return {
    ledgers: logs.filter(({ role }) => role !== "audit"),
    auditLogs: logs.filter(({ role }) => role === "audit"),
    witnesses,
    witnessMin,
    authorities,
    issuerKeys,
    anchorKeys
  };
};
var listTrustedLogKeys = (logs, origin, since) => logs.filter((log) => log.origin === origin && (log.validTo === void 0 || since < log.validTo));
var listLogKeys = (logs, origin, since) => listTrustedLogKeys(logs, origin, since).map(({ vkey }) => parseVkey(vkey)).filter((key) => key !== null);
var findIssuerKey = ({ issuerKeys }, kid, at) => {
  const key = issuerKeys.find((candidate) => candidate.kid === kid);
  if (key === void 0) return "is not trusted";
  return isKeyInUse(key, at) ? key : "was not in use then";
};

// core/certificates/evidence-zip.ts
var localSignature = 67324752;
var centralSignature = 33639248;
var endSignature = 101010256;
var localHeaderBytes = 30;
var endRecordBytes = 22;
var zipVersion = 20;
var utf8NamesFlag = 2048;
var storedMethod = 0;
var midnightDosTime = 0;
var earliestDosDate = 33;
var crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? crc >>> 1 ^ 3988292384 : crc >>> 1;
  return crc;
});
var crc32 = (bytes) => {
  let crc = 4294967295;
  for (const byte of bytes) crc = crc >>> 8 ^ crcTable[(crc ^ byte) & 255];
  return (crc ^ 4294967295) >>> 0;
};
var encodeFields = (...pairs) => {
  const bytes = new Uint8Array(pairs.reduce((sum, [width]) => sum + width, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [width, value] of pairs) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += width;
  }
  return bytes;
};
var buildMemberFields = (name, content) => [
  [2, zipVersion],
  [2, utf8NamesFlag],
  [2, storedMethod],
  [2, midnightDosTime],
  [2, earliestDosDate],
  [4, crc32(content)],
  [4, content.length],
  [4, content.length],
  [2, name.length],
  [2, 0]
  // the length of the extra field
];
var pathSegmentPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
var isPackPath = (name) => name.length <= 200 && name.split("/").every((part) => pathSegmentPattern.test(part));
var createZip = (files) => {
  const members = [];
  const directory = [];
  let offset = 0;
  for (const [name, content] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
    if (!isPackPath(name)) throw new TypeError("zip: a member name is not a plain relative path");
    const nameBytes = encodeUtf8(name);
    const header = buildMemberFields(nameBytes, content);
    members.push(encodeFields([4, localSignature], ...header), nameBytes, content);
    directory.push(encodeFields([4, centralSignature], [2, zipVersion], ...header, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), nameBytes);
    offset += localHeaderBytes + nameBytes.length + content.length;
  }
  const directoryBytes = directory.reduce((sum, part) => sum + part.length, 0);
  const count = files.size;
  const end = encodeFields([4, endSignature], [2, 0], [2, 0], [2, count], [2, count], [4, directoryBytes], [4, offset], [2, 0]);
  return concatBytes(...members, ...directory, end);
};
var decodeLatin1 = (bytes) => String.fromCharCode(...bytes);
var parseZip = (zip, maxBytes) => {
  if (zip.length > maxBytes) return fail("too_large");
  if (zip.length < endRecordBytes) return fail("not_a_zip");
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const files = /* @__PURE__ */ new Map();
  let last = "";
  let at = 0;
  while (at + 4 <= zip.length && view.getUint32(at, true) === localSignature) {
    if (at + localHeaderBytes > zip.length) return fail("truncated");
    const size = view.getUint32(at + 18, true);
    const nameLength = view.getUint16(at + 26, true);
    if (view.getUint16(at + 6, true) !== utf8NamesFlag) return fail("data_descriptor_or_flags");
    if (view.getUint16(at + 8, true) !== storedMethod || view.getUint32(at + 22, true) !== size) return fail("compressed");
    const start = at + localHeaderBytes + nameLength;
    if (nameLength > 200 || start + size > zip.length) return fail("truncated");
    const name = decodeLatin1(zip.subarray(at + localHeaderBytes, start));
    if (!isPackPath(name)) return fail("unsafe_name");
    if (name <= last) return fail("duplicate_or_unsorted_name");
    const content = zip.slice(start, start + size);
    if (crc32(content) !== view.getUint32(at + 14, true)) return fail("wrong_crc");
    files.set(name, content);
    last = name;
    at = start + size;
  }
  if (at + 4 > zip.length || at === 0) return fail("not_a_zip");
  if (view.getUint32(at, true) !== centralSignature) return fail("bytes_before_or_between_members");
  const archive = createZip(files);
  if (areBytesEqual(archive, zip)) return { ok: true, files };
  return fail(zip.length > archive.length && areBytesEqual(archive, zip.subarray(0, archive.length)) ? "trailing_bytes" : "headers_differ");
};

// core/masking.ts
var getFirstCharacter = (text) => [...text.trim()][0] ?? "";
var maskEmail = (address) => {
  const at = address.lastIndexOf("@");
  if (at < 1) return "***";
  const domain = address.slice(at + 1);
  return `${getFirstCharacter(address.slice(0, at))}***@${getFirstCharacter(domain)}***.${domain.slice(domain.lastIndexOf(".") + 1)}`;
};
var maskPhone = (phone) => {
  const digits = phone.replace(/\D/g, "");
  return digits.length < 4 ? "***" : `***-***-**${digits.slice(-2)}`;
};
var maskName = (name) => `${getFirstCharacter(name)}***`;
var maskByFieldKey = {
  email: maskEmail,
  phone: maskPhone,
  mobile: maskPhone,
  first_name: maskName,
  last_name: maskName,
  full_name: maskName
};
var maskFieldValue = (key, value) => {
  if (value === "") return "";
  const mask = Object.hasOwn(maskByFieldKey, key) ? maskByFieldKey[key] : void 0;
  return mask === void 0 ? "***" : mask(value);
};

// core/cease-deadline.ts
var ceaseBusinessDays = 10;
var isWeekend = (instant) => {
  const day = new Date(instant).getUTCDay();
  return day === 0 || day === 6;
};
var getCeaseDeadline = (from) => {
  const midnight = toDayNumber(from) * dayMs;
  let day = midnight;
  for (let counted = 0; counted < ceaseBusinessDays; ) {
    day += dayMs;
    if (!isWeekend(day)) counted += 1;
  }
  return day + dayMs - 1;
};

// core/text.ts
var invisiblePattern = new RegExp("[[\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]--[\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]]", "v");
var refusedCharacters = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\p{Noncharacter_Code_Point}]|[[\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]--[\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]]|(?<=^|[\\p{White_Space}\\u200c\\u200d])[\\u200c\\u200d]|[\\u200c\\u200d](?=$|\\p{White_Space})", "gv");

// core/certificates/recipients.ts
var maxEntityLength = 200;
var maxSpellingLength = 4 * maxEntityLength;

// core/withdrawals/receipt.ts
var receiptFormat = "svc-withdrawal-receipt-v1";
var entityReceiptFormat = "svc-withdrawal-receipt-v2";
var receiptTextMembers = [
  "cease_by",
  "cert_id",
  "fingerprint",
  "method",
  "origin_domain",
  "schema",
  "scope",
  "withdrawn_at"
];

// core/withdrawals/withdrawal.ts
var maxClockSkewMs = 5 * minuteMs;

// core/withdrawals/entity-withdrawal.ts
var listConsentedEntities = ({ entities, answered }) => answered?.accepted ?? entities;
var listActiveEntities = (certificate) => {
  const withdrawn = new Set(certificate.entitiesWithdrawn.map(({ entity }) => entity));
  return listConsentedEntities(certificate).filter((name) => !withdrawn.has(name));
};

// core/certificates/evidence-markup.ts
var Markup = class {
  text;
  constructor(text) {
    this.text = text;
  }
};
var htmlEntities = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\r": "&#13;"
};
var renderPiece = (piece) => {
  if (piece === null) return "";
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === "object") return piece.map(({ text }) => text).join("");
  return String(piece).replaceAll(/[&<>"'\r]/g, (char) => htmlEntities[char]);
};
var html = (strings, ...pieces) => new Markup(strings.reduce((text, string, at) => text + renderPiece(pieces[at - 1] ?? null) + string));
var monthNames = "January February March April May June July August September October November December".split(" ");
var renderTime = (instant) => {
  const iso = toIso(instant);
  const day = `${Number(iso.slice(8, 10))} ${monthNames[Number(iso.slice(5, 7)) - 1]} ${iso.slice(0, 4)}`;
  return html`<time datetime="${iso}">${day}, ${iso.slice(11, 19)} UTC</time>`;
};
var parseInstant = (value) => {
  const instant = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(instant) ? instant : null;
};
var renderTimeText = (value) => {
  const instant = parseInstant(value);
  return instant === null ? null : renderTime(instant);
};

// core/certificates/published-certificate.ts
var isConsentRefused = ({ answered }) => answered?.accepted.length === 0;

// core/certificates/evidence-article.ts
var renderRow = (term, value) => value === null ? null : html`<dt>${term}</dt><dd>${value}</dd>`;
var renderDefinitionList = (...all) => html`<dl>${all.filter((row) => row !== null)}</dl>`;
var renderHash = (text) => html`<code>${text}</code>`;
var renderExactText = (text) => html`<span dir="auto" class="exact">${text}</span>`;
var renderTypedValue = (text) => text === "" ? html`(left empty)` : renderExactText(text);
var renderNames = (list) => list.length === 0 ? html`None` : html`<ul>${list.map((name) => html`<li dir="auto">${name}</li>`)}</ul>`;
var toObject = (value) => isJsonObject(value) ? value : {};
var renderTextMember = (object, name) => {
  const value = object[name];
  return typeof value === "string" && value !== "" ? renderExactText(value) : null;
};
var getIncludedEvidence = ({ opened, isRedacted }) => isRedacted ? null : opened.evidence;
var renderMissingEvidence = ({ isRedacted }, what) => html`<p>${isRedacted ? `Left out of this pack on purpose: ${what}.` : `Erased: ${what}.`}</p>`;
var renderStatus = ({ opened, publicView }) => {
  const { environment, status, entitiesWithdrawn } = opened.certificate;
  const withdrawal = toObject(publicView.withdrawal);
  const sandbox = environment === "sandbox" ? html`<p><strong>Sandbox:</strong> a test certificate. It proves nothing.</p>` : null;
  if (status === "active") {
    const but = entitiesWithdrawn.length > 0 ? ", but from single recipients" : "";
    return isConsentRefused(opened.certificate) ? html`<p><strong>No recipient was accepted.</strong> The person was asked about each recipient and agreed to none of them.</p>${sandbox}` : html`<p><strong>Active.</strong> The consent had not been withdrawn when this pack was made${but}.</p>${sandbox}`;
  }
  const at = renderTimeText(withdrawal.withdrawn_at);
  const until = renderTimeText(withdrawal.cease_by);
  return html`<p><strong>Withdrawn</strong>${at === null ? null : html` on ${at}`}.${until === null ? null : html` Contact must cease by ${until}.`}</p>${sandbox}`;
};
var renderNotes = (notes) => {
  const { fields_unrecognized: keys, fields_truncated: isTruncated, text_replaced: isReplaced } = notes ?? {};
  const lines = [
    keys === void 0 ? null : html`<p>Not of the kind that the field asks for: ${keys.join(", ")}. No search finds these values.</p>\n`,
    isTruncated === void 0 ? null : html`<p>The form had more fields. Some were left out.</p>\n`,
    isReplaced === void 0 ? null : html`<p>Characters that cannot be stored were replaced by \ufffd.</p>\n`
  ];
  return lines.every((line) => line === null) ? null : html`${lines.filter((line) => line !== null)}`;
};
var renderSubject = ({ opened, isRedacted }, disclosed) => {
  if (opened.subject === null) return html`<p>The person's details were erased.</p>`;
  const shown = new Map(disclosed);
  const hidden = Object.entries(opened.certificate.subjectMasked).filter(([key]) => !shown.has(key));
  const list = (fields) => fields.length === 0 ? null : renderDefinitionList(...fields.map(([key, value]) => renderRow(key, renderTypedValue(value))));
  return html`<p>The person's details as typed into the form. They were not verified.</p>
${renderNotes(opened.certificate.notes)}${list(disclosed)}
${hidden.length > 0 ? html`<p>${isRedacted ? "Left out of this pack on purpose" : "Not disclosed in this pack"}, and shown masked:</p>` : null}
${list(hidden)}`;
};
var renderParties = (parts, disclosed) => {
  const { businessName } = parts.opened.certificate;
  const { legalName, mailingAddress, contact } = parts.identity;
  return html`<h2>Who</h2>
${renderDefinitionList(
    renderRow("Asked by", renderExactText(businessName)),
    renderRow("Legal name", legalName === null ? null : renderExactText(legalName)),
    renderRow("Postal address", mailingAddress === null ? null : renderExactText(mailingAddress)),
    renderRow("Contact", contact === null ? null : renderExactText(contact))
  )}
${renderSubject(parts, disclosed)}`;
};
var captureMethodLabels = {
  browser: "by a request as browsers make it, sent from the page itself; other programs can make such a request too",
  server: "by a request of another program than a browser, as the business's own server makes it"
};
var renderLocation = (geo) => {
  const parts = [geo.city, geo.region, geo.country].filter((part) => typeof part === "string");
  return parts.length === 0 ? null : html`${renderExactText(parts.join(", "))}, estimated from the IP address`;
};
var renderCaptureDetails = (parts) => {
  const { certificate } = parts.opened;
  const evidence = getIncludedEvidence(parts);
  const seen = evidence === null ? renderMissingEvidence(parts, "IP address, browser, operating system, and address of the page") : renderDefinitionList(
    renderRow("IP address", renderTextMember(evidence, "ip")),
    renderRow("Place", renderLocation(toObject(evidence.geo))),
    renderRow("Browser", renderTextMember(evidence, "browser") ?? html`not recognized`),
    renderRow("Operating system", renderTextMember(evidence, "os") ?? html`not recognized`),
    renderRow("User agent, as sent", renderTextMember(evidence, "user_agent")),
    renderRow("Language", renderTextMember(evidence, "locale")),
    renderRow("Device clock", renderTextMember(evidence, "client_time")),
    renderRow("Page", renderTextMember(evidence, "page_url")),
    renderRow("Referrer", renderTextMember(evidence, "referrer"))
  );
  return html`<h2>When and from where</h2>
${renderDefinitionList(
    renderRow(
      isConsentRefused(certificate) ? "Answered at" : "Given at",
      html`${renderTime(certificate.issuedAt)} (Coordinated Universal Time), by the clock of this service`
    ),
    renderRow("On the site", renderExactText(certificate.originDomain)),
    renderRow("Captured", html`${captureMethodLabels[certificate.capturedVia]}`),
    renderRow(
      "Browser signal",
      certificate.gpc ? html`the browser asked not to sell or share its user's data (Global Privacy Control)` : null
    )
  )}
${seen}`;
};
var optInLabels = {
  manual: "the person ticked the box",
  pre_selected: "the box was ticked beforehand and left so",
  non_interactive: "there was no box to tick; sending the form was the whole act"
};
var notStated = html`not stated`;
var renderPresentation = (parts) => {
  const evidence = getIncludedEvidence(parts);
  if (evidence === null)
    return renderMissingEvidence(parts, "kind of consent, size, contrast and visibility of the text, electronic signature");
  const { opt_in_type: optIn, font_px: size, contrast_ratio: contrast, visible, ...shown } = toObject(evidence.presentation);
  const { automated, ...widget } = toObject(evidence.widget);
  const version = renderTextMember(widget, "version");
  return html`<p>As the form reported it:</p>
${renderDefinitionList(
    renderRow("Kind of consent", typeof optIn === "string" ? html`${optInLabels[optIn] ?? optIn}` : notStated),
    renderRow("Checkbox name", renderTextMember(shown, "checkbox_name")),
    renderRow("Text size", typeof size === "number" ? html`${size} CSS pixels` : notStated),
    renderRow("Contrast", typeof contrast === "number" ? html`${contrast} to 1` : notStated),
    renderRow(
      "Visible",
      typeof visible === "boolean" ? html`${visible ? "yes, the text was displayed" : "no, the text was not displayed legibly"}` : notStated
    ),
    renderRow("Page script", version === null ? null : html`version ${version}`),
    renderRow("Automated browser", automated === true ? html`yes, the browser called itself automated` : null)
  )}
<h2>Electronic signature</h2>
${renderEsign(evidence)}`;
};
var renderEsign = (evidence) => {
  const { accepted, disclosure_text: text } = toObject(evidence.esign);
  if (typeof text !== "string") return html`<p>No separate disclosure for an electronic signature was reported.</p>`;
  return html`<blockquote dir="auto" class="exact">${text}</blockquote>
<p>${accepted === true ? "Accepted by the person, as the form reported it." : "Not accepted by the person, as the form reported it."}</p>`;
};
var renderWithdrawnRecipients = ({ opened }) => {
  const { entitiesWithdrawn } = opened.certificate;
  if (entitiesWithdrawn.length === 0) return null;
  return html`<h2>Contact withdrawn from individual recipients</h2>
<ul>${entitiesWithdrawn.map(
    ({ entity, withdrawnAt, ceaseBy, acknowledgedAt }) => html`<li><span dir="auto">${entity}</span>, on ${renderTime(withdrawnAt)}; contact must cease by ${renderTime(ceaseBy)}${acknowledgedAt === null ? "" : html`; the business confirmed that it has, on ${renderTime(acknowledgedAt)}`}</li>`
  )}</ul>`;
};
var renderRecipients = (parts) => {
  const { certificate } = parts.opened;
  const { entities: named, answered, status } = certificate;
  const isWithdrawn = status === "revoked";
  const until = renderTimeText(toObject(parts.publicView.withdrawal).cease_by);
  const heading = isWithdrawn ? "Contact withdrawn from" : isConsentRefused(certificate) ? "Who was asked about" : "Who may contact the person";
  const deadline = isWithdrawn && until !== null ? html`<p>None of them may contact the person under this consent anymore. Their contact must cease by ${until}.</p>` : null;
  const renderAnswers = () => {
    if (answered === null)
      return html`<p>The form named them together and did not ask about each one.</p>${renderNames(listActiveEntities(certificate))}`;
    const { accepted, rejected } = answered;
    const silent = named.filter((name) => !accepted.includes(name) && !rejected.includes(name));
    return renderDefinitionList(
      renderRow(isWithdrawn ? "Withdrawn from" : "Accepted", renderNames(listActiveEntities(certificate))),
      renderRow("Declined", renderNames(rejected)),
      silent.length > 0 ? renderRow("Named, not asked", renderNames(silent)) : null
    );
  };
  return html`<h2>${heading}</h2>
${deadline}${renderAnswers()}
${renderWithdrawnRecipients(parts)}`;
};
var withdrawalMethodLabels = {
  email_code: "by the person, who proved the e-mail address on the certificate",
  manage_link: "by the person, with the link handed over when the form was sent",
  business_recorded: "recorded by the business, which was told by other means"
};
var withdrawalScopeLabels = {
  certificate: "this certificate",
  business: "everything given to the business under that address"
};
var renderWithdrawal = (parts) => {
  if (parts.opened.certificate.status === "active") return null;
  const view = toObject(parts.publicView.withdrawal);
  return html`<h2>Withdrawal</h2>
${renderDefinitionList(
    renderRow("Withdrawn at", renderTimeText(view.withdrawn_at)),
    renderRow("How", html`${withdrawalMethodLabels[String(view.method)] ?? String(view.method)}`),
    renderRow("Scope", html`${withdrawalScopeLabels[String(view.scope)] ?? String(view.scope)}`),
    renderRow("Business received it at", renderTimeText(view.received_at)),
    renderRow("Contact must cease by", renderTimeText(view.cease_by)),
    renderRow("Business says contact ceased", renderTimeText(view.cease_acknowledged_at) ?? html`not yet`)
  )}`;
};
var renderTimeline = ({ opened, publicView }) => {
  const { issuedAt, policies: linked, entitiesWithdrawn, subjectErasedAt } = opened.certificate;
  const view = toObject(publicView.withdrawal);
  const anchored = (anchor, label) => [
    [parseInstant(anchor.anchored_at), `${label} anchored in the ledger`],
    [parseInstant(toObject(anchor.attested).time), `${label} seen in the ledger by a time-stamp authority`]
  ];
  const entityWithdrawals = new Map(entitiesWithdrawn.map(({ number, withdrawnAt }) => [number, withdrawnAt]));
  const all = [
    [issuedAt, "Certificate issued"],
    ...linked.map(({ kind, capturedAt }) => [capturedAt, kind === "privacy" ? "Privacy policy saved" : "Terms saved"]),
    ...anchored(toObject(publicView.anchor), "Issuance"),
    ...[...entityWithdrawals.values()].map((at) => [at, "Withdrawn from individual recipients"]),
    [parseInstant(view.withdrawn_at), "Consent withdrawn"],
    ...anchored(toObject(view.anchor), "Withdrawal"),
    [parseInstant(view.cease_acknowledged_at), "Business confirmed that contact has ceased"],
    [subjectErasedAt, "The person's details were erased"]
  ];
  const dated = all.flatMap(([at, what]) => at === null ? [] : [{ at, what }]).sort((a, b) => a.at - b.at);
  return html`<h2>History</h2>
<ul>${dated.map(({ at, what }) => html`<li>${renderTime(at)}: ${what}</li>`)}</ul>`;
};
var renderPolicies = ({ opened }) => {
  const { policies: linked, policiesCaptured } = opened.certificate;
  if (linked.length === 0) return html`<p>${policiesCaptured ? "None were found on the site." : "Not captured yet."}</p>`;
  const labels = { privacy: "Privacy policy", terms: "Terms" };
  return renderDefinitionList(
    ...linked.map(
      (policy) => renderRow(
        labels[policy.kind],
        html`${renderExactText(policy.sourceUrl)}<br>captured ${renderTime(policy.capturedAt)}<br>SHA-256 of its text ${renderHash(policy.contentHash)}`
      )
    )
  );
};
var renderAnchorReference = ({ anchors }, of) => {
  const receipt = anchors.find(({ event }) => event === of)?.receipt ?? null;
  return receipt === null ? html`not yet confirmed by the ledger` : renderExactText(receipt.tx_ref);
};
var renderProofs = (parts) => {
  const { certificate, evidenceHash } = parts.opened;
  const { verify_url: address } = parts.publicView;
  return html`<h2>Proofs</h2>
${renderDefinitionList(
    renderRow("Certificate", renderExactText(certificate.id)),
    renderRow("Public page", typeof address === "string" ? renderExactText(address) : null),
    renderRow("Fingerprint", renderHash(certificate.fingerprint)),
    renderRow("Hash of the text shown", renderHash(certificate.disclosureHash)),
    renderRow("Hash of the evidence", renderHash(evidenceHash)),
    renderRow("Signing key", renderHash(certificate.signature.kid)),
    renderRow("Ledger entry", renderAnchorReference(parts, "issued")),
    renderRow("Ledger entry of the withdrawal", certificate.status === "revoked" ? renderAnchorReference(parts, "revoked") : null),
    renderRow("Public page opened", html`${certificate.viewCount} ${certificate.viewCount === 1 ? "time" : "times"}`)
  )}`;
};
var renderCertificateArticle = (parts, disclosed) => {
  const { certificate } = parts.opened;
  return html`<main id="certificate">
<h1>${isConsentRefused(certificate) ? "Consent refused to" : "Consent given to"} <span dir="auto">${certificate.businessName}</span></h1>
${renderStatus(parts)}
${renderParties(parts, disclosed)}
${renderCaptureDetails(parts)}
<h2>What was shown</h2>
<blockquote dir="auto" class="exact">${certificate.disclosureText}</blockquote>
${renderDefinitionList(renderRow("Purpose", renderExactText(certificate.purpose)))}
<h2>How it was shown and given</h2>
${renderPresentation(parts)}
${renderRecipients(parts)}
${renderWithdrawal(parts)}
${renderTimeline(parts)}
<h2>Policies on that day</h2>
${renderPolicies(parts)}
${renderProofs(parts)}
</main>`;
};

// core/certificates/evidence-html.ts
var buildStyleSheet = (certId) => `:root{color-scheme:light dark;--ink:light-dark(#1b1d21,#e9e9e6);--quiet:light-dark(#575b62,#a7acb4);--paper:light-dark(#fff,#15171b);--line:light-dark(#dbdbd6,#353a42);--good:light-dark(#17663a,#71d19b);--bad:light-dark(#b02a21,#f59a93);--caution:light-dark(#835000,#e6b869);--action:light-dark(#1d4fb8,#8fb4ff)}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:42rem;font:100%/1.55 -apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.728rem;line-height:1.25;margin:1.5rem 0 .5rem}
h2{font-size:1.2rem;line-height:1.25;margin:2rem 0 .5rem}
p{margin:.5rem 0}
blockquote{margin:.5rem 0;padding:.25rem 0 .25rem 1rem;border-inline-start:3px solid var(--line)}
.exact{white-space:pre-wrap;unicode-bidi:isolate}
blockquote.exact{unicode-bidi:plaintext;overflow:clip}
dl{display:grid;grid-template-columns:11rem 1fr;gap:.25rem 1.5rem;margin:.5rem 0}
dt{color:var(--quiet)}
dd{margin:0;min-width:0}
dd>p{margin:0}
dd ul,main>ul{margin:0;padding-inline-start:1.2rem}
code{font:.875em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
.verdict{border:1px solid currentColor;border-radius:.375rem;padding:.75rem 1rem;margin:1rem 0}
.verdict p{margin:.25rem 0}
.verdict strong{font-size:1.2rem}
.good{color:var(--good)}.bad{color:var(--bad)}.caution{color:var(--caution)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:start;color:var(--quiet);padding-block:.25rem}
th,td{text-align:start;vertical-align:top;padding:.375rem .75rem .375rem 0;border-block-start:1px solid var(--line);font-weight:400}
td:first-child{white-space:nowrap;font-weight:650}
td small,th small{display:block;color:var(--quiet)}
label{display:block;margin-block-start:.75rem}
input{font:inherit;color:inherit;max-width:100%;margin-block:.25rem}
input[type=text]{width:100%;padding:.375rem .5rem;border:1px solid var(--quiet);border-radius:.375rem;background:var(--paper)}
button{font:inherit;color:var(--action);background:none;border:1px solid currentColor;border-radius:.375rem;padding:.375rem .75rem;margin-block:.75rem}
:focus-visible{outline:2px solid var(--action);outline-offset:3px}
@media (max-width:30rem){dl{grid-template-columns:1fr}dd{margin-block-end:.5rem}}
@page{margin:20mm 18mm 22mm;@top-left{content:"Evidence of consent";font:8pt sans-serif;color:#575b62}@bottom-left{content:"Certificate ${certId}";font:8pt sans-serif;color:#575b62}@bottom-right{content:"Page " counter(page) " of " counter(pages);font:8pt sans-serif;color:#575b62}}
@media print{:root{color-scheme:light}body{max-width:none;padding:0;font-size:10pt;orphans:3;widows:3}.screen{display:none}h1{margin-block-start:0}h1,h2{break-after:avoid}section.checks{break-before:page}tr,dt,dd:not(.long),li{break-inside:avoid}dt{break-after:avoid}thead{display:table-header-group}}
`;
var toCspHash = (text) => `'sha256-${toBase64(sha256(text))}'`;
var buildContentSecurityPolicy = (style, script) => `default-src 'none'; style-src ${toCspHash(style)}; ${script === null ? "" : `script-src ${toCspHash(script)}; `}base-uri 'none'; form-action 'none'`;
var renderEvidencePage = ({ opened }, script, body) => {
  const { id } = opened.certificate;
  const style = buildStyleSheet(id);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${buildContentSecurityPolicy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Certificate ${id}</title>
<style>${new Markup(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
};
var renderCertificatePage = (parts, disclosed) => renderEvidencePage(parts, null, renderCertificateArticle(parts, disclosed));

// verifier/certificate-page.ts
var UnreadableMember = class extends TypeError {
};
var requireText = (value) => {
  const text = asString(value);
  if (text === null) throw new UnreadableMember("a member is not text");
  return text;
};
var requireTexts = (value) => {
  const texts = asStrings(value);
  if (texts === null) throw new UnreadableMember("a member is not a list of texts");
  return texts;
};
var requireInstant = (value) => {
  if (!isIsoTime(value)) throw new UnreadableMember("a member is not a time");
  return Date.parse(value);
};
var toInstantOrNull = (value) => value === null || value === void 0 ? null : requireInstant(value);
var requireChoice = (value, choices) => {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === void 0) throw new UnreadableMember("a member has an unknown value");
  return choice;
};
var listObjects = (value) => (Array.isArray(value) ? value : []).map((item) => {
  const object = asObject(item);
  if (object === null) throw new UnreadableMember("a list holds something else than objects");
  return object;
});
var readMasked = (certificate) => Object.fromEntries(Object.entries(asObject(certificate.subject) ?? {}).map(([key, value]) => [key, requireText(value)]));
var readNotes = ({
  fields_unrecognized: keys,
  fields_truncated: isTruncated,
  text_replaced: isReplaced
}) => ({
  ...keys !== void 0 && { fields_unrecognized: requireTexts(keys) },
  ...isTruncated === true && { fields_truncated: true },
  ...isReplaced === true && { text_replaced: true }
});
var readAnswers = (certificate) => certificate.entities_accepted === void 0 ? null : { accepted: requireTexts(certificate.entities_accepted), rejected: requireTexts(certificate.entities_rejected) };
var readPolicies = (certificate) => listObjects(certificate.policies).map((policy) => ({
  kind: requireChoice(policy.kind, ["privacy", "terms"]),
  sourceUrl: requireText(policy.source_url),
  contentHash: requireText(policy.content_hash),
  capturedAt: requireInstant(policy.captured_at)
}));
var readWithdrawnEntities = (certificate) => listObjects(certificate.entities_withdrawn).map((entity) => ({
  entity: requireText(entity.entity),
  number: Number(/=([0-9]+)$/.exec(requireText(entity.receipt_url))?.[1] ?? 0),
  withdrawnAt: requireInstant(entity.withdrawn_at),
  ceaseBy: requireInstant(entity.cease_by),
  acknowledgedAt: toInstantOrNull(entity.cease_acknowledged_at)
}));
var readCertificate = (certificate, capturedVia) => ({
  id: requireText(certificate.cert_id),
  businessName: requireText(certificate.business_name),
  environment: requireChoice(certificate.environment, ["live", "sandbox"]),
  status: requireChoice(certificate.status, ["active", "revoked"]),
  purpose: requireText(certificate.purpose),
  disclosureText: requireText(certificate.disclosure_text),
  disclosureHash: requireText(certificate.disclosure_hash),
  entities: requireTexts(certificate.entities),
  answered: readAnswers(certificate),
  originDomain: requireText(certificate.origin_domain),
  issuedAt: requireInstant(certificate.issued_at),
  fingerprint: requireText(certificate.fingerprint),
  subjectMasked: readMasked(certificate),
  subjectErasedAt: toInstantOrNull(certificate.subject_erased_at),
  notes: readNotes(certificate),
  gpc: asObject(certificate.signals)?.gpc === true,
  capturedVia,
  viewCount: Number(certificate.view_count),
  policiesCaptured: certificate.policies_status !== "pending",
  signature: { kid: requireText(asObject(certificate.signature)?.kid) },
  policies: readPolicies(certificate),
  entitiesWithdrawn: readWithdrawnEntities(certificate)
});
var readIdentity = (certificate) => {
  const identity = asObject(certificate.identity);
  return {
    legalName: asString(identity?.legal_name),
    mailingAddress: asString(identity?.mailing_address),
    contact: asString(identity?.contact)
  };
};
var readAnchors = (files) => ["issued", "revoked"].map((event) => {
  const receipt = asObject(parseCanonical(decodeText(files.get(`anchors/${event}/receipt.json`))));
  return { event, receipt: receipt === null ? null : { tx_ref: requireText(receipt.tx_ref) } };
});
var readDisclosed = (files) => {
  const list = parseCanonical(decodeText(files.get("subject/disclosures.json")));
  return (Array.isArray(list) ? list : []).map((item) => {
    const [, key = "", value = ""] = requireTexts(item);
    return [key, value];
  });
};
var inOrderOfPage = (fields, page) => {
  const placed = fields.map((field) => ({ field, at: page.indexOf(html`<dt>${field[0]}</dt>`.text) }));
  return placed.sort((a, b) => a.at - b.at).map(({ field }) => field);
};
var listCaptureMethods = ({ certificate, loggedCaptureMethod }) => {
  const bound = asObject(certificate.evidence)?.captured_via ?? loggedCaptureMethod;
  return ["browser", "server"].filter((method) => bound === void 0 || bound === method);
};
var renderPackedPages = (source) => {
  const { files, certificate, redacted } = source;
  const page = decodeText(files.get("certificate.html")) ?? "";
  try {
    return listCaptureMethods(source).map((method) => {
      const read = readCertificate(certificate, method);
      if (!isSha256Hex(read.fingerprint)) throw new UnreadableMember("the fingerprint is not a hash");
      const parts = {
        opened: {
          certificate: { ...read, subjectMasked: Object.fromEntries(inOrderOfPage(Object.entries(read.subjectMasked), page)) },
          subject: files.has("subject/commitments.json") ? {} : null,
          evidence: asObject(certificate.evidence),
          evidenceHash: requireText(certificate.evidence_hash)
        },
        publicView: certificate,
        identity: readIdentity(certificate),
        anchors: readAnchors(files),
        isRedacted: redacted.includes("evidence")
      };
      return renderCertificatePage(parts, inOrderOfPage(readDisclosed(files), page));
    });
  } catch {
    return null;
  }
};
var findPageFault = (source) => {
  const pages = renderPackedPages(source);
  if (pages === null) return "certificate.json has a member that no page can show";
  const shown = decodeText(source.files.get("certificate.html"));
  return shown !== null && pages.includes(shown) ? null : "certificate.html does not show what the certificate says";
};

// core/certificates/evidence-parts.ts
var maxPackedEntityWithdrawals = 100;

// core/ledger/rfc3161.ts
var maxTimestampDelayMs = hourMs;
var needsTimestamp = (pins, at) => pins.some(({ validTo }) => validTo === void 0 || at + maxTimestampDelayMs < Date.parse(validTo));
var oids = {
  signedData: "2a864886f70d010702",
  timestampInfo: "2a864886f70d0109100104",
  contentType: "2a864886f70d010903",
  messageDigest: "2a864886f70d010904",
  signingCertificate: "2a864886f70d010910020c",
  signingCertificateV2: "2a864886f70d010910022f",
  sha256: "608648016503040201"
};
var sha256Name = "SHA-256";
var hashNames = {
  [oids.sha256]: sha256Name,
  "608648016503040202": "SHA-384",
  "608648016503040203": "SHA-512"
};
var ecdsaHashes = {
  "2a8648ce3d040302": "SHA-256",
  "2a8648ce3d040303": "SHA-384",
  "2a8648ce3d040304": "SHA-512"
};
var rsaHashes = {
  "2a864886f70d01010b": "SHA-256",
  "2a864886f70d01010c": "SHA-384",
  "2a864886f70d01010d": "SHA-512"
};
var derNull = encodeDer(derTags.nullValue);
var parseAlgorithm = (value) => {
  const members = createSequenceReader(value);
  const oid = parseOid(members.next(derTags.oid));
  members.next(derTags.nullValue);
  return members.done() ? oid : null;
};
var parseGeneralizedTime = (value) => {
  const text = String.fromCharCode(...value?.content.subarray(0, 40) ?? []);
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = ""] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{0,19}[1-9]))?Z$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  return isIsoTime(iso) ? Date.parse(iso) : null;
};
var parseTimestampInfo = (content) => {
  const members = createSequenceReader(parseDer(content) ?? void 0);
  const version = members.next(derTags.integer);
  const policy = members.next(derTags.oid);
  const imprint = createSequenceReader(members.next(derTags.sequence));
  const imprintHash = parseAlgorithm(imprint.next(derTags.sequence));
  const hashed = imprint.next(derTags.octetString);
  const serial = members.next(derTags.integer);
  const time = parseGeneralizedTime(members.next(derTags.generalizedTime));
  members.next(derTags.sequence);
  members.next(derTags.boolean);
  const nonce = members.next(derTags.integer);
  members.next(toContextTag(0));
  members.next(toContextTag(1));
  if (version === void 0 || !areBytesEqual(version.content, new Uint8Array([1])) || policy === void 0 || !members.done()) return null;
  if (hashed === void 0 || !imprint.done() || serial === void 0 || time === null) return null;
  return { imprintHash, imprint: hashed.content, serial: serial.content, time, nonce: nonce?.content ?? null };
};
var parseSignerCertificate = (value) => {
  const body = createSequenceReader(value.children[0]);
  body.next(toContextTag(0));
  const serial = body.next(derTags.integer);
  body.next(derTags.sequence);
  const issuer = body.next(derTags.sequence);
  body.next(derTags.sequence);
  body.next(derTags.sequence);
  const spki = body.next(derTags.sequence);
  return value.tag === derTags.sequence && serial !== void 0 && issuer !== void 0 && spki !== void 0 ? { encoded: value.encoded, issuer: issuer.encoded, serial: serial.encoded, spki } : null;
};
var unwrapExplicitTag = (value) => value?.children.length === 1 ? value.children[0] : void 0;
var parseSignedToken = (token) => {
  const outer = createSequenceReader(token);
  const isSigned = parseOid(outer.next(derTags.oid)) === oids.signedData;
  const message = createSequenceReader(unwrapExplicitTag(outer.next(toContextTag(0))));
  if (!isSigned || !outer.done()) return null;
  const version = message.next(derTags.integer);
  const digests = message.next(derTags.set);
  const encapsulated = createSequenceReader(message.next(derTags.sequence));
  const certificates = message.next(toContextTag(0))?.children ?? [];
  message.next(toContextTag(1));
  const signers = message.next(derTags.set);
  if (version === void 0 || digests === void 0 || !message.done()) return null;
  if (signers?.children.length !== 1) return null;
  const contentType = parseOid(encapsulated.next(derTags.oid));
  const content = unwrapExplicitTag(encapsulated.next(toContextTag(0)));
  if (content?.tag !== derTags.octetString || !encapsulated.done()) return null;
  const signer = createSequenceReader(signers.children[0]);
  const signerVersion = signer.next(derTags.integer);
  const id = signer.next(derTags.sequence);
  const byKeyId = id === void 0 && signer.next(toContextTag(0, false)) !== void 0;
  const digestOid = parseAlgorithm(signer.next(derTags.sequence));
  const attributes = signer.next(toContextTag(0));
  const signatureOid = parseAlgorithm(signer.next(derTags.sequence));
  const signature = signer.next(derTags.octetString);
  signer.next(toContextTag(1));
  if (signerVersion === void 0 || id === void 0 && !byKeyId || attributes === void 0 || signature === void 0 || !signer.done())
    return null;
  const [issuer, serial, ...more] = id?.children ?? [];
  if (id !== void 0 && (issuer === void 0 || serial === void 0 || more.length > 0)) return null;
  return {
    contentType,
    content: content.content,
    info: parseTimestampInfo(content.content),
    certificates: certificates.map(parseSignerCertificate).filter((certificate) => certificate !== null),
    signerId: issuer === void 0 || serial === void 0 ? null : { issuer: issuer.encoded, serial: serial.encoded },
    digestName: hashNames[digestOid ?? ""],
    attributes,
    signatureOid,
    signature: signature.content
  };
};
var findSignedAttribute = (attributes, oid) => {
  const found = attributes.children.filter((attribute) => parseOid(attribute.children[0]) === oid);
  if (found.length === 0) return "none";
  const members = createSequenceReader(found[0]);
  members.next(derTags.oid);
  const values = members.next(derTags.set);
  return found.length === 1 && members.done() && values?.children.length === 1 ? values.children[0] ?? null : null;
};
var parseCertificateId = (attribute, isV2) => {
  const first = createSequenceReader(createSequenceReader(attribute).next(derTags.sequence)?.children[0]);
  const algorithm = isV2 ? first.next(derTags.sequence) : void 0;
  const hashName = !isV2 ? "SHA-1" : algorithm === void 0 ? sha256Name : hashNames[parseAlgorithm(algorithm) ?? ""];
  const hash = first.next(derTags.octetString);
  return hashName === void 0 || hash === void 0 ? null : { hashName, hash: hash.content };
};
var findSignerCertificate = async (subtle, signed) => {
  const v2 = findSignedAttribute(signed.attributes, oids.signingCertificateV2);
  const v1 = findSignedAttribute(signed.attributes, oids.signingCertificate);
  if (v1 === null || v2 === null || v1 === "none" && v2 === "none") return "certificate_mismatch";
  if (signed.certificates.length === 0) return "certificate_missing";
  const ids = [...v2 === "none" ? [] : [parseCertificateId(v2, true)], ...v1 === "none" ? [] : [parseCertificateId(v1, false)]];
  for (const certificate of signed.certificates) {
    const { signerId } = signed;
    if (signerId !== null && !(areBytesEqual(signerId.issuer, certificate.issuer) && areBytesEqual(signerId.serial, certificate.serial)))
      continue;
    let isNamed = true;
    for (const id of ids) {
      isNamed &&= id !== null && areBytesEqual(new Uint8Array(await subtle.digest(id.hashName, certificate.encoded)), id.hash);
    }
    if (isNamed) return certificate;
  }
  return "certificate_mismatch";
};
var selectSignatureHash = (spki, signed) => {
  const oid = signed.signatureOid ?? "";
  const kind = parseSpki(spki)?.kind;
  if (kind === "ecdsa") return ecdsaHashes[oid] ?? null;
  if (kind === "rsa") return (oid === rsaEncryptionOid ? signed.digestName : rsaHashes[oid]) ?? null;
  return null;
};
var encodeSignedAttributes = (attributes) => {
  const data = new Uint8Array(attributes.encoded);
  data[0] = derTags.set;
  return data;
};
var maxClockSkewMs2 = 5 * minuteMs;
var encodeIntegerContent = (bytes) => parseDer(encodeUnsignedInteger(bytes))?.content ?? new Uint8Array(0);
var verifyTimestampToken = async (input, subtle) => {
  const reply = createSequenceReader(parseDer(input.token) ?? void 0);
  const status = reply.next(derTags.sequence)?.children[0];
  const token = reply.next(derTags.sequence);
  if (status?.tag !== derTags.integer || !reply.done()) return fail("reply_malformed");
  const isGranted = status.content.length === 1 && (status.content[0] === 0 || status.content[0] === 1);
  if (!isGranted) return fail("not_granted");
  const signed = token === void 0 ? null : parseSignedToken(token);
  if (signed === null) return fail("reply_malformed");
  const typeAttribute = findSignedAttribute(signed.attributes, oids.contentType);
  if (signed.contentType !== oids.timestampInfo) return fail("content_type");
  if (typeAttribute === null || typeAttribute === "none" || parseOid(typeAttribute) !== oids.timestampInfo) return fail("content_type");
  const { info } = signed;
  if (info === null) return fail("reply_malformed");
  const imprint = new Uint8Array(await subtle.digest(sha256Name, new Uint8Array(input.imprintBytes)));
  if (info.imprintHash !== oids.sha256 || !areBytesEqual(info.imprint, imprint)) return fail("imprint_mismatch");
  const { nonce, window } = input;
  if (nonce !== void 0 && (info.nonce === null || !areBytesEqual(info.nonce, encodeIntegerContent(nonce))))
    return fail("nonce_mismatch");
  if (window !== void 0 && (info.time < window.sentAt - maxClockSkewMs2 || info.time > window.receivedAt + maxClockSkewMs2)) {
    return fail("time_outside_window");
  }
  const digestAttribute = findSignedAttribute(signed.attributes, oids.messageDigest);
  if (signed.digestName === void 0) return fail("algorithm_unsupported");
  const digest = new Uint8Array(await subtle.digest(signed.digestName, new Uint8Array(signed.content)));
  if (digestAttribute === null || digestAttribute === "none" || digestAttribute.tag !== derTags.octetString) return fail("digest_mismatch");
  if (!areBytesEqual(digestAttribute.content, digest)) return fail("digest_mismatch");
  const certificate = await findSignerCertificate(subtle, signed);
  if (typeof certificate === "string") return fail(certificate);
  const spki = certificate.spki.encoded;
  const hash = selectSignatureHash(spki, signed);
  if (hash === null) return fail("algorithm_unsupported");
  const { signature, attributes } = signed;
  if (!await isSignedBy(subtle, spki, { hash, signature, data: encodeSignedAttributes(attributes) })) return fail("bad_signature");
  const spkiSha256 = toHex(new Uint8Array(await subtle.digest(sha256Name, spki)));
  const timestamp = { time: info.time, serial: toHex(info.serial), spkiSha256 };
  const pin = input.pins.find((candidate) => candidate.spkiSha256 === spkiSha256 && isKeyInUse(candidate, toIso(info.time)));
  return pin === void 0 ? { ...fail("signer_not_pinned"), timestamp } : { ok: true, timestamp, pin };
};

// core/ledger/statement.ts
var formatAnchorStatement = (anchor) => toCanonicalJson({
  entity_id: anchor.entityId,
  event: anchor.event,
  fingerprint: anchor.fingerprint,
  origin_domain: anchor.originDomain,
  ...anchor.receiptHash === void 0 ? { schema: "svc-anchor-v1" } : { receipt_hash: anchor.receiptHash, schema: "svc-anchor-v2" },
  timestamp: toIso(anchor.at)
});

// verifier/checks.ts
var checkClaims = {
  "zip.structure": "The archive holds only the files of a pack and no other bytes.",
  "manifest.files": "Every file matches the manifest.",
  "manifest.signature": "The issuer signed the manifest.",
  "trust.copies": "The key files match the trust document in the pack.",
  "fp.canonical": "The record is in canonical form.",
  "fp.hash": "The fingerprint is the SHA-256 of the record.",
  "fp.arrays": "The lists of recipients are sorted and consistent.",
  "disclosure.hash": "The disclosure matches the hash in the record.",
  "subject.commitments": "The commitments to the person's details match the hash in the record.",
  "subject.disclosures": "The disclosed details match their commitments.",
  "policies.hash": "The policy texts match their hashes.",
  "cert.consistency": "The certificate matches the record, its page shows the same, and the issuer signed the record.",
  "anchor.statement": "The ledger statement is about this certificate.",
  "anchor.entry_hash": "The ledger's receipt is for this statement.",
  "anchor.note": "The ledger signed the checkpoint in its receipt.",
  "anchor.inclusion": "The ledger holds the statement.",
  "anchor.rekor_body": "The ledger's entry is about this statement.",
  "attest.inclusion": "The attested checkpoint includes the statement.",
  "attest.cosign": "Witnesses confirm that the ledger has a single history.",
  "attest.tsa": "A timestamp authority stamped that checkpoint.",
  "revoke.statement": "The statement of the withdrawal is about this certificate.",
  "revoke.entry_hash": "The ledger's receipt is for the statement of the withdrawal.",
  "revoke.note": "The ledger signed the checkpoint in the receipt of the withdrawal.",
  "revoke.inclusion": "The ledger holds the statement of the withdrawal.",
  "revoke.rekor_body": "The ledger's entry is about the withdrawal.",
  "revoke.attest.inclusion": "The attested checkpoint includes the withdrawal.",
  "revoke.attest.cosign": "Witnesses confirm that the ledger with the withdrawal has a single history.",
  "revoke.attest.tsa": "A timestamp authority stamped the checkpoint with the withdrawal.",
  "entities.receipt": "The issuer signed a receipt for each withdrawal for individual recipients, and each receipt matches the certificate.",
  "entities.anchor": "The ledger contains the statement for each withdrawal for individual recipients.",
  "entities.attest": "The attested checkpoints include these withdrawals.",
  "audit.chain": "The audit entries are well-formed, linked and about this certificate.",
  "audit.inclusion": "The audit log holds all these entries.",
  "audit.heads": "The audit log recorded the head of this chain.",
  "audit.issuance": "The evidence matches the audit entry of the issuance.",
  "audit.status": "The withdrawal status matches the audit entries.",
  "audit.policies": "The policies match the audit entry that linked them.",
  "time.order": "The times are in order.",
  "receipt.canonical": "The receipt is complete and in canonical form.",
  "receipt.signature": "The issuer signed the receipt.",
  "receipt.deadline": "The deadline is the end of the tenth business day."
};
var listCheckIds = (...prefixes) => Object.keys(checkClaims).filter((id) => prefixes.some((prefix) => id.startsWith(prefix)));
var anchorCheckIds = listCheckIds("anchor.", "attest.");
var revocationCheckIds = listCheckIds("revoke.");
var receiptCheckIds = listCheckIds("receipt.");
var checkIds = listCheckIds("").filter((id) => !receiptCheckIds.includes(id));
var pass = (detail = "") => ({ outcome: "pass", detail });
var fail2 = (detail) => ({ outcome: "fail", detail });
var incomplete = (detail) => ({ outcome: "incomplete", detail });
var skipped = (detail) => ({ outcome: "skipped", detail });
var untrustedReasons = {
  bundled: "the keys came with the pack; provide the issuer's trust file, obtained from the issuer",
  none: "there are no keys to check signatures with"
};
var buildReport = (findings, about, ids = checkIds) => {
  const checks = ids.map((id) => ({ id, asks: checkClaims[id], ...findings.get(id) ?? skipped("not reached") }));
  const failed = checks.find(({ outcome }) => outcome === "fail")?.id ?? null;
  const missing = checks.filter(({ outcome }) => outcome === "incomplete").map(({ id, detail }) => `${id}: ${detail}`);
  if (about.trust !== "given") missing.unshift(`trust: ${untrustedReasons[about.trust]}`);
  const verdict = failed !== null ? "invalid" : missing.length > 0 ? "incomplete" : "valid";
  return { verdict, failed, checks, missing: failed === null ? missing : [], ...about };
};

// verifier/attestors.ts
var getSubtleCrypto = () => crypto.subtle;
var checkTimestamp = async (reply, note, pins, isRequired) => {
  const absent = (reason) => ({ finding: isRequired ? incomplete(reason) : skipped(reason), time: null });
  if (reply === null) return absent("there is no timestamp yet");
  if (pins.length === 0) return absent("no timestamp authority is trusted");
  const verdict = await verifyTimestampToken({ token: reply, imprintBytes: note, pins }, getSubtleCrypto());
  if (verdict.ok) return { finding: pass(`${toIso(verdict.timestamp.time)}, by ${verdict.pin.name}`), time: verdict.timestamp.time };
  if (verdict.fault === "signer_not_pinned") return absent("the timestamp is by an authority that is not trusted");
  return { finding: fail2(verdict.fault), time: null };
};
var toRekorCrypto = (crypto2) => ({
  ...crypto2,
  verifyEcdsa: (spki, data, signature) => isSignedBy(getSubtleCrypto(), spki, { hash: "SHA-256", signature, data })
});
var isSignedByRekor = async (crypto2, note, logs) => (await verifyRekorCheckpoint(toRekorCrypto(crypto2), note, logs)).ok;
var checkRekorReceipt = async (crypto2, receipt, statement, logs, anchorKeys) => {
  const leafKey = parseRekorLeaf(fromBase64(receipt.leaf_body ?? "") ?? new Uint8Array(0))?.publicKey;
  const keys = anchorKeys.length > 0 || leafKey === void 0 ? anchorKeys : [leafKey];
  const verdict = await verifyRekorReceipt(toRekorCrypto(crypto2), receipt, statement, { logs, anchorKeys: keys });
  const unboundLeaf = fail2("the ledger's entry is not about this statement, or not signed by a trusted key");
  if (!verdict.ok)
    return verdict.fault === "leaf_mismatch" ? { fault: null, leaf: unboundLeaf } : { fault: verdict.fault, leaf: unboundLeaf };
  return { fault: null, leaf: anchorKeys.length > 0 ? pass() : incomplete("no anchor key of the issuer is trusted") };
};

// verifier/anchor.ts
var toCheckId = (event, step) => {
  if (event === "revoked") return `revoke.${step}`;
  return step === "attest.inclusion" || step === "attest.cosign" || step === "attest.tsa" ? step : `anchor.${step}`;
};
var noteFaults = [
  "receipt_malformed",
  "note_malformed",
  "bad_signature",
  "no_known_signature",
  "checkpoint_malformed",
  "origin_mismatch",
  "reference_mismatch"
];
var buildExpectedStatement = (event, preimage, fingerprint, at) => formatAnchorStatement({ event, entityId: preimage.cert_id, fingerprint, originDomain: preimage.origin_domain, at: Date.parse(at) });
var checkEntryHash = (statement, receipt, published) => {
  const hash = sha256Hex(statement);
  if (receipt === null) return fail2("the receipt is malformed");
  if (receipt.entry_hash !== hash) return fail2("the receipt is for a different statement");
  if (published !== null && published.entry_hash !== hash) return fail2("the certificate names a different statement");
  return pass(hash);
};
var maxClockSkewMs3 = 5 * minuteMs;
var findPublishedStatementFault = (published, statement) => {
  if (published === null) return null;
  const { event, timestamp } = asObject(parseCanonical(statement)) ?? {};
  if (published.event !== event) return "the certificate publishes a different event";
  if (published.status !== "anchored") return published.status === "pending" ? null : "the certificate publishes an unknown anchor status";
  const { anchored_at: anchoredAt, anchored_at_source: source } = published;
  if (source !== void 0 && source !== "service") return "the certificate names another source of the time of anchoring";
  const isLater = isIsoTime(anchoredAt) && Date.parse(anchoredAt) >= Date.parse(String(timestamp)) - maxClockSkewMs3;
  return isLater ? null : "the certificate was anchored before the event";
};
var findPublishedFault = (published, receipt) => {
  if (published?.status !== "anchored") return null;
  const pairs = [
    ["ledger", receipt.ledger],
    ["tx_ref", receipt.tx_ref],
    ["leaf_index", receipt.leaf_index],
    ["tree_size", receipt.tree_size],
    ["signed_root", receipt.signed_root],
    ["inclusion_proof", receipt.inclusion_proof.join("\n")]
  ];
  const readPublished = (name) => name === "inclusion_proof" ? asStrings(published[name])?.join("\n") : published[name];
  const mismatch = pairs.find(([name, value]) => readPublished(name) !== value);
  return mismatch === void 0 ? null : `the certificate publishes a different ${mismatch[0]}`;
};
var findEntryProofFault = ({ entryProof, published }, receipt) => {
  if (entryProof !== formatReceiptProof(receipt)) return "entry.tlog-proof does not match the receipt";
  const shown = published?.status === "anchored" ? published.tlog_proof ?? entryProof : entryProof;
  return shown === entryProof ? null : "the certificate publishes a different proof";
};
var checkAnchorReceipt = async ({ crypto: crypto2 }, trust, evidence, receipt, statement) => {
  const notReached = skipped("not reached");
  const isWrapped = receipt.kind === "rekor2";
  const wrapped = isWrapped ? await checkRekorReceipt(crypto2, receipt, statement, trust.ledgers, trust.anchorKeys) : null;
  const verdict = isWrapped ? null : await verifyReceipt(crypto2, receipt, statement, { trustedKeys: trust.ledgers });
  const fault = wrapped?.fault ?? (verdict === null || verdict.ok ? null : verdict.fault);
  if (fault !== null && noteFaults.includes(fault)) return { note: fail2(fault), inclusion: notReached, rekorBody: notReached };
  const publishedFault = findPublishedFault(evidence.published, receipt);
  if (publishedFault !== null) return { note: fail2(publishedFault), inclusion: notReached, rekorBody: notReached };
  const note = pass(`${receipt.ledger}, ${receipt.tree_size} entries`);
  const proofFault = fault ?? findEntryProofFault(evidence, receipt);
  if (proofFault !== null) return { note, inclusion: fail2(proofFault), rekorBody: notReached };
  const inclusion = pass(receipt.tx_ref);
  const { rekorBody: body } = evidence;
  if (wrapped === null) {
    const none = body === null ? skipped("this ledger holds the statement itself") : fail2("this ledger does not wrap statements, so rekor.json must be absent");
    return { note, inclusion, rekorBody: none };
  }
  const isLeafPresent = body !== null && toBase64(body) === receipt.leaf_body;
  return { note, inclusion, rekorBody: isLeafPresent ? wrapped.leaf : fail2("rekor.json is not the leaf of the receipt") };
};
var createUnattestedFindings = (context) => {
  const missing = (isRequired) => isRequired ? incomplete("the ledger's checkpoint is not attested yet") : skipped("no attestation is required");
  return {
    inclusion: missing(context.requiresTimestamp || context.witnessMin > 0),
    cosign: missing(context.witnessMin > 0),
    tsa: missing(context.requiresTimestamp),
    time: null
  };
};
var checkAttestation = async (context, trust, evidence, receipt, leaf) => {
  const { attestedProof, attestedNote, timestampReply } = evidence;
  const published = asObject(evidence.published?.attested);
  if (attestedProof === null && attestedNote === null && timestampReply === null) {
    const absent = createUnattestedFindings(context);
    return published === null ? absent : { ...absent, inclusion: incomplete("the attestation that the certificate names is not in the pack") };
  }
  const notReached = skipped("not reached");
  const failed = (detail) => ({ inclusion: fail2(detail), cosign: notReached, tsa: notReached, time: null });
  if (attestedProof === null || attestedNote === null) return failed("the attested checkpoint and its proof must both be present");
  const origin = parseCheckpoint(receipt.signed_root).origin;
  const rekorKeys = listTrustedLogKeys(trust.ledgers, origin, receipt.verified_at);
  const log = {
    origin,
    keys: listLogKeys(trust.ledgers, origin, receipt.verified_at),
    witnesses: trust.witnesses,
    ...receipt.kind === "rekor2" && { isSignedByLog: (note) => isSignedByRekor(context.crypto, note, rekorKeys) }
  };
  const attested = await verifyCheckpoint(context.crypto, attestedNote, log);
  if (!attested.ok) return failed(`checkpoint.txt: ${attested.fault}`);
  const proven = await verifyTlogProof(context.crypto, attestedProof, leaf, log);
  if (!proven.ok) return failed(proven.fault);
  if (proven.index.toString() !== receipt.leaf_index) return failed("the proof is for a different index in the ledger");
  if (!parseTlogProof(attestedProof)?.checkpoint.startsWith(attestedNote))
    return failed("the proof leads to a different checkpoint than the attested one");
  const isPublished = published !== null && published.tree_size === proven.checkpoint.size.toString();
  if (isPublished && asString(published.signed_root)?.startsWith(attestedNote) !== true)
    return failed("the certificate publishes a different attested checkpoint");
  const inclusion = pass(`${proven.checkpoint.size} entries`);
  const witnesses = [...new Set(proven.cosignatures.map(({ key }) => key.name))];
  const names = witnesses.length === 0 ? "" : `: ${witnesses.join(", ")}`;
  const count = `${witnesses.length} of ${context.witnessMin} required witnesses${names}`;
  const cosign = witnesses.length < context.witnessMin ? incomplete(count) : witnesses.length === 0 ? skipped("no witness is required") : pass(count);
  const timestamp = await checkTimestamp(timestampReply, encodeUtf8(attestedNote), trust.authorities, context.requiresTimestamp);
  const stampedAt = isPublished && published.time_source === "rfc3161" ? published.time ?? null : null;
  const isOtherTime = stampedAt !== null && timestamp.time !== null && Date.parse(String(stampedAt)) !== timestamp.time;
  const tsa = isOtherTime ? fail2("the certificate publishes a different time than the timestamp") : timestamp.finding;
  return { inclusion, cosign, tsa, time: timestamp.time };
};
var checkAnchor = async (findings, event, expected, evidence, context) => {
  const record = (step, finding) => {
    findings.set(toCheckId(event, step), finding);
  };
  const { statement, published, trust } = { ...evidence, trust: context.trust };
  if (statement === null) {
    record("statement", incomplete("the statement is not in the pack"));
    return { time: null };
  }
  const isExpected = statement === expected && (published === null || published.statement === statement);
  const publishedFault = isExpected ? findPublishedStatementFault(published, statement) : "the statement does not match this certificate";
  record("statement", publishedFault === null ? pass() : fail2(publishedFault));
  if (evidence.receipt === null) {
    if (published !== null && published.entry_hash !== sha256Hex(statement)) {
      record("entry_hash", fail2("the certificate names a different statement"));
    } else {
      const isAnchored = published?.status === "anchored";
      record(
        "entry_hash",
        incomplete(isAnchored ? "the ledger's receipt is not included" : "the ledger has not confirmed yet: there is no receipt")
      );
    }
    return { time: null };
  }
  const receipt = parseReceipt(evidence.receipt);
  const entryHash = checkEntryHash(statement, receipt, published);
  record("entry_hash", entryHash);
  if (receipt === null) return { time: null };
  if (trust === null || trust.ledgers.length === 0) {
    record("note", incomplete("no trusted ledger key to check it with"));
    return { time: null };
  }
  const bytes = encodeUtf8(statement);
  const found = await checkAnchorReceipt(context, trust, evidence, receipt, bytes);
  record("note", found.note);
  record("inclusion", found.inclusion);
  record("rekor_body", found.rekorBody);
  if (found.inclusion.outcome !== "pass") return { time: null };
  const madeAt = Date.parse(String(asObject(parseCanonical(expected))?.timestamp));
  const requiresTimestamp = context.requiresTimestamp || needsTimestamp(trust.authorities, madeAt);
  const attested = await checkAttestation({ ...context, requiresTimestamp }, trust, evidence, receipt, evidence.rekorBody ?? bytes);
  record("attest.inclusion", attested.inclusion);
  record("attest.cosign", attested.cosign);
  record("attest.tsa", attested.tsa);
  return { time: attested.time };
};

// verifier/format-changes.ts
var entityReceiptsSince = "2026-11-22T20:00:00.000Z";
var boundDetailsSince = "2026-11-27T00:00:00.000Z";

// core/certificates/subject.ts
var computeFieldCommitment = (salt, key, value) => sha256Hex(toCanonicalJson([salt, key, value]));

// verifier/withdrawn-entities.ts
var parseWithdrawalNumber = (entity) => Number(/[?&]withdrawal=([1-9][0-9]{0,5})$/.exec(asString(entity.receipt_url) ?? "")?.[1] ?? 0);
var groupEntitiesByWithdrawal = (certificate) => {
  const listed = Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : [];
  const groups = /* @__PURE__ */ new Map();
  for (const entity of listed.map(asObject).filter((item) => item !== null)) {
    const number = parseWithdrawalNumber(entity);
    const group = groups.get(number);
    if (group === void 0) groups.set(number, [entity]);
    else group.push(entity);
  }
  return groups;
};

// verifier/record.ts
var textMemberNames2 = ["cert_id", "disclosure_hash", "origin_domain", "purpose", "subject_hash", "timestamp"];
var choiceMemberNames = ["entities_accepted", "entities_rejected"];
var isNamedBusiness = (value) => isJsonObject(value) && hasExactMembers(value, ["id", "name"]) && Object.values(value).every((text) => typeof text === "string");
var parsePreimage = (text) => {
  const record = asObject(parseCanonical(text));
  if (record === null) return null;
  const names = ["business", "entities", ...textMemberNames2];
  const hasValidMembers = hasExactMembers(record, names) || hasExactMembers(record, [...names, ...choiceMemberNames]);
  const isTyped = isNamedBusiness(record.business) && textMemberNames2.every((name) => typeof record[name] === "string") && ["entities", ...choiceMemberNames].every((name) => record[name] === void 0 || asStrings(record[name]) !== null);
  return hasValidMembers && isTyped && isIsoTime(record.timestamp) ? record : null;
};
var checkCanonical = (preimage) => preimage === null ? fail2("the record is not canonical JSON with exactly the bound members") : pass();
var checkFingerprint = (text, claimed, expected) => {
  const actual = sha256Hex(text ?? "");
  if (typeof claimed !== "string") return fail2("there is no readable certificate with a fingerprint");
  if (text === null || actual !== claimed) return fail2("the fingerprint of the certificate does not match its record");
  if (expected !== null && actual !== expected) return fail2("it is not the expected fingerprint");
  return pass(actual);
};
var isSortedSet = (names) => names.every((name, at) => at === 0 || names[at - 1] < name);
var checkArrays = (preimage) => {
  const { entities, entities_accepted: accepted, entities_rejected: rejected } = preimage;
  if (![entities, accepted ?? [], rejected ?? []].every(isSortedSet)) return fail2("a list is not sorted or names a recipient twice");
  if (accepted === void 0 || rejected === void 0) return pass(`${entities.length} recipients with one choice for all`);
  if (accepted.some((name) => rejected.includes(name))) return fail2("a recipient is both accepted and declined");
  if (![...accepted, ...rejected].every((name) => entities.includes(name))) return fail2("a choice is for a recipient that is not named");
  return pass(`${entities.length} recipients, ${accepted.length} accepted, ${rejected.length} declined`);
};
var checkDisclosure = (disclosure, preimage) => sha256Hex(disclosure) === preimage.disclosure_hash ? pass() : fail2("the text does not match the hash in the record");
var parseCommitments = (text) => {
  const record = asObject(parseCanonical(text));
  return record !== null && Object.values(record).every(isSha256Hex) ? record : null;
};
var checkCommitments = (text, preimage, erasedAt) => {
  if (text === null && isIsoTime(erasedAt)) return skipped(`the person's details were erased at ${erasedAt}`);
  if (text === null) return fail2("subject/commitments.json is missing");
  if (parseCommitments(text) === null) return fail2("subject/commitments.json is not a canonical map of commitments");
  return sha256Hex(text) === preimage.subject_hash ? pass() : fail2("the commitments do not match the hash in the record");
};
var saltLength = 16;
var checkDisclosures = (text, commitmentsText) => {
  if (text === null && commitmentsText === null) return skipped("there is nothing to disclose");
  const commitments = parseCommitments(commitmentsText);
  const list = parseCanonical(text);
  if (commitments === null || !Array.isArray(list)) return fail2("subject/disclosures.json is not a canonical list");
  let last = "";
  for (const item of list) {
    const [salt = "", key = "", value = "", ...more] = asStrings(item) ?? [];
    if (asStrings(item)?.length !== 3 || more.length > 0 || key <= last)
      return fail2("a disclosure is not [salt, key, value], in order of keys");
    if (fromBase64Url(salt)?.length !== saltLength) return fail2(`the salt of ${key} is not 128 bits of base64url`);
    if (!Object.hasOwn(commitments, key) || commitments[key] !== computeFieldCommitment(salt, key, value)) {
      return fail2(`${key} does not match its commitment`);
    }
    last = key;
  }
  return pass(list.length === 0 ? "nothing disclosed" : list.map((item) => item[1]).join(", "));
};
var checkPolicies = (index, listed, paths, hashOfFile) => {
  if (!Array.isArray(index)) return fail2("policies/index.json is not a canonical list");
  const indexedPaths = /* @__PURE__ */ new Set();
  let missingTexts = 0;
  for (const item of index) {
    const policy = asObject(item);
    if (policy === null || !hasExactMembers(policy, ["captured_at", "content_hash", "id", "kind", "path", "source_url"])) {
      return fail2("policies/index.json is malformed");
    }
    if (policy.path === null) {
      missingTexts += 1;
      continue;
    }
    const path = asString(policy.path) ?? "";
    if (path !== `policies/${policy.kind}-${policy.content_hash}.txt`) return fail2("a policy's file name does not match its hash");
    if (hashOfFile(path) !== policy.content_hash) return fail2(`${path} does not match its hash`);
    indexedPaths.add(path);
  }
  if (paths.some((path) => !indexedPaths.has(path))) return fail2("the pack has a policy that the index does not name");
  const published = index.map((item) => {
    const { path: _, ...rest } = item;
    return rest;
  });
  if (toCanonicalJson(published) !== toCanonicalJson(listed ?? null))
    return fail2("the certificate lists different policies");
  if (missingTexts > 0) return incomplete(`the text of ${missingTexts} of ${index.length} policies is not in the pack`);
  return pass(index.length === 0 ? "no policies were linked" : `${index.length} policies`);
};
var checkIssuerSignature = async (crypto2, signed, claimed, trust) => {
  const signature = asObject(claimed);
  const bytes = fromBase64(asString(signature?.value) ?? "");
  if (signature?.alg !== "Ed25519" || bytes?.length !== 64) return fail2("the issuer's signature is malformed");
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no trusted issuer key to check the signature with");
  const key = findIssuerKey(trust, signature.kid, signed.at);
  if (typeof key === "string") return fail2(`the ${signed.what} is signed by a key that ${key}`);
  const isSigned = await crypto2.verifyEd25519(key.publicKey, encodeUtf8(signed.canonical), bytes);
  return isSigned ? pass(`signed by ${key.kid}`) : fail2(`the issuer's signature is not over this ${signed.text}`);
};
var toBoundMembers = (preimage) => ({
  cert_id: preimage.cert_id,
  business_id: preimage.business.id,
  business_name: preimage.business.name,
  issued_at: preimage.timestamp,
  entities: preimage.entities,
  entities_accepted: preimage.entities_accepted,
  entities_rejected: preimage.entities_rejected,
  disclosure_hash: preimage.disclosure_hash,
  purpose: preimage.purpose,
  origin_domain: preimage.origin_domain,
  subject_hash: preimage.subject_hash,
  preimage
});
var findContradiction = (withdrawal) => {
  const { method, received_at: receivedAt = null, cease_acknowledged_at: acknowledgedAt = null, overdue } = withdrawal;
  if (acknowledgedAt !== null && overdue === true) return "an acknowledged withdrawal is called overdue";
  if (method !== void 0 && method === "business_recorded" !== (receivedAt !== null))
    return "the method of a withdrawal contradicts when the business received it";
  return null;
};
var findEntitiesFault = (certificate, preimage) => {
  const listed = certificate.entities_withdrawn;
  if (listed === void 0) return null;
  if (!Array.isArray(listed) || listed.length === 0) return "the list of withdrawn recipients is malformed";
  const consented = preimage.entities_accepted ?? preimage.entities;
  const revokedAt = asObject(certificate.withdrawal)?.withdrawn_at;
  const seen = /* @__PURE__ */ new Set();
  for (const entity of listed.map(asObject)) {
    const name = asString(entity?.entity) ?? "";
    const at = entity?.withdrawn_at;
    if (!consented.includes(name) || seen.has(name)) return "a withdrawn recipient was not consented to, or is listed twice";
    if (!isIsoTime(at) || at < preimage.timestamp || isIsoTime(revokedAt) && at > revokedAt)
      return "the time of a recipient's withdrawal is inconsistent";
    const receivedAt = entity?.received_at ?? null;
    if (receivedAt !== null && !(isIsoTime(receivedAt) && receivedAt <= at))
      return "the business received the request for a recipient after its withdrawal";
    if (entity?.cease_by !== new Date(getCeaseDeadline(Date.parse(receivedAt ?? at))).toISOString())
      return "the deadline of a recipient is not the tenth business day";
    const contradiction = findContradiction(entity);
    if (contradiction !== null) return contradiction;
    const receiptPath = `/certs/${preimage.cert_id}/receipt?withdrawal=${parseWithdrawalNumber(entity)}`;
    if (asString(entity?.receipt_url)?.endsWith(receiptPath) !== true) return "the receipt of a recipient's withdrawal is elsewhere";
    seen.add(name);
  }
  return certificate.status === "active" && seen.size === consented.length ? "the certificate is active, but all recipients are withdrawn" : null;
};
var checkCertificate = async (crypto2, certificate, preimage, canonical, trust) => {
  const names = findDifferingMembers(certificate, toBoundMembers(preimage));
  if (names.length > 0) return fail2(`certificate and record differ in ${names.join(", ")}`);
  if (certificate.canonical !== canonical) return fail2("the certificate shows a different record");
  if (certificate.fingerprint_version !== "1") return fail2("the fingerprint has an unknown version");
  if (typeof certificate.disclosure_text !== "string" || sha256Hex(certificate.disclosure_text) !== preimage.disclosure_hash) {
    return fail2("the certificate shows a different disclosure");
  }
  if (asString(certificate.verify_url)?.endsWith(`/${preimage.cert_id}`) !== true) return fail2("verify_url is for a different certificate");
  const { status, withdrawal } = certificate;
  if (status !== "active" && status !== "revoked") return fail2("the certificate has no known status");
  const isWithdrawn = (withdrawal ?? null) !== null;
  if (isWithdrawn !== (status === "revoked") || isWithdrawn !== isJsonObject(withdrawal))
    return fail2("the certificate's status contradicts its withdrawal");
  const entitiesFault = findEntitiesFault(certificate, preimage) ?? (isJsonObject(withdrawal) ? findContradiction(withdrawal) : null);
  if (entitiesFault !== null) return fail2(entitiesFault);
  const signed = await checkIssuerSignature(
    crypto2,
    { what: "certificate", text: "record", canonical, at: preimage.timestamp },
    certificate.signature,
    trust
  );
  return signed.outcome === "pass" ? pass(`${status}, ${signed.detail}`) : signed;
};

// verifier/receipt.ts
var isValidScope = ({ entities, schema, scope }) => schema === entityReceiptFormat ? scope === "recipient" && (asStrings(entities)?.length ?? 0) > 0 : schema === receiptFormat && scope !== "recipient" && entities === void 0;
var parseSignedReceipt = (text) => {
  const record = asObject(parseCanonical(text));
  const hasEntities = record?.entities !== void 0;
  if (record === null || !hasExactMembers(record, [...receiptTextMembers, "business", "received_at", ...hasEntities ? ["entities"] : []]))
    return null;
  const { received_at: receivedAt } = record;
  const isTyped = receiptTextMembers.every((name) => typeof record[name] === "string") && isNamedBusiness(record.business);
  const isDated = isIsoTime(record.withdrawn_at) && isIsoTime(record.cease_by) && (receivedAt === null || isIsoTime(receivedAt));
  return isTyped && isDated && isSha256Hex(record.fingerprint) && isValidScope(record) ? record : null;
};
var checkReceiptSignature = (crypto2, canonical, { withdrawn_at: at }, signature, trust) => checkIssuerSignature(crypto2, { what: "receipt", text: "receipt", canonical, at }, signature, trust);
var checkDeadline = ({ cease_by: ceaseBy, withdrawn_at: withdrawnAt, received_at: receivedAt }) => {
  if (receivedAt !== null && receivedAt > withdrawnAt) return fail2("the business received the request after it recorded the withdrawal");
  const expected = new Date(getCeaseDeadline(Date.parse(receivedAt ?? withdrawnAt))).toISOString();
  return ceaseBy === expected ? pass(ceaseBy) : fail2("it is not the end of the tenth business day");
};
var buildReceiptStatement = (receipt, canonical) => formatAnchorStatement({
  event: receipt.entities === void 0 ? "certificate.revoked" : "certificate.entities_withdrawn",
  entityId: receipt.cert_id,
  fingerprint: receipt.fingerprint,
  originDomain: receipt.origin_domain,
  at: Date.parse(receipt.withdrawn_at),
  ...receipt.entities !== void 0 && { receiptHash: sha256Hex(canonical) }
});

// verifier/entity-withdrawals.ts
var isOlderEntity = ({ withdrawn_at: at, method, received_at: receivedAt }) => String(at) < entityReceiptsSince && method === void 0 && receivedAt === void 0;
var selectWorstFinding = (findings, passed) => findings.find(({ outcome }) => outcome === "fail") ?? findings.find(({ outcome }) => outcome === "incomplete") ?? (findings.some(({ outcome }) => outcome === "pass") ? passed : findings[0] ?? skipped("not reached"));
var prefixWithNumber = (number, { outcome, detail }) => ({
  outcome,
  detail: `withdrawal ${number}: ${detail}`
});
var findContradiction2 = (receipt, listed, preimage, fingerprint) => {
  const members = receipt;
  const expected = {
    cert_id: preimage.cert_id,
    business: preimage.business,
    origin_domain: preimage.origin_domain,
    fingerprint,
    entities: listed.map(({ entity }) => String(entity)).sort()
  };
  const isDifferent = (name) => toCanonicalJson(members[name] ?? null) !== toCanonicalJson(expected[name] ?? null);
  const expectedMismatch = Object.keys(expected).find(isDifferent);
  if (expectedMismatch !== void 0) return `its receipt has a different ${expectedMismatch}`;
  const mismatch = ["withdrawn_at", "cease_by", "method", "received_at"].find(
    (name) => listed.some(
      (entity) => !(entity[name] === void 0 && isOlderEntity(entity)) && toCanonicalJson(entity[name] === void 0 ? "absent" : entity[name]) !== toCanonicalJson(members[name] ?? null)
    )
  );
  return mismatch === void 0 ? null : `its receipt has a different ${mismatch}`;
};
var maxClockSkewMs4 = 5 * minuteMs;
var anchorStepIds = ["revoke.statement", "revoke.entry_hash", "revoke.note", "revoke.inclusion", "revoke.rekor_body"];
var attestationStepIds = ["revoke.attest.inclusion", "revoke.attest.cosign", "revoke.attest.tsa"];
var checkEntityWithdrawal = async (listed, { receipt: text, signature, anchor }, about, context) => {
  const withoutAnchor = (receipt2) => ({ receipt: receipt2, anchor: [], attest: [] });
  if (text === null) {
    const isOlder = listed.every(isOlderEntity) && anchor.statement === null;
    return withoutAnchor(isOlder ? skipped("the pack predates the inclusion of receipts") : incomplete("its receipt is not in the pack"));
  }
  const receipt = parseSignedReceipt(text);
  if (receipt === null || receipt.entities === void 0)
    return withoutAnchor(fail2("its receipt is not canonical JSON with exactly its members"));
  const fault = findContradiction2(receipt, listed, about.preimage, about.fingerprint);
  if (fault !== null) return withoutAnchor(fail2(fault));
  const deadline = checkDeadline(receipt);
  const signed = await checkReceiptSignature(context.crypto, text, receipt, parseCanonical(signature), context.trust);
  const anchorFindings = /* @__PURE__ */ new Map();
  const { time } = await checkAnchor(anchorFindings, "revoked", buildReceiptStatement(receipt, text), anchor, context);
  const selectFindings = (ids) => ids.flatMap((id) => anchorFindings.get(id) ?? []);
  const isEarly = time !== null && time < Date.parse(receipt.withdrawn_at) - maxClockSkewMs4;
  return {
    receipt: selectWorstFinding([signed, deadline], signed),
    anchor: selectFindings(anchorStepIds),
    attest: [...selectFindings(attestationStepIds), ...isEarly ? [fail2("a timestamp is older than the withdrawal")] : []]
  };
};
var checkEntityWithdrawals = async (findings, certificate, about, presentNumbers, loadEvidence, context) => {
  const acts = groupEntitiesByWithdrawal(certificate);
  const stray = presentNumbers.find((number) => !acts.has(number));
  if (stray !== void 0) {
    findings.set("entities.receipt", fail2(`the pack proves withdrawal ${stray}, but the certificate does not name it`));
    return;
  }
  if (acts.size === 0) {
    findings.set("entities.receipt", skipped("there is no withdrawal for individual recipients"));
    return;
  }
  const packed = [...acts].filter(([number]) => number <= maxPackedEntityWithdrawals || presentNumbers.includes(number));
  const results = await Promise.all(
    packed.map(async ([number, listed]) => ({ number, ...await checkEntityWithdrawal(listed, loadEvidence(number), about, context) }))
  );
  const suffix = acts.size === packed.length ? "" : `; ${acts.size - packed.length} later ones are covered by audit entries only`;
  const checked = pass(`${packed.length} withdrawals for individual recipients${suffix}`);
  const collectFindings = (name) => results.flatMap((act) => act[name].map((finding) => prefixWithNumber(act.number, finding)));
  findings.set(
    "entities.receipt",
    selectWorstFinding(
      results.map(({ number, receipt }) => prefixWithNumber(number, receipt)),
      checked
    )
  );
  findings.set("entities.anchor", selectWorstFinding(collectFindings("anchor"), checked));
  findings.set("entities.attest", selectWorstFinding(collectFindings("attest"), checked));
};

// core/audit/chain.ts
var createGenesisHead = ({ chain, chainIndex }) => ({
  seq: 0n,
  hash: sha256Hex(`svc-audit-v1
${chainIndex}
${chain}`)
});
var serializeAuditEntry = (entry) => toCanonicalJson({
  at: entry.at,
  chain: entry.chain,
  entity_id: entry.entity_id,
  entity_type: entry.entity_type,
  payload_hash: entry.payload_hash,
  prev_hash: entry.prev_hash,
  seq: entry.seq,
  type: entry.type
});
var hashAuditEntry = (entry) => sha256Hex(serializeAuditEntry(entry));

// core/audit/heads.ts
var serializeHeadLeaf = (chain, head) => toCanonicalJson({ chain, head: head.hash, seq: head.seq.toString() });
var hashHeadsRecord = (text) => sha256(text);

// core/audit/payload.ts
var hashAuditPayload = (salt, payload) => sha256Hex(toCanonicalJson([salt, payload]));

// verifier/audit.ts
var entryMemberNames = ["at", "chain", "entity_id", "entity_type", "payload_hash", "prev_hash", "seq", "type"];
var parseEntry = (line) => {
  const record = asObject(parseCanonical(line));
  if (record === null || !hasExactMembers(record, entryMemberNames) || !entryMemberNames.every((name) => typeof record[name] === "string"))
    return null;
  const entry = record;
  const isWellFormed = parseCount(entry.seq) !== null && entry.seq !== "0" && isIsoTime(entry.at) && isSha256Hex(entry.payload_hash) && isSha256Hex(entry.prev_hash) && /^[0-9a-f]{32}$/.test(entry.chain);
  return isWellFormed && serializeAuditEntry(entry) === line ? entry : null;
};
var parseEntries = (text) => {
  const lines = text.split("\n");
  if (lines.pop() !== "") return lines.length + 1;
  const entries = [];
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry === null) return entries.length + 1;
    entries.push(entry);
  }
  return entries;
};
var parseChainIndex = (files) => parseCount(asString(asObject(parseCanonical(decodeText(files.get("audit/heads.json"))))?.chain_index) ?? "");
var findLinkFault = (entries, certId, chainIndex) => {
  let previousEntry = null;
  for (const entry of entries) {
    const seq = BigInt(entry.seq);
    const previousSeq = previousEntry === null ? null : BigInt(previousEntry.seq);
    if (entry.entity_type !== "certificate" || entry.entity_id !== certId) return `entry ${seq} is about a different entity`;
    if (previousEntry !== null && previousSeq !== null) {
      if (entry.chain !== previousEntry.chain) return `entry ${seq} belongs to a different chain`;
      if (seq <= previousSeq) return `entry ${seq} is out of order`;
      if (seq === previousSeq + 1n && entry.prev_hash !== hashAuditEntry(previousEntry))
        return `entry ${seq} does not follow the previous entry`;
    }
    if (seq === 1n && chainIndex !== null && entry.prev_hash !== createGenesisHead({ chain: entry.chain, chainIndex }).hash) {
      return "entry 1 is not the start of this chain";
    }
    previousEntry = entry;
  }
  return null;
};
var saltLength2 = 16;
var findPayloadFault = (payloads, { entries, fingerprint, evidenceHash }) => {
  for (const [seq, value] of Object.entries(payloads)) {
    const entry = entries.find((candidate) => candidate.seq === seq);
    const record = asObject(value);
    const payload = asObject(record?.payload);
    const salt = asString(record?.salt);
    if (entry === void 0) return `the payload of entry ${seq} has no entry`;
    if (record === null || payload === null || salt === null || !hasExactMembers(record, ["payload", "salt"]))
      return `the payload of entry ${seq} is malformed`;
    if (fromBase64Url(salt)?.length !== saltLength2) return `the salt of entry ${seq} is not 128 bits of base64url`;
    if (hashAuditPayload(salt, payload) !== entry.payload_hash) return `the payload of entry ${seq} does not match its commitment`;
    if (entry.type !== "certificate.issued") continue;
    if (payload.fingerprint !== fingerprint) return `entry ${seq} is the issuance of a different fingerprint`;
    if (payload.evidence_hash !== evidenceHash) return `entry ${seq} committed to different evidence`;
  }
  return null;
};
var checkChain = (files, audit) => {
  const { entries, preimage } = audit;
  const fault = findLinkFault(entries, preimage.cert_id, parseChainIndex(files));
  if (fault !== null) return fail2(fault);
  const issued = entries.filter(({ type }) => type === "certificate.issued");
  if (issued.length !== 1 || issued[0]?.at !== preimage.timestamp) return fail2("the entries must contain exactly this issuance");
  const payloads = asObject(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  if (payloads === null) return fail2("audit/payloads.json is not a canonical map");
  const payloadFault = findPayloadFault(payloads, audit);
  if (payloadFault !== null) return fail2(payloadFault);
  return pass(`${entries.length} entries, seq ${entries[0]?.seq} to ${entries.at(-1)?.seq}, ${Object.keys(payloads).length} payloads`);
};
var parseProofOrigin = (proof) => parseCheckpoint(parseTlogProof(proof)?.checkpoint ?? "")?.origin ?? null;
var verifyLogProof = ({ crypto: crypto2, trust, createdAt }, proof, origin, entry) => verifyTlogProof(crypto2, proof, entry, { origin, keys: listLogKeys(trust?.auditLogs ?? [], origin, createdAt) });
var getProofPath = (seq) => `audit/${seq}.tlog-proof`;
var checkInclusion = async (pack) => {
  const { trust, files, entries } = pack;
  const proofs = [...files.keys()].filter((path) => /^audit\/[0-9]+\.tlog-proof$/.test(path));
  const extra = proofs.find((path) => !entries.some(({ seq }) => path === getProofPath(seq)));
  if (extra !== void 0) return fail2(`${extra} proves an entry that is not in the pack`);
  if (trust === null || trust.auditLogs.length === 0) return incomplete("no trusted audit log key to check it with");
  let last = -1n;
  let origin = null;
  for (const entry of entries) {
    const text = decodeText(files.get(getProofPath(entry.seq)));
    if (text === null) return fail2(`the proof of entry ${entry.seq} is missing`);
    origin ??= parseProofOrigin(text);
    const hash = fromHex(hashAuditEntry(entry));
    const verdict = await verifyLogProof(pack, text, origin ?? "", hash);
    if (!verdict.ok) return fail2(`entry ${entry.seq}: ${verdict.fault}`);
    if (verdict.index <= last) return fail2(`entry ${entry.seq} comes before its predecessor in the log`);
    last = verdict.index;
  }
  return pass(`${entries.length} proofs, ${origin}`);
};
var checkHeads = async (pack) => {
  const { trust, files, entries } = pack;
  const headsText = decodeText(files.get("audit/heads.json"));
  const recordText = decodeText(files.get("audit/heads-record.json"));
  const proofText = decodeText(files.get("audit/heads-record.tlog-proof"));
  if (!["audit/heads.json", "audit/heads-record.json", "audit/heads-record.tlog-proof"].some((path2) => files.has(path2)))
    return incomplete("the audit log has not recorded this chain yet");
  if (headsText === null || recordText === null || proofText === null) return fail2("part of the record of heads is missing");
  const heads = asObject(parseCanonical(headsText));
  const record = asObject(parseCanonical(recordText));
  const path = asStrings(heads?.path)?.map(fromBase64);
  const leafText = asString(heads?.leaf) ?? "";
  const leaf = asObject(parseCanonical(leafText));
  const index = parseCount(asString(heads?.chain_index) ?? "");
  const size = parseCount(asString(heads?.size) ?? "");
  const seq = parseCount(asString(leaf?.seq) ?? "");
  if (heads === null || !hasExactMembers(heads, ["chain_index", "leaf", "path", "size"]) || index === null || size === null || !path?.every((hash) => hash?.length === hashLength)) {
    return fail2("audit/heads.json is malformed");
  }
  if (record === null || !hasExactMembers(record, ["at", "heads_root", "heads_size", "log_size", "schema"]) || record.schema !== "svc-heads-v1" || record.heads_size !== heads.size || !isIsoTime(record.at)) {
    return fail2("audit/heads-record.json is malformed");
  }
  const chain = entries[0]?.chain ?? "";
  if (seq === null || !isSha256Hex(leaf?.head) || serializeHeadLeaf(chain, { seq, hash: leaf.head }) !== leafText) {
    return fail2("the leaf does not belong to this chain");
  }
  const root = computeRootFromInclusion({ leaf: hashLeaf(encodeUtf8(leafText)), index, size, proof: path });
  if (root === null || toHex(root) !== record.heads_root) return fail2("the chain is not in the recorded tree of heads");
  const recordedEntry = entries.find((entry) => entry.seq === leaf.seq);
  if (recordedEntry !== void 0 && hashAuditEntry(recordedEntry) !== leaf.head) return fail2(`entry ${leaf.seq} is not the recorded one`);
  if (trust === null || trust.auditLogs.length === 0) return incomplete("no trusted audit log key to check it with");
  const origin = parseProofOrigin(decodeText(files.get(getProofPath(entries[0]?.seq ?? ""))) ?? "") ?? "";
  const verdict = await verifyLogProof(pack, proofText, origin, hashHeadsRecord(recordText));
  if (!verdict.ok) return fail2(verdict.fault);
  if (verdict.index.toString() !== record.log_size) return fail2("the record is not at the log index that it names");
  for (const entry of entries) {
    const proof = parseTlogProof(decodeText(files.get(getProofPath(entry.seq))) ?? "");
    if (proof !== null && proof.index < verdict.index && BigInt(entry.seq) > seq)
      return fail2(`entry ${entry.seq} is missing from the recorded chain`);
    if (proof !== null && proof.index > verdict.index && BigInt(entry.seq) <= seq)
      return fail2(`entry ${entry.seq} was recorded before it was in the log`);
  }
  return pass(`${leaf.seq} entries in the chain at ${record.at}`);
};
var maxHeadsAgeMs = 30 * minuteMs;
var describeStaleHeads = (files, createdAt) => {
  const at = asObject(parseCanonical(decodeText(files.get("audit/heads-record.json"))))?.at;
  if (!isIsoTime(at) || !isIsoTime(createdAt) || Date.parse(createdAt) - Date.parse(at) <= maxHeadsAgeMs) return null;
  return `The audit log recorded the head of this chain at ${at}, more than 30 minutes before the pack was created. The pack may omit later entries.`;
};

// verifier/audit-history.ts
var parsePayloads = (parsed) => new Map(
  Object.entries(asObject(parsed) ?? {}).flatMap(([seq, item]) => {
    const payload = asObject(asObject(item)?.payload);
    return payload === null ? [] : [[seq, payload]];
  })
);
var filterEntries = ({ entries }, type) => entries.filter((entry) => entry.type === type);
var missingPayload = (event) => incomplete(`the audit payload of ${event} is not in the pack`);
var missingEntry = (event) => fail2(`no audit entry in the pack is ${event} that the certificate shows`);
var selectWorst = (findings) => findings.find(({ outcome }) => outcome === "fail") ?? findings.find(({ outcome }) => outcome === "incomplete") ?? findings[0];
var parseInstant2 = (value) => typeof value === "number" ? value : isIsoTime(value) ? Date.parse(value) : null;
var compareBoundDetail = (entry, payload, name, expected) => {
  const logged = payload[name];
  if (logged === void 0)
    return entry.at < boundDetailsSince ? null : incomplete(`the audit payload of entry ${entry.seq} has no ${name}`);
  if (expected === void 0 || toCanonicalJson(logged) === toCanonicalJson(expected)) return null;
  return fail2(`entry ${entry.seq} logged a different ${name}`);
};
var isOtherFingerprint = (payload, certificate) => payload.fingerprint !== certificate.fingerprint;
var submissionNoteNames = ["fields_unrecognized", "fields_truncated", "text_replaced"];
var checkIssuance = (history) => {
  const { certificate, payloads } = history;
  const [entry] = filterEntries(history, "certificate.issued");
  if (entry === void 0) return skipped("not reached");
  const payload = payloads.get(entry.seq);
  if (payload === void 0) return missingPayload("the issuance");
  if (payload.evidence_hash !== certificate.evidence_hash) return fail2("the issuance committed to different evidence");
  if (payload.environment !== certificate.environment) return fail2("the issuance was in a different environment");
  const [note] = submissionNoteNames.filter(
    (name) => toCanonicalJson(payload[name] ?? null) !== toCanonicalJson(certificate[name] ?? null)
  );
  if (note !== void 0) return fail2(`entry ${entry.seq} logged a different ${note}`);
  return selectWorst([
    compareBoundDetail(entry, payload, "gpc", asObject(certificate.signals)?.gpc ?? null) ?? pass(`entry ${entry.seq}`),
    compareBoundDetail(entry, payload, "captured_via", asObject(certificate.evidence)?.captured_via) ?? pass(`entry ${entry.seq}`)
  ]);
};
var findWithdrawalFault = (certificate, withdrawal, entry) => {
  const { withdrawn_at: withdrawnAt, received_at: receivedAt = null, cease_by: ceaseBy } = withdrawal;
  if (entry.at !== withdrawnAt) return `entry ${entry.seq} is a withdrawal at a different time`;
  if (certificate.cease_by !== ceaseBy) return "the certificate names two different deadlines";
  if (receivedAt !== null && !(isIsoTime(receivedAt) && receivedAt <= entry.at))
    return "the business received the request after the withdrawal";
  const deadline = getCeaseDeadline(Date.parse(isIsoTime(receivedAt) ? receivedAt : entry.at));
  return parseInstant2(ceaseBy) === deadline ? null : "the deadline is not the end of the tenth business day";
};
var checkWithdrawal = (history, withdrawal) => {
  const { certificate, payloads } = history;
  const [entry, second] = filterEntries(history, "certificate.revoked");
  if (entry === void 0) return missingEntry("the withdrawal");
  if (second !== void 0) return fail2(`entry ${second.seq} is a second withdrawal`);
  const fault = findWithdrawalFault(certificate, withdrawal, entry);
  if (fault !== null) return fail2(fault);
  const payload = payloads.get(entry.seq);
  if (payload === void 0) return missingPayload("the withdrawal");
  if (isOtherFingerprint(payload, certificate)) return fail2(`entry ${entry.seq} is the withdrawal of a different fingerprint`);
  const mismatch = ["method", "scope"].find((name) => payload[name] !== withdrawal[name]);
  if (mismatch !== void 0) return fail2(`entry ${entry.seq} is a withdrawal with a different ${mismatch}`);
  if (parseInstant2(payload.cease_by) !== parseInstant2(withdrawal.cease_by)) return fail2(`entry ${entry.seq} names a different deadline`);
  return compareBoundDetail(entry, payload, "received_at", withdrawal.received_at ?? null) ?? pass(`withdrawn ${entry.at}, entry ${entry.seq}`);
};
var checkWithdrawalState = (history) => {
  const { certificate } = history;
  const withdrawal = asObject(certificate.withdrawal);
  if (certificate.status === "revoked" && withdrawal !== null) return checkWithdrawal(history, withdrawal);
  const [entry] = filterEntries(history, "certificate.revoked");
  if (entry !== void 0) return fail2(`entry ${entry.seq} withdrew the certificate, which claims to be active`);
  const { cease_by: ceaseBy = null } = certificate;
  return ceaseBy === null ? pass("no entry withdraws the certificate") : fail2("the certificate is active but names a deadline");
};
var compareEntityWithdrawal = (history, number, listed, entry) => {
  const { certificate, payloads } = history;
  if (listed.some(({ withdrawn_at: at }) => at !== entry.at)) return fail2(`entry ${entry.seq} is withdrawal ${number} at a different time`);
  const payload = payloads.get(entry.seq);
  if (payload === void 0) return missingPayload("a withdrawal for individual recipients");
  if (isOtherFingerprint(payload, certificate)) return fail2(`entry ${entry.seq} is the withdrawal of a different fingerprint`);
  const names = listed.map(({ entity }) => String(entity)).sort();
  if (toCanonicalJson(payload.entities ?? null) !== toCanonicalJson(names))
    return fail2(`entry ${entry.seq} withdrew from other recipients than the certificate shows`);
  if (listed.some(({ cease_by: ceaseBy }) => parseInstant2(ceaseBy) !== parseInstant2(payload.cease_by)))
    return fail2(`entry ${entry.seq} names a different deadline`);
  if (listed.some(({ method }) => method !== void 0 && method !== payload.method))
    return fail2(`entry ${entry.seq} is a withdrawal with a different method`);
  const [differing = null] = listed.flatMap(
    ({ received_at: receivedAt = null }) => compareBoundDetail(entry, payload, "received_at", receivedAt) ?? []
  );
  return differing;
};
var checkWithdrawnEntities = (history) => {
  const acts = [...groupEntitiesByWithdrawal(history.certificate)].sort(([a], [b]) => a - b);
  const entries = filterEntries(history, "certificate.entities_withdrawn");
  const unshown = entries[acts.length];
  if (unshown !== void 0) return [fail2(`entry ${unshown.seq} withdrew from recipients, but the certificate does not show it`)];
  if (acts.some(([number], at) => number !== at + 1)) return [fail2("the withdrawals for individual recipients are not numbered from 1")];
  return acts.flatMap(([number, listed], at) => {
    const entry = entries[at];
    if (entry === void 0) return missingEntry("a withdrawal for individual recipients");
    return compareEntityWithdrawal(history, number, listed, entry) ?? [];
  });
};
var checkCeasedEntities = (history) => {
  const { certificate, payloads } = history;
  const listed = [...groupEntitiesByWithdrawal(certificate).values()].flat();
  const deadlines = new Map(listed.map(({ entity, cease_by: ceaseBy }) => [String(entity), String(ceaseBy)]));
  const unmatched = new Map(
    listed.flatMap(({ entity, cease_acknowledged_at: at = null }) => at === null ? [] : [[String(entity), at]])
  );
  for (const entry of filterEntries(history, "business.entities_ceased")) {
    const payload = payloads.get(entry.seq);
    if (payload === void 0) return [missingPayload("the acknowledgment for individual recipients")];
    if (isOtherFingerprint(payload, certificate)) return [fail2(`entry ${entry.seq} is an acknowledgment of a different fingerprint`)];
    const names = asStrings(payload.entities) ?? [];
    for (const name of names) {
      if (unmatched.get(name) !== entry.at)
        return [fail2(`entry ${entry.seq} acknowledged a recipient, but the certificate does not show it`)];
      unmatched.delete(name);
    }
    const isOnTime = names.every((name) => entry.at <= (deadlines.get(name) ?? ""));
    if (payload.on_time !== void 0 && payload.on_time !== isOnTime)
      return [fail2(`entry ${entry.seq} was acknowledged under a different deadline`)];
  }
  return unmatched.size === 0 ? [] : [missingEntry("the acknowledgment of a recipient")];
};
var checkDatedEvent = (history, event) => {
  const { type, claimed, description, bound } = event;
  const entries = filterEntries(history, type);
  const [entry] = entries;
  if (entry === void 0) return claimed === null || claimed === void 0 ? [] : [missingEntry(description)];
  if (entries.length !== 1 || entry.at !== claimed)
    return [fail2(`entry ${entry.seq} is ${description}, but the certificate does not show it`)];
  const payload = history.payloads.get(entry.seq);
  if (payload === void 0) return [missingPayload(description)];
  const { cease_by: ceaseBy } = payload;
  const logged = typeof ceaseBy === "number" ? { ...payload, cease_by: new Date(ceaseBy).toISOString() } : payload;
  const [mismatch] = findDifferingMembers(bound, logged).filter((name) => Object.hasOwn(bound, name));
  return mismatch === void 0 ? [] : [fail2(`entry ${entry.seq} is ${description} with a different ${mismatch}`)];
};
var checkStatus = (history) => {
  const { certificate } = history;
  const { fingerprint = null } = certificate;
  const withdrawal = asObject(certificate.withdrawal);
  const acknowledgedAt = withdrawal?.cease_acknowledged_at;
  const ceaseBy = withdrawal?.cease_by ?? null;
  return selectWorst([
    checkWithdrawalState(history),
    ...checkWithdrawnEntities(history),
    ...checkCeasedEntities(history),
    ...checkDatedEvent(history, {
      type: "business.ceased",
      claimed: acknowledgedAt,
      description: "the acknowledgment",
      bound: { fingerprint, cease_by: ceaseBy, on_time: String(acknowledgedAt) <= String(ceaseBy) }
    }),
    ...checkDatedEvent(history, {
      type: "certificate.subject_erased",
      claimed: certificate.subject_erased_at,
      description: "the erasure",
      bound: { fingerprint }
    })
  ]);
};
var policyKinds = ["privacy", "terms"];
var toSources = (policies) => Object.fromEntries(
  policyKinds.map((kind) => {
    const policy = policies.find((candidate) => candidate?.kind === kind);
    const source = policy && { captured_at: policy.captured_at ?? null, id: policy.id ?? null, source_url: policy.source_url ?? null };
    return [kind, source ?? null];
  })
);
var checkUnlinkedPolicies = (history, isListed) => {
  const { certificate } = history;
  if (!isListed && certificate.policies_status === "pending") return skipped("no policies were linked");
  const isOlder = filterEntries(history, "certificate.issued").some(({ at }) => at < boundDetailsSince);
  if (!isOlder) return missingEntry("the link to policies");
  return isListed ? incomplete("the audit entry of the policies is not in the pack") : skipped("no policies were linked");
};
var checkPolicyLinks = (history) => {
  const { certificate, payloads } = history;
  const policies = Array.isArray(certificate.policies) ? certificate.policies.map(asObject) : [];
  const listed = policies.map((policy) => `${policy?.kind}-${policy?.content_hash}`).sort();
  const entry = filterEntries(history, "policy.linked").at(-1);
  if (entry === void 0) return checkUnlinkedPolicies(history, listed.length > 0);
  const payload = payloads.get(entry.seq);
  if (payload === void 0) return missingPayload("the policies");
  const linked = policyKinds.filter((kind) => payload[kind] !== null).map((kind) => `${kind}-${payload[kind]}`);
  if (linked.sort().join("\n") !== listed.join("\n")) return fail2(`entry ${entry.seq} linked different policies`);
  if (certificate.policies_status !== (listed.length > 0 ? "captured" : "unavailable"))
    return fail2("the certificate's status of the policies contradicts its policies");
  return compareBoundDetail(entry, payload, "sources", toSources(policies)) ?? pass(`entry ${entry.seq}`);
};

// verifier/crypto.ts
var webCrypto = {
  hashNode,
  verifyEd25519: async (publicKey, message, signature) => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), new Uint8Array(message));
  }
};
var knownPublicKey = fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
var knownSignature = fromHex(
  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
);
var ed25519UnsupportedNote = "This program cannot check Ed25519 signatures. Use a newer browser or Node version.";
var canVerifyEd25519 = async (crypto2) => {
  try {
    const accepts = await crypto2.verifyEd25519(knownPublicKey, new Uint8Array(0), knownSignature);
    const refuses = !await crypto2.verifyEd25519(knownPublicKey, new Uint8Array(1), knownSignature);
    return accepts && refuses;
  } catch {
    return false;
  }
};

// verifier/layout.ts
var requiredFiles = [
  "MANIFEST.note",
  "MANIFEST.sha256",
  "README.txt",
  "certificate.html",
  "certificate.json",
  "fingerprint/disclosure.txt",
  "fingerprint/preimage.json",
  "manifest.json",
  "policies/index.json",
  "trust/trust.json",
  "views.json"
];
var optionalFilePatterns = [
  /^subject\/(?:commitments|disclosures)\.json$/,
  /^policies\/(?:privacy|terms)-[0-9a-f]{64}\.txt$/,
  /^anchors\/(?:issued|revoked|withdrawn-[1-9][0-9]{0,2})\/(?:statement\.json|receipt\.json|entry\.tlog-proof|attested\.tlog-proof|checkpoint\.txt|checkpoint\.tsr|rekor\.json)$/,
  /^withdrawals\/[1-9][0-9]{0,2}\/(?:receipt|signature)\.json$/,
  /^audit\/(?:entries\.jsonl|payloads\.json|heads\.json|heads-record\.json|heads-record\.tlog-proof)$/,
  /^audit\/[1-9][0-9]{0,18}\.tlog-proof$/,
  /^trust\/(?:issuer-[A-Za-z0-9_-]{43}|tsa-[0-9a-f]{16})\.pem$/
];
var findLayoutFault = (names) => {
  const missing = requiredFiles.find((name) => !names.includes(name));
  if (missing !== void 0) return `${missing} is missing`;
  const extra = names.find((name) => !requiredFiles.includes(name) && !optionalFilePatterns.some((pattern) => pattern.test(name)));
  return extra === void 0 ? null : `${extra} does not belong in a pack`;
};

// core/certificates/evidence-manifest.ts
var packSchema = "svc-evidence-pack-v1";
var buildManifestNoteText = (certId, manifestSha256) => `${packSchema}
${certId}
${sha256Hex(manifestSha256)}
`;

// verifier/manifest.ts
var parseManifest = (files) => {
  const record = asObject(parseCanonical(decodeText(files.get("manifest.json"))));
  if (record === null || !hasExactMembers(record, ["schema", "cert_id", "created_at", "redacted", "files"])) return null;
  const certId = asString(record.cert_id);
  const redacted = asStrings(record.redacted);
  if (record.schema !== packSchema || certId === null || redacted === null || !isIsoTime(record.created_at)) return null;
  return { certId, createdAt: record.created_at, redacted, listed: record.files ?? null };
};
var isManifestFile = (path) => path.startsWith("MANIFEST.");
var checkFiles = (files) => {
  const manifest = parseManifest(files);
  if (manifest === null) return fail2("manifest.json is not a manifest");
  const sums = decodeText(files.get("MANIFEST.sha256")) ?? "";
  const listedHashes = new Map(sums.split("\n").map((line) => [line.slice(66), line.slice(0, 64)]));
  const paths = [...files.keys()].sort();
  const summed = paths.filter((path) => !isManifestFile(path));
  for (const path of summed) {
    if (listedHashes.get(path) !== sha256Hex(files.get(path))) return fail2(`${path} does not match MANIFEST.sha256`);
  }
  if (sums !== summed.map((path) => `${listedHashes.get(path)}  ${path}
`).join(""))
    return fail2("MANIFEST.sha256 does not list exactly these files");
  const listed = summed.filter((path) => path !== "manifest.json").map((path) => ({ path, sha256: listedHashes.get(path), size: files.get(path).length }));
  if (toCanonicalJson(manifest.listed) !== toCanonicalJson(listed)) return fail2("manifest.json does not list exactly these files");
  return pass(`${summed.length} files`);
};
var spkiLength = 44;
var parseIssuerKeyId = (pem) => {
  const body = /^-----BEGIN PUBLIC KEY-----\n([A-Za-z0-9+/]+=*)\n-----END PUBLIC KEY-----\n$/.exec(pem ?? "")?.[1];
  const der = fromBase64(body ?? "");
  return der?.length === spkiLength ? computeThumbprint(toBase64Url(der.subarray(-32))) : null;
};
var checkTrustCopies = (files) => {
  const document = asObject(parseCanonical(decodeText(files.get("trust/trust.json"))));
  if (document === null) return skipped("trust.json cannot be read");
  const authorities = (Array.isArray(document.tsa) ? document.tsa : []).map(asObject);
  const pems = [...files.keys()].filter((path) => path.startsWith("trust/") && path.endsWith(".pem"));
  const mismatch = pems.find((path) => {
    const text = decodeText(files.get(path));
    const [, kind, id = ""] = /^trust\/(issuer|tsa)-(.+)\.pem$/.exec(path) ?? [];
    if (kind === "issuer") return parseIssuerKeyId(text) !== id;
    return !authorities.some((authority) => authority?.pem === text && asString(authority.spki_sha256)?.startsWith(id) === true);
  });
  return mismatch === void 0 ? pass(`${pems.length} keys`) : fail2(`${mismatch} does not match its name`);
};
var checkSignature = async (crypto2, files, trust) => {
  const manifest = parseManifest(files);
  if (manifest === null) return fail2("manifest.json is not a manifest");
  const note = parseNote(decodeText(files.get("MANIFEST.note")) ?? "");
  if (note === null) return fail2("MANIFEST.note is not a signed note");
  if (note.text !== buildManifestNoteText(manifest.certId, files.get("MANIFEST.sha256"))) {
    return fail2("MANIFEST.note is for a different manifest");
  }
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no trusted issuer key to check it with");
  const names = [...new Set(note.signatures.map(({ name }) => name))];
  const issuerKeys = trust.issuerKeys.filter((key) => isKeyInUse(key, manifest.createdAt));
  const keys = names.flatMap((name) => issuerKeys.map(({ publicKey }) => createVerifierKey(name, keyKinds.log, publicKey)));
  const verdict = await verifyNote(crypto2, note, keys);
  return verdict.ok ? pass(`by ${verdict.signatures[0]?.key.name}, ${manifest.createdAt}`) : fail2(verdict.fault);
};

// verifier/overdue.ts
var maxClockSkewMs5 = 5 * minuteMs;
var isFaulty = (withdrawal, acknowledgedAt, createdAt) => {
  const { withdrawn_at: at, cease_by: ceaseBy, overdue } = withdrawal;
  if (!isIsoTime(at) || at < boundDetailsSince || !isIsoTime(ceaseBy)) return false;
  const lateMs = Date.parse(createdAt) - Date.parse(ceaseBy);
  if (acknowledgedAt === null && Math.abs(lateMs) <= maxClockSkewMs5) return typeof overdue !== "boolean";
  return overdue !== (acknowledgedAt === null && lateMs > 0);
};
var findOverdueFault = (certificate, createdAt) => {
  const withdrawal = asObject(certificate.withdrawal);
  const wholeAcknowledgedAt = withdrawal?.cease_acknowledged_at ?? null;
  const recipients = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const isWrong = withdrawal !== null && isFaulty(withdrawal, wholeAcknowledgedAt, createdAt) || recipients.some((one) => one !== null && isFaulty(one, one.cease_acknowledged_at ?? wholeAcknowledgedAt, createdAt));
  return isWrong ? "a withdrawal is wrongly called overdue or not" : null;
};

// verifier/verify-pack.ts
var defaultVerificationOptions = {
  trust: null,
  expectedFingerprint: null,
  requiresTimestamp: false,
  witnessMin: 0
};
var maxZipBytes = 20 * 1024 * 1024;
var createAnchorContext = (crypto2, trust, options) => ({
  crypto: crypto2,
  trust,
  requiresTimestamp: options.requiresTimestamp,
  witnessMin: Math.max(options.witnessMin, trust?.witnessMin ?? 0)
});
var loadAnchorEvidence = (files, folder, published) => {
  const text = (name) => decodeText(files.get(`anchors/${folder}/${name}`));
  return {
    statement: text("statement.json"),
    published,
    receipt: text("receipt.json"),
    entryProof: text("entry.tlog-proof"),
    rekorBody: files.get(`anchors/${folder}/rekor.json`) ?? null,
    attestedProof: text("attested.tlog-proof"),
    attestedNote: text("checkpoint.txt"),
    timestampReply: files.get(`anchors/${folder}/checkpoint.tsr`) ?? null
  };
};
var loadEntityWithdrawalEvidence = (files, number) => ({
  receipt: decodeText(files.get(`withdrawals/${number}/receipt.json`)),
  signature: decodeText(files.get(`withdrawals/${number}/signature.json`)),
  anchor: loadAnchorEvidence(files, `withdrawn-${number}`, null)
});
var listEntityWithdrawalNumbers = (files) => [
  ...new Set(
    [...files.keys()].flatMap((path) => Number(/^(?:withdrawals\/|anchors\/withdrawn-)([0-9]+)\//.exec(path)?.[1] ?? Number.NaN))
  )
].filter((number) => !Number.isNaN(number));
var maxClockSkewMs6 = 5 * minuteMs;
var checkTimeOrder = (issuedAt, withdrawnAt, attestedAt, withdrawalAttestedAt) => {
  const issued = Date.parse(issuedAt);
  const withdrawn = isIsoTime(withdrawnAt) ? Date.parse(withdrawnAt) : null;
  if (withdrawn !== null && withdrawn < issued) return fail2("the certificate was withdrawn before it was issued");
  if (attestedAt !== null && attestedAt < issued - maxClockSkewMs6) return fail2("a timestamp is older than the certificate");
  if (withdrawn !== null && withdrawalAttestedAt !== null && withdrawalAttestedAt < withdrawn - maxClockSkewMs6) {
    return fail2("a timestamp is older than the withdrawal");
  }
  return pass(withdrawn === null ? `issued ${issuedAt}` : `issued ${issuedAt}, withdrawn ${withdrawnAt}`);
};
var checkAnchors = async (findings, certificate, preimage, fingerprint, loadEvidence, context) => {
  const at = preimage.timestamp;
  const issuance = loadEvidence("issued", asObject(certificate.anchor));
  const { time } = await checkAnchor(
    findings,
    "issued",
    buildExpectedStatement("certificate.issued", preimage, fingerprint, at),
    issuance,
    context
  );
  const withdrawal = asObject(certificate.withdrawal);
  const revocation = loadEvidence("revoked", asObject(withdrawal?.anchor));
  const withdrawnAt = withdrawal?.withdrawn_at;
  let revokedTime = null;
  if (certificate.status !== "revoked") {
    const hasEvidence = Object.values({ ...revocation, published: null }).some((part) => part !== null);
    const finding = hasEvidence ? fail2("the pack proves a withdrawal, but the certificate is active") : skipped("the certificate is not withdrawn");
    findings.set("revoke.statement", finding);
  } else if (!isIsoTime(withdrawnAt)) {
    findings.set("revoke.statement", fail2("the certificate does not say when it was withdrawn"));
  } else {
    const expected = buildExpectedStatement("certificate.revoked", preimage, fingerprint, withdrawnAt);
    revokedTime = (await checkAnchor(findings, "revoked", expected, revocation, context)).time;
  }
  findings.set("time.order", checkTimeOrder(at, withdrawnAt, time, revokedTime));
};
var findEvidenceFault = (certificate, redacted) => {
  const evidence = asObject(certificate.evidence);
  const isRedacted = redacted.includes("evidence");
  if (certificate.evidence !== null && evidence === null) return "the evidence is malformed";
  if (evidence === null) return isRedacted || isIsoTime(certificate.subject_erased_at) ? null : "the evidence is missing";
  if (isRedacted) return "the pack has evidence that the manifest lists as left out";
  if (sha256Hex(toCanonicalJson(evidence)) !== certificate.evidence_hash) return "the evidence does not match its hash";
  const note = submissionNoteNames.find((name) => toCanonicalJson(evidence[name] ?? null) !== toCanonicalJson(certificate[name] ?? null));
  if (note !== void 0) return `certificate and evidence differ in ${note}`;
  return evidence.gpc === asObject(certificate.signals)?.gpc ? null : "certificate and evidence differ in the browser's privacy signal";
};
var findSubjectFault = (certificate, redacted, files) => {
  const subject = asObject(certificate.subject);
  const committed = asObject(parseCanonical(decodeText(files.get("subject/commitments.json"))));
  if (committed === null) return null;
  const keys = Object.keys(committed).sort();
  if (subject === null || Object.keys(subject).sort().join("\n") !== keys.join("\n"))
    return "the person's details on the certificate do not match the commitments";
  const list = parseCanonical(decodeText(files.get("subject/disclosures.json")));
  const disclosed = new Map((Array.isArray(list) ? list : []).map(asStrings).map((item) => [item?.[1] ?? "", item?.[2] ?? ""]));
  const hidden = keys.filter((key) => !disclosed.has(key)).map((key) => `subject.${key}`);
  if (redacted.filter((name) => name.startsWith("subject.")).join("\n") !== hidden.join("\n"))
    return "the manifest does not list exactly the undisclosed details of the person";
  const unrecognized = asStrings(certificate.fields_unrecognized) ?? [];
  const mismatch = [...disclosed].find(([key, value]) => subject[key] !== maskFieldValue(unrecognized.includes(key) ? "" : key, value));
  return mismatch === void 0 ? null : `the ${mismatch[0]} on the certificate does not match the disclosed value`;
};
var knownRedactions = ["evidence", "views.ip", "views.user_agent"];
var findRedactionFault = (redacted) => {
  const unknown = redacted.find((name) => !knownRedactions.includes(name) && !name.startsWith("subject."));
  return unknown === void 0 ? null : `the manifest lists ${unknown} as left out, which no pack contains`;
};
var findErasedSubjectFault = ({ subject, subject_erased_at: erasedAt }) => {
  if (!isIsoTime(erasedAt)) return null;
  const keys = Object.keys(asObject(subject) ?? { malformed: null });
  return erasedAt < boundDetailsSince ? null : keys.length === 0 ? null : "the certificate shows details of an erased person";
};
var findPagesFault = (files, certId) => {
  const other = ["certificate.html", "README.txt"].find((path) => !decodeText(files.get(path))?.includes(certId));
  return other === void 0 ? null : `${other} is about a different certificate`;
};
var findContentsFault = (files, manifest, certificate, certId) => manifest?.certId === certId ? findRedactionFault(manifest.redacted) ?? findEvidenceFault(certificate, manifest.redacted) ?? findErasedSubjectFault(certificate) ?? findOverdueFault(certificate, manifest.createdAt) ?? findSubjectFault(certificate, manifest.redacted, files) ?? findPagesFault(files, certId) : "the manifest is about a different certificate";
var checkRecord = async ({ crypto: crypto2, files, trust, findings, certificate, canonical, preimage }, options) => {
  const set = (id, finding) => {
    findings.set(id, finding);
  };
  set("fp.canonical", checkCanonical(preimage));
  set("fp.hash", checkFingerprint(canonical, certificate?.fingerprint, options.expectedFingerprint));
  const commitments = decodeText(files.get("subject/commitments.json"));
  set("subject.disclosures", checkDisclosures(decodeText(files.get("subject/disclosures.json")), commitments));
  const policyPaths = [...files.keys()].filter((path) => /^policies\/.*\.txt$/.test(path));
  const index = parseCanonical(decodeText(files.get("policies/index.json")));
  set(
    "policies.hash",
    checkPolicies(index, certificate?.policies, policyPaths, (path) => {
      const bytes = files.get(path);
      return bytes === void 0 ? void 0 : sha256Hex(bytes);
    })
  );
  if (certificate === null) set("cert.consistency", fail2("certificate.json is not canonical JSON"));
  if (preimage === null || canonical === null) return;
  set("fp.arrays", checkArrays(preimage));
  set("disclosure.hash", checkDisclosure(files.get("fingerprint/disclosure.txt"), preimage));
  set("subject.commitments", checkCommitments(commitments, preimage, certificate?.subject_erased_at));
  if (certificate === null) return;
  const fault = findContentsFault(files, parseManifest(files), certificate, preimage.cert_id);
  set("cert.consistency", fault !== null ? fail2(fault) : await checkCertificate(crypto2, certificate, preimage, canonical, trust));
};
var checkAudit = async ({ crypto: crypto2, files, trust, findings, certificate, canonical, preimage }) => {
  const text = decodeText(files.get("audit/entries.jsonl"));
  if (!files.has("audit/entries.jsonl")) {
    const parts = [...files.keys()].filter((path) => path.startsWith("audit/"));
    findings.set(
      "audit.chain",
      parts.length > 0 ? fail2("audit/entries.jsonl is missing") : incomplete("the audit log has no entry for the certificate yet")
    );
    return;
  }
  const entries = text === null ? 1 : parseEntries(text);
  if (typeof entries === "number") {
    findings.set("audit.chain", fail2(`line ${entries} of audit/entries.jsonl is not an entry`));
    return;
  }
  if (preimage === null || canonical === null) return;
  const fingerprint = sha256Hex(canonical);
  findings.set("audit.chain", checkChain(files, { entries, preimage, fingerprint, evidenceHash: certificate?.evidence_hash }));
  const auditedPack = { crypto: crypto2, trust, files, entries, createdAt: parseManifest(files)?.createdAt ?? "" };
  findings.set("audit.inclusion", await checkInclusion(auditedPack));
  findings.set("audit.heads", await checkHeads(auditedPack));
  if (certificate === null) return;
  const payloads = parsePayloads(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  const history = { entries, payloads, certificate };
  findings.set("audit.issuance", checkIssuance(history));
  findings.set("audit.status", checkStatus(history));
  findings.set("audit.policies", checkPolicyLinks(history));
};
var findLoggedCaptureMethod = (files) => {
  const entries = parseEntries(decodeText(files.get("audit/entries.jsonl")) ?? "");
  const issuance = typeof entries === "number" ? void 0 : entries.find(({ type }) => type === "certificate.issued");
  const payloads = parsePayloads(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  return payloads.get(issuance?.seq ?? "")?.captured_via;
};
var listKeyNames = ({ ledgers, auditLogs, witnesses, authorities, issuerKeys, anchorKeys }) => [
  ...[...ledgers, ...auditLogs].map(({ vkey }) => vkey),
  ...witnesses.map(({ name, keyId }) => `${name}+${keyId}`),
  ...authorities.map(({ spkiSha256 }) => spkiSha256),
  ...issuerKeys.map(({ kid }) => kid),
  ...anchorKeys
];
var activeStatusNote = "The certificate was active when the pack was created. Look it up online to see later or omitted withdrawals.";
var buildNotes = (files, certificate, givenTrust, bundled) => {
  const manifest = parseManifest(files);
  const redacted = manifest?.redacted ?? [];
  const stale = describeStaleHeads(files, manifest?.createdAt ?? "");
  const evidence = redacted.filter((name) => !name.startsWith("subject."));
  const subject = redacted.filter((name) => name.startsWith("subject."));
  const knownKeys = givenTrust === null ? [] : listKeyNames(givenTrust);
  const hasUnknownKeys = givenTrust !== null && bundled !== null && listKeyNames(bundled).some((name) => !knownKeys.includes(name));
  return [
    ...hasUnknownKeys ? ["The pack's own copy of the trust document names keys that yours does not."] : [],
    ...stale !== null ? [stale] : [],
    ...subject.length > 0 ? [`Not disclosed: ${subject.map((name) => name.slice("subject.".length)).join(", ")}.`] : [],
    ...evidence.length > 0 ? [`Left out on purpose: ${evidence.join(", ")}.`] : [],
    ...certificate?.environment === "sandbox" ? ["This is a sandbox certificate. It proves nothing."] : [],
    ...certificate?.status === "active" ? [activeStatusNote] : [],
    "Only the issuer's signature covers README.txt, views.json, and the business details, view counts and URLs in certificate.json."
  ];
};
var verifyPack = async (zip, options, noteCrypto = webCrypto) => {
  const crypto2 = memoizeNoteCrypto(noteCrypto);
  const findings = /* @__PURE__ */ new Map();
  const opened = parseZip(zip, maxZipBytes);
  const structure = opened.ok ? findLayoutFault([...opened.files.keys()]) : opened.fault;
  if (!opened.ok || structure !== null) {
    findings.set("zip.structure", fail2(structure ?? "not_a_zip"));
    return buildReport(findings, { cert_id: null, fingerprint: null, trust: options.trust === null ? "none" : "given", notes: [] });
  }
  const { files } = opened;
  findings.set("zip.structure", pass(`${files.size} files`));
  const bundled = trustOf(parseCanonical(decodeText(files.get("trust/trust.json"))));
  const hasEd25519 = await canVerifyEd25519(crypto2);
  const trust = hasEd25519 ? options.trust ?? bundled : null;
  findings.set("manifest.files", checkFiles(files));
  findings.set("manifest.signature", await checkSignature(crypto2, files, trust));
  findings.set("trust.copies", checkTrustCopies(files));
  const certificate = asObject(parseCanonical(decodeText(files.get("certificate.json"))));
  const canonical = decodeText(files.get("fingerprint/preimage.json"));
  const preimage = parsePreimage(canonical);
  const pack = { crypto: crypto2, files, trust, findings, certificate, canonical, preimage };
  await checkRecord(pack, options);
  if (certificate !== null && preimage !== null && canonical !== null) {
    const loadEvidence = (event, published) => loadAnchorEvidence(files, event, published);
    const fingerprint = sha256Hex(canonical);
    const context = createAnchorContext(crypto2, trust, options);
    await checkAnchors(findings, certificate, preimage, fingerprint, loadEvidence, context);
    const loadWithdrawal = (number) => loadEntityWithdrawalEvidence(files, number);
    await checkEntityWithdrawals(
      findings,
      certificate,
      { preimage, fingerprint },
      listEntityWithdrawalNumbers(files),
      loadWithdrawal,
      context
    );
  }
  await checkAudit(pack);
  if (certificate !== null) {
    const redacted = parseManifest(files)?.redacted ?? [];
    const fault = findPageFault({ files, certificate, redacted, loggedCaptureMethod: findLoggedCaptureMethod(files) });
    const hasFailed = [...findings.values()].some(({ outcome }) => outcome === "fail");
    if (fault !== null && !hasFailed) findings.set("cert.consistency", fail2(fault));
  }
  return buildReport(findings, {
    cert_id: preimage?.cert_id ?? asString(certificate?.cert_id),
    fingerprint: canonical === null ? null : sha256Hex(canonical),
    trust: options.trust !== null ? "given" : bundled !== null ? "bundled" : "none",
    notes: [...hasEd25519 ? [] : [ed25519UnsupportedNote], ...buildNotes(files, certificate, options.trust, bundled)]
  });
};

// verifier/verify-public.ts
var publicCheckIds = [
  "fp.canonical",
  "fp.hash",
  "fp.arrays",
  "disclosure.hash",
  "cert.consistency",
  ...anchorCheckIds,
  ...revocationCheckIds,
  "time.order"
];
var emptyAnchorEvidence = {
  statement: null,
  published: null,
  receipt: null,
  entryProof: null,
  rekorBody: null,
  attestedProof: null,
  attestedNote: null,
  timestampReply: null
};
var formatPublishedProof = (index, hashes, checkpoint) => {
  const proof = asStrings(hashes)?.map(fromBase64);
  if (typeof index !== "string" || !/^[0-9]{1,19}$/.test(index) || typeof checkpoint !== "string" || !proof?.every((hash) => hash !== null))
    return null;
  return formatTlogProof({ index: BigInt(index), hashes: proof, checkpoint });
};
var formatPublishedReceipt = (anchor, statement) => {
  const kind = asString(anchor.ledger)?.split(":")[0];
  if (kind === "rekor2") return null;
  const note = asString(anchor.signed_root) ?? "";
  const receipt = {
    v: 1,
    ledger: anchor.ledger,
    kind,
    tx_ref: anchor.tx_ref,
    entry_hash: anchor.entry_hash,
    leaf_index: anchor.leaf_index,
    leaf_hash: toBase64(hashLeaf(encodeUtf8(statement))),
    inclusion_proof: anchor.inclusion_proof,
    signed_root: note,
    tree_size: anchor.tree_size,
    root_hash: toBase64(parseCheckpoint(note)?.root ?? new Uint8Array(0)),
    submitted_at: anchor.anchored_at,
    verified_at: anchor.anchored_at
  };
  return Object.values(receipt).every((value) => value !== void 0) ? formatReceipt(receipt) : "";
};
var anchorEvidenceFromWire = (anchor) => {
  const statement = asString(anchor?.statement);
  if (anchor === null || statement === null) return { ...emptyAnchorEvidence, published: anchor };
  if (anchor.status !== "anchored") return { ...emptyAnchorEvidence, statement, published: anchor };
  const attested = asObject(anchor.attested);
  const attestations = Array.isArray(attested?.attestations) ? attested.attestations : [];
  const token = attestations.find((attestation) => isJsonObject(attestation) && attestation.kind === "rfc3161");
  return {
    statement,
    published: anchor,
    receipt: formatPublishedReceipt(anchor, statement),
    entryProof: asString(anchor.tlog_proof) ?? formatPublishedProof(anchor.leaf_index, anchor.inclusion_proof, anchor.signed_root),
    rekorBody: null,
    attestedProof: attested === null ? null : formatPublishedProof(anchor.leaf_index, attested.inclusion_proof, attested.signed_root),
    attestedNote: attested === null ? null : stripCosignatures(asString(attested.signed_root) ?? ""),
    timestampReply: isJsonObject(token) ? fromBase64(asString(token.token) ?? "") : null
  };
};
var verifyPublic = async (view, options) => {
  const findings = /* @__PURE__ */ new Map();
  const hasEd25519 = await canVerifyEd25519(webCrypto);
  const trust = hasEd25519 ? options.trust : null;
  const canonical = asString(view.canonical);
  const preimage = parsePreimage(canonical);
  findings.set("fp.canonical", checkCanonical(preimage));
  findings.set("fp.hash", checkFingerprint(canonical, view.fingerprint, options.expectedFingerprint));
  if (preimage !== null && canonical !== null) {
    findings.set("fp.arrays", checkArrays(preimage));
    findings.set(
      "disclosure.hash",
      checkDisclosure(asString(view.disclosure_text) ?? toCanonicalJson(view.disclosure_text ?? null), preimage)
    );
    findings.set("cert.consistency", await checkCertificate(webCrypto, view, preimage, canonical, trust));
    await checkAnchors(
      findings,
      view,
      preimage,
      sha256Hex(canonical),
      (_, published) => anchorEvidenceFromWire(published),
      createAnchorContext(webCrypto, trust, options)
    );
  }
  return buildReport(
    findings,
    {
      cert_id: preimage?.cert_id ?? null,
      fingerprint: canonical === null ? null : sha256Hex(canonical),
      trust: options.trust === null ? "none" : "given",
      notes: hasEd25519 ? [] : [ed25519UnsupportedNote]
    },
    publicCheckIds
  );
};

// verifier/verify-withdrawal.ts
var withdrawalCheckIds = [...receiptCheckIds, ...revocationCheckIds];
var checkDisplayedReceipt = (receipt, data, expected) => {
  if (receipt === null) return fail2("the receipt is not canonical JSON with exactly its members");
  if (toCanonicalJson(data.receipt ?? null) !== asString(data.canonical)) return fail2("the displayed receipt is not the signed one");
  if (expected !== null && receipt.fingerprint !== expected) return fail2("the receipt is for a different certificate than expected");
  const recipients = receipt.entities === void 0 ? "" : ` from ${receipt.entities.join(", ")}`;
  return pass(`${receipt.cert_id}, withdrawn${recipients} ${receipt.withdrawn_at}`);
};
var verifyWithdrawal = async (file, options) => {
  const data = asObject(file.data) ?? file;
  const findings = /* @__PURE__ */ new Map();
  const hasEd25519 = await canVerifyEd25519(webCrypto);
  const trust = hasEd25519 ? options.trust : null;
  const canonical = asString(data.canonical);
  const receipt = parseSignedReceipt(canonical);
  findings.set("receipt.canonical", checkDisplayedReceipt(receipt, data, options.expectedFingerprint));
  if (receipt !== null && canonical !== null) {
    findings.set("receipt.signature", await checkReceiptSignature(webCrypto, canonical, receipt, data.signature, trust));
    findings.set("receipt.deadline", checkDeadline(receipt));
    const statement = buildReceiptStatement(receipt, canonical);
    await checkAnchor(
      findings,
      "revoked",
      statement,
      anchorEvidenceFromWire(asObject(data.anchor)),
      createAnchorContext(webCrypto, trust, options)
    );
  }
  return buildReport(
    findings,
    {
      cert_id: receipt?.cert_id ?? null,
      fingerprint: receipt?.fingerprint ?? null,
      trust: options.trust === null ? "none" : "given",
      notes: hasEd25519 ? [] : [ed25519UnsupportedNote]
    },
    withdrawalCheckIds
  );
};

// verifier/cli.ts
var usage = `Usage: svc-verify <evidence.zip | withdrawal.json> [options]

  Checks an evidence pack, or a withdrawal receipt as returned by the API.

  --trust <trust.json>        the keys you trust (download /.well-known/svc-trust.json from the issuer)
  --expect-fingerprint <hex>  the fingerprint you expect
  --require tsa,witness=<n>   require a timestamp, n witnesses, or both
  --json                      print the report as JSON
  --help                      print this text

Exit codes: 0 every check passed; 1 a check failed (the first one is named); 2 invalid usage or an unreadable file;
3 nothing is wrong, but required evidence is missing or no trust file was given.
`;
var UsageError = class extends Error {
};
var addRequirements = (text, options) => {
  let { requiresTimestamp, witnessMin } = options;
  for (const requirement of text.split(",")) {
    const [, count] = /^witness=([1-9][0-9]?)$/.exec(requirement) ?? [];
    if (requirement === "tsa") requiresTimestamp = true;
    else if (count !== void 0) witnessMin = Math.max(witnessMin, Number(count));
    else throw new UsageError(`--require takes tsa and witness=<n>, not "${requirement}"`);
  }
  return { ...options, requiresTimestamp, witnessMin };
};
var parseArguments = (args) => {
  const rest = [...args];
  let options = { pack: "", trust: null, expectedFingerprint: null, requiresTimestamp: false, witnessMin: 0, json: false };
  const takeValue = (option) => {
    const value = rest.shift();
    if (value === void 0) throw new UsageError(`${option} needs a value`);
    return value;
  };
  const takeOnlyValue = (option, earlier) => {
    if (earlier !== null) throw new UsageError(`${option} is accepted only once`);
    return takeValue(option);
  };
  for (let argument = rest.shift(); argument !== void 0; argument = rest.shift()) {
    if (argument === "--help" || argument === "-h") return "help";
    if (argument === "--json") options = { ...options, json: true };
    else if (argument === "--trust") options = { ...options, trust: takeOnlyValue(argument, options.trust) };
    else if (argument === "--require") options = addRequirements(takeValue(argument), options);
    else if (argument === "--expect-fingerprint")
      options = { ...options, expectedFingerprint: takeOnlyValue(argument, options.expectedFingerprint).toLowerCase() };
    else if (argument.startsWith("-")) throw new UsageError(`unknown option ${argument}`);
    else if (options.pack !== "") throw new UsageError("only one pack at a time is accepted");
    else options = { ...options, pack: argument };
  }
  if (options.pack === "") throw new UsageError("the path of a pack is required");
  const { expectedFingerprint } = options;
  if (expectedFingerprint !== null && fromHex(expectedFingerprint)?.length !== 32) {
    throw new UsageError("--expect-fingerprint takes 64 hex digits");
  }
  return options;
};
var readBytes = async (path) => {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
};
var readTrust = async (path) => {
  const parsed = parseIJson(await readBytes(path));
  const trust = parsed.ok ? trustOf(parsed.value) : null;
  if (trust === null) throw new UsageError(`${path} is not a trust document`);
  return trust;
};
var outcomeLabels = { pass: "pass", fail: "FAIL", incomplete: "MISSING", skipped: "-" };
var verdictMessages = {
  valid: "VALID: every check passed.",
  incomplete: "INCOMPLETE: nothing is wrong, but evidence is missing:",
  invalid: "INVALID: the first check that failed is"
};
var formatReport = (report) => {
  const lines = report.checks.map(({ id, outcome, detail, asks }) => {
    const description = outcome === "pass" ? [asks, detail].filter((text) => text !== "").join(" ") : detail;
    return `${outcomeLabels[outcome].padEnd(8)}${id.padEnd(25)}${description}`;
  });
  const details = report.verdict === "invalid" ? ` ${report.failed}` : report.missing.map((text) => `
  ${text}`).join("");
  const notes = report.notes.map((note) => `note: ${note}`);
  return [...lines, "", ...notes, `${report.cert_id ?? "no certificate"}  ${verdictMessages[report.verdict]}${details}`, ""].join("\n");
};
var exitCodes = { valid: 0, invalid: 1, incomplete: 3 };
var usageErrorExitCode = 2;
var parseReceiptFile = (bytes) => {
  const parsed = parseIJson(bytes);
  const file = parsed.ok ? asObject(parsed.value) : null;
  const data = asObject(file?.data) ?? file;
  return data !== null && "receipt" in data && "canonical" in data ? data : null;
};
var verifyFile = (bytes, options) => {
  const receipt = parseReceiptFile(bytes);
  return receipt === null ? verifyPack(bytes, options) : verifyWithdrawal(receipt, options);
};
var runCli = async (args) => {
  try {
    const options = parseArguments(args);
    if (options === "help") {
      stdout.write(usage);
      return 0;
    }
    const trust = options.trust === null ? null : await readTrust(options.trust);
    const report = await verifyFile(await readBytes(options.pack), { ...defaultVerificationOptions, ...options, trust });
    stdout.write(options.json ? `${JSON.stringify(report, null, 2)}
` : formatReport(report));
    return exitCodes[report.verdict];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`svc-verify: ${error.message}

${usage}`);
    return usageErrorExitCode;
  }
};
var isCommand = () => argv[1] !== void 0 && import.meta.url === pathToFileURL(realpathSync(argv[1])).href;
if (isCommand()) process.exitCode = await runCli(argv.slice(2));
export {
  runCli,
  trustOf,
  verifyPack,
  verifyPublic,
  verifyWithdrawal
};
