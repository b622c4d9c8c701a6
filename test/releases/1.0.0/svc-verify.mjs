#!/usr/bin/env node

// verifier/cli.ts
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process, { argv, stderr, stdout } from "node:process";
import { pathToFileURL } from "node:url";

// core/bytes.ts
var utf8Encoder = new TextEncoder();
var encodeUtf8 = (text) => utf8Encoder.encode(text);
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
var utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
var decodeUtf8 = (bytes) => {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return null;
  }
};
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
var findIJsonFault = (text, deepest) => {
  const open = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    if (char === "{" || char === "[") {
      open.push(char === "{" ? /* @__PURE__ */ new Set() : null);
      if (open.length > deepest) return "nested too deeply";
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
      if (!value.isWellFormed()) return "text holds half a surrogate pair";
      if (expectsKey) {
        const keys = open.at(-1);
        if (keys.has(value)) return "a key stands twice in one object";
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
var parseIJson = (bytes, deepest = maxBodyDepth) => {
  const text = decodeUtf8(bytes);
  if (text === null) return refuse("invalid_request", "The body is not valid UTF-8.");
  const value = parseJson(text);
  if (value === void 0) return refuse("invalid_request", "The body is not valid JSON.");
  const fault = findIJsonFault(text, deepest);
  if (fault !== null) return refuse("invalid_request", `The body is not I-JSON: ${fault}.`);
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
var rotateRight = (word, by) => word >>> by | word << 32 - by;
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

// core/ledger/key-validity.ts
var defaultValidFrom = "1970-01-01T00:00:00.000Z";
var isIsoTime = (text) => {
  const instant = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isFinite(instant) && toIso(instant) === text;
};
var isKeyInUse = ({ validFrom, validTo }, at) => validFrom <= at && (validTo === void 0 || at < validTo);

// core/ledger/note.ts
var treeNodeLength = 65;
var memoizeNoteCrypto = (crypto2) => {
  const verdicts = /* @__PURE__ */ new Map();
  const nodes = /* @__PURE__ */ new Map();
  return {
    sha256: (bytes) => {
      if (bytes.length !== treeNodeLength) return crypto2.sha256(bytes);
      const question = toBase64(bytes);
      const node = nodes.get(question) ?? crypto2.sha256(bytes);
      nodes.set(question, node);
      return node;
    },
    verifyEd25519: (publicKey, message, signature) => {
      const question = [publicKey, signature, crypto2.sha256(message)].map(toBase64).join(" ");
      const verdict = verdicts.get(question) ?? crypto2.verifyEd25519(publicKey, message, signature);
      verdicts.set(question, verdict);
      return verdict;
    }
  };
};
var keyKinds = { log: 1, witness: 4 };
var keyLength = 32;
var signatureLength = 64;
var timestampLength = 8;
var isKeyName = (name) => name.isWellFormed() && /^[^\p{White_Space}\p{Cc}+]+$/u.test(name);
var computeKeyId = (hash, name, kind, publicKey) => toHex(hash(concatBytes(encodeUtf8(`${name}
`), new Uint8Array([kind]), publicKey)).subarray(0, 4));
var createVerifierKey = (hash, name, kind, publicKey) => ({
  name,
  keyId: computeKeyId(hash, name, kind, publicKey),
  kind,
  publicKey
});
var formatVkey = (key) => `${key.name}+${key.keyId}+${toBase64(concatBytes(new Uint8Array([key.kind]), key.publicKey))}`;
var parseKeyParts = (text) => {
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(encoded);
  if (!isKeyName(name) || bytes?.length !== 1 + keyLength) return null;
  const kind = Object.values(keyKinds).find((known) => known === bytes[0]);
  return kind === void 0 ? null : { name, keyId, kind, material: bytes.slice(1) };
};
var parseVkey = (hash, text) => {
  const parts = parseKeyParts(text);
  if (parts === null) return null;
  const key = createVerifierKey(hash, parts.name, parts.kind, parts.material);
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
  return signatures.every((one) => one !== null) ? { text: note.slice(0, blank + 1), signatures } : null;
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
var hashLeaf = (hash, entry) => hash(concatBytes(leafPrefix, entry));
var nodeBuffer = new Uint8Array(1 + 2 * hashLength);
nodeBuffer[0] = 1;
var hashNode = (hash, left, right) => {
  if (left.length !== hashLength || right.length !== hashLength) throw new RangeError("merkle: a node is made of two hashes");
  nodeBuffer.set(left, 1);
  nodeBuffer.set(right, 1 + hashLength);
  return hash(nodeBuffer);
};
var computeEmptyRoot = (hash) => hash(new Uint8Array(0));
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
var areHashes = (hashes) => hashes.every((one) => one.length === hashLength);
var computeRootFromInclusion = (hash, claim) => {
  const { leaf, index, size, proof } = claim;
  if (index < 0n || index >= size || size > maxTreeSize || proof.length !== getInclusionProofLength(index, size)) return null;
  if (leaf.length !== hashLength || !areHashes(proof)) return null;
  let node = index;
  let last = size - 1n;
  let root = leaf;
  for (const sibling of proof) {
    if (isOdd(node) || node === last) {
      root = hashNode(hash, sibling, root);
      while (!isOdd(node) && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      root = hashNode(hash, root, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? root : null;
};
var isConsistent = (hash, older, newer, proof) => {
  if (older.size < 0n || older.size > newer.size || newer.size > maxTreeSize || proof.length > maxProofHashes) return false;
  if (older.root.length !== hashLength || newer.root.length !== hashLength || !areHashes(proof)) return false;
  if (older.size === 0n && !areBytesEqual(older.root, computeEmptyRoot(hash))) return false;
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
      olderRoot = hashNode(hash, sibling, olderRoot);
      newerRoot = hashNode(hash, sibling, newerRoot);
      while (!isOdd(node) && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      newerRoot = hashNode(hash, newerRoot, sibling);
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
  if (!verdict.ok) return verdict;
  if (!verdict.signatures.some(({ key }) => key.kind === keyKinds.log)) return fail("no_known_signature");
  const checkpoint = parseCheckpointText(parsed.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  if (checkpoint.origin !== trust.origin) return fail("origin_mismatch");
  return { ok: true, checkpoint, cosignatures: verdict.signatures.filter(({ key }) => key.kind === keyKinds.witness) };
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
var findInclusionFault = (crypto2, claim, head) => {
  if (claim.index < 0n || claim.index >= head.size) return "index_outside_tree";
  if (claim.hashes.length !== getInclusionProofLength(claim.index, head.size)) return "proof_length";
  const root = computeRootFromInclusion(crypto2.sha256, { leaf: claim.leaf, index: claim.index, size: head.size, proof: claim.hashes });
  return root !== null && areBytesEqual(root, head.root) ? null : "root_mismatch";
};
var verifyTlogProof = async (crypto2, text, entry, trust) => {
  const proof = parseTlogProof(text);
  if (proof === null) return fail("proof_malformed");
  const verdict = await verifyCheckpoint(crypto2, proof.checkpoint, trust);
  if (!verdict.ok) return verdict;
  const fault = findInclusionFault(
    crypto2,
    { leaf: hashLeaf(crypto2.sha256, entry), index: proof.index, hashes: proof.hashes },
    verdict.checkpoint
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
var verifyCheckpointSigner = async (signedRoot, signersOf) => {
  const note = parseNote(signedRoot);
  if (note === null) return fail("note_malformed");
  const signers = await signersOf(note);
  if (typeof signers === "string") return fail(signers);
  const checkpoint = parseCheckpointText(note.text);
  if (checkpoint === null) return fail("checkpoint_malformed");
  return signers.some(({ origin }) => origin === checkpoint.origin) ? { ok: true, checkpoint } : fail("origin_mismatch");
};
var verifyCheckpointByLogKey = (crypto2, signedRoot, pinned) => verifyCheckpointSigner(signedRoot, async (note) => {
  const keys = pinned.map((key) => parseVkey(crypto2.sha256, key.vkey)).filter((key) => key?.kind === keyKinds.log);
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
  const excluded = findInclusionFault(crypto2, { leaf, index, hashes }, checkpoint);
  if (excluded !== null) return fail(excluded);
  if (receipt.entry_hash !== toHex(crypto2.sha256(statement))) return fail("leaf_mismatch");
  if (receipt.kind === "tlog" ? body !== void 0 : body === void 0) return fail("leaf_mismatch");
  if (!areBytesEqual(leaf, hashLeaf(crypto2.sha256, body ?? statement))) return fail("leaf_mismatch");
  if (body !== void 0 && !await context.isLeafBoundToStatement?.(body, statement)) return fail("leaf_mismatch");
  if (context.lastVerifiedTree !== void 0) {
    const { head, proof } = context.lastVerifiedTree;
    const [older, newer] = head.size <= checkpoint.size ? [head, checkpoint] : [checkpoint, head];
    if (!isConsistent(crypto2.sha256, older, newer, proof)) return fail("fork");
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
  // GeneralizedTime
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
var createSequenceReader = (value, tag = derTags.sequence) => {
  const members = value?.tag === tag ? value.children : [];
  let at = 0;
  return {
    next: (wanted) => {
      if (members[at]?.tag !== wanted) return void 0;
      at += 1;
      return members[at - 1];
    },
    done: () => value?.tag === tag && at === members.length
  };
};
var parseOid = (value) => value?.tag === derTags.oid ? toHex(value.content) : null;
var encodeDer = (tag, ...parts) => {
  const content = concatBytes(...parts);
  const { length } = content;
  const header = length < 128 ? [length] : length < 256 ? [129, length] : [130, length >> 8, length & 255];
  if (length > 65535) throw new RangeError("der: longer than anything written here");
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
var ed25519Oid = "2b6570";
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
  const kind = parseSpki(spki);
  if (kind === null) return false;
  const { hash } = signed;
  const algorithm = kind.kind === "rsa" ? { name: "RSASSA-PKCS1-v1_5", hash } : { name: "ECDSA", namedCurve: kind.curve };
  const signature = kind.kind === "rsa" ? new Uint8Array(signed.signature) : ecdsaDerToRaw(signed.signature, kind.size);
  if (signature === null) return false;
  let key;
  try {
    key = await subtle.importKey("spki", new Uint8Array(spki), algorithm, false, ["verify"]);
  } catch {
    return false;
  }
  return subtle.verify({ name: algorithm.name, hash }, key, signature, new Uint8Array(signed.data));
};
var ed25519KeyFromSpki = (spki) => {
  const members = createSequenceReader(parseDer(spki) ?? void 0);
  const algorithm = createSequenceReader(members.next(derTags.sequence));
  const isEd25519 = parseOid(algorithm.next(derTags.oid)) === ed25519Oid && algorithm.done();
  const bits = members.next(derTags.bitString);
  return isEd25519 && members.done() && bits?.content.length === 33 && bits.content[0] === 0 ? bits.content.slice(1) : null;
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
  let here = value;
  for (const name of path) {
    if (!isJsonObject(here) || !Object.hasOwn(here, name)) return void 0;
    here = here[name];
  }
  return here;
};
var parseJsonBytes = (bytes) => {
  const parsed = parseIJson(bytes);
  return parsed.ok ? parsed.value : void 0;
};
var parseEntryParts = (text, digest, signature, print) => {
  const content = getMember(signature, "content");
  const publicKey = getMember(signature, "verifier", "publicKey", "rawBytes");
  if (typeof digest !== "string" || typeof content !== "string" || typeof publicKey !== "string") return null;
  const entry = { digest, signature: content, publicKey };
  return print(entry) === text ? entry : null;
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
  if (entry.digest !== toBase64(crypto2.sha256(statement)) || !anchorKeys.includes(entry.publicKey)) return false;
  return crypto2.verifyEcdsa(spki, statement, signature);
};

// core/ledger/rekor-receipt.ts
var ecdsaKeyKind = 2;
var computeEcdsaKeyId = (hash, spki) => toHex(hash(spki).subarray(0, 4));
var vkeyFromSpki = (hash, origin, spki) => {
  const publicKey = ed25519KeyFromSpki(spki);
  if (publicKey !== null) return formatVkey(createVerifierKey(hash, origin, keyKinds.log, publicKey));
  if (parseSpki(spki)?.kind !== "ecdsa") return null;
  return `${origin}+${computeEcdsaKeyId(hash, spki)}+${toBase64(concatBytes(new Uint8Array([ecdsaKeyKind]), spki))}`;
};
var parseRekorKey = (hash, vkey) => {
  const ed25519 = parseVkey(hash, vkey);
  if (ed25519 !== null) {
    const { name: name2, keyId: keyId2, kind, publicKey } = ed25519;
    const isBy = async (crypto2, text, signature) => signature.length === 64 && crypto2.verifyEd25519(publicKey, encodeUtf8(text), signature);
    return kind === keyKinds.log ? { name: name2, keyId: keyId2, isSignatureValid: isBy } : null;
  }
  const [, name = "", keyId = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.[0] !== ecdsaKeyKind || !isKeyName(name)) return null;
  const spki = bytes.slice(1);
  if (parseSpki(spki)?.kind !== "ecdsa" || computeEcdsaKeyId(hash, spki) !== keyId) return null;
  return { name, keyId, isSignatureValid: (crypto2, text, signature) => crypto2.verifyEcdsa(spki, encodeUtf8(text), signature) };
};
var findSigners = async (crypto2, note, trust) => {
  const signers = [];
  for (const { name, keyId, bytes } of note.signatures) {
    for (const trusted of trust) {
      const key = parseRekorKey(crypto2.sha256, trusted.vkey);
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
var decodeText = (bytes) => {
  if (bytes === void 0) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
};
var parseCanonical = (text) => {
  if (text === null) return void 0;
  try {
    const value = JSON.parse(text);
    return toCanonicalJson(value) === text ? value : void 0;
  } catch {
    return void 0;
  }
};
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var asObject = (value) => isObject(value) ? value : null;
var asString = (value) => typeof value === "string" ? value : null;
var asStrings = (value) => Array.isArray(value) && value.every((one) => typeof one === "string") ? value : null;
var hasExactMembers = (record, names) => Object.keys(record).length === names.length && names.every((name) => Object.hasOwn(record, name));
var isSameJson = (a, b) => a === void 0 || b === void 0 ? a === b : toCanonicalJson(a) === toCanonicalJson(b);
var findDifferingMembers = (a, b) => Object.keys(b).filter((name) => !isSameJson(a[name], b[name]));
var isIsoInstant = (text) => {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return false;
  const at = Date.parse(text);
  return Number.isFinite(at) && new Date(at).toISOString() === text;
};
var isSha256Hex = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

// verifier/trust.ts
var parseOptionalList = (value, read) => {
  if (value === void 0 || value === null) return [];
  if (!Array.isArray(value)) return null;
  const all = value.map(read);
  return all.every((one) => one !== null) ? all : null;
};
var parseKeyValidity = (record) => {
  const from = record.valid_from ?? defaultValidFrom;
  const to = record.valid_to ?? null;
  if (!isIsoInstant(from) || to !== null && !isIsoInstant(to)) return null;
  return to === null ? { validFrom: from } : { validFrom: from, validTo: to };
};
var logRoles = ["primary", "mirror", "audit"];
var isEcdsaKey = (origin, vkey) => {
  const bytes = fromBase64(vkey.slice(vkey.lastIndexOf("+") + 1)) ?? new Uint8Array(0);
  return vkeyFromSpki(sha256, origin, bytes.slice(1)) === vkey;
};
var parseTrustedLog = (value) => {
  const record = asObject(value);
  const window = record === null ? null : parseKeyValidity(record);
  const origin = asString(record?.origin);
  const vkey = asString(record?.vkey);
  if (record === null || window === null || origin === null || vkey === null || !logRoles.includes(record.role)) return null;
  const key = parseVkey(sha256, vkey);
  const isEd25519 = key?.kind === keyKinds.log && key.name === origin;
  return isEd25519 || isEcdsaKey(origin, vkey) ? { origin, vkey, ...window, role: record.role } : null;
};
var parseWitnessKey = (value) => {
  const key = typeof value === "string" ? parseVkey(sha256, value) : null;
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
  const anchorKeys = parseOptionalList(record.anchor_keys, (one) => typeof one === "string" && fromBase64(one) !== null ? one : null);
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
var listLogKeys = (logs, origin, since) => logs.filter((log) => log.origin === origin && (log.validTo === void 0 || since < log.validTo)).map(({ vkey }) => parseVkey(sha256, vkey)).filter((key) => key !== null);
var findIssuerKey = ({ issuerKeys }, kid, at) => {
  const key = issuerKeys.find((one) => one.kid === kid);
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
  // no extra field
];
var pathSegmentPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
var isPackPath = (name) => name.length <= 200 && name.split("/").every((part) => pathSegmentPattern.test(part));
var createZip = (files) => {
  const members = [];
  const directory = [];
  let offset = 0;
  for (const [name, content] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
    if (!isPackPath(name)) throw new TypeError("zip: a member has no plain relative name");
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
  const whole = createZip(files);
  if (areBytesEqual(whole, zip)) return { ok: true, files };
  return fail(zip.length > whole.length && areBytesEqual(whole, zip.subarray(0, whole.length)) ? "trailing_bytes" : "headers_differ");
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

// core/certificates/evidence-parts.ts
var maxPackedEntityWithdrawals = 100;

// core/ledger/statement.ts
var formatAnchorStatement = (anchor) => toCanonicalJson({
  entity_id: anchor.entityId,
  event: anchor.event,
  fingerprint: anchor.fingerprint,
  origin_domain: anchor.originDomain,
  ...anchor.receiptHash === void 0 ? { schema: "svc-anchor-v1" } : { receipt_hash: anchor.receiptHash, schema: "svc-anchor-v2" },
  timestamp: toIso(anchor.at)
});

// core/ledger/rfc3161.ts
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
    certificates: certificates.map(parseSignerCertificate).filter((one) => one !== null),
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
var maxClockSkewMs = 5 * minuteMs;
var encodeIntegerContent = (bytes) => parseDer(encodeUnsignedInteger(bytes))?.content ?? new Uint8Array(0);
var verifyTimestampToken = async (question, subtle) => {
  const reply = createSequenceReader(parseDer(question.token) ?? void 0);
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
  const imprint = new Uint8Array(await subtle.digest(sha256Name, new Uint8Array(question.imprintBytes)));
  if (info.imprintHash !== oids.sha256 || !areBytesEqual(info.imprint, imprint)) return fail("imprint_mismatch");
  const { nonce, window } = question;
  if (nonce !== void 0 && (info.nonce === null || !areBytesEqual(info.nonce, encodeIntegerContent(nonce))))
    return fail("nonce_mismatch");
  if (window !== void 0 && (info.time < window.sentAt - maxClockSkewMs || info.time > window.receivedAt + maxClockSkewMs)) {
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
  const pin = question.pins.find((one) => one.spkiSha256 === spkiSha256 && isKeyInUse(one, toIso(info.time)));
  return pin === void 0 ? { ...fail("signer_not_pinned"), timestamp } : { ok: true, timestamp, pin };
};

// verifier/checks.ts
var checkClaims = {
  "zip.structure": "The archive holds the files of a pack and not one byte more.",
  "manifest.files": "Every file is the one that the manifest lists.",
  "manifest.signature": "The issuer signed the manifest.",
  "trust.copies": "The keys in the folder trust are those that its trust document names.",
  "fp.canonical": "The record is written in its one canonical form.",
  "fp.hash": "The fingerprint is the SHA-256 of the record.",
  "fp.arrays": "The lists of recipients are in order and do not contradict each other.",
  "disclosure.hash": "The disclosure is the one that the record names.",
  "subject.commitments": "The commitments to the person's details are those that the record names.",
  "subject.disclosures": "The details that are disclosed are those that were committed to.",
  "policies.hash": "The policies are those whose hashes were kept.",
  "cert.consistency": "The certificate says what the record says, and its issuer signed the record.",
  "anchor.statement": "The statement for the ledger is about this certificate.",
  "anchor.entry_hash": "The ledger's receipt is for this statement.",
  "anchor.note": "The ledger signed the checkpoint in its receipt.",
  "anchor.inclusion": "The ledger holds the statement.",
  "anchor.rekor_body": "The ledger's own entry is about this statement.",
  "attest.inclusion": "The checkpoint that others attest holds the statement too.",
  "attest.cosign": "Witnesses saw no other history of the ledger.",
  "attest.tsa": "A time-stamp authority saw that checkpoint.",
  "revoke.statement": "The statement of the withdrawal is about this certificate.",
  "revoke.entry_hash": "The ledger's receipt is for the statement of the withdrawal.",
  "revoke.note": "The ledger signed the checkpoint in the receipt of the withdrawal.",
  "revoke.inclusion": "The ledger holds the statement of the withdrawal.",
  "revoke.rekor_body": "The ledger's own entry is about the withdrawal.",
  "revoke.attest.inclusion": "The checkpoint that others attest holds the withdrawal too.",
  "revoke.attest.cosign": "Witnesses saw no other history of the ledger that holds the withdrawal.",
  "revoke.attest.tsa": "A time-stamp authority saw the checkpoint with the withdrawal.",
  "entities.receipt": "The issuer signed a receipt of each withdrawal from single recipients, and it says what the certificate says.",
  "entities.anchor": "The ledger holds the statement of each withdrawal from single recipients.",
  "entities.attest": "The checkpoints that others attest hold these withdrawals too.",
  "audit.chain": "The audit entries are whole, linked and about this certificate.",
  "audit.inclusion": "The audit log holds every one of these entries.",
  "audit.heads": "The audit log itself says how far this chain had come.",
  "audit.issuance": "The evidence is the one that the audit log was given when the certificate was issued.",
  "audit.status": "Whether it is withdrawn, and how, is what the audit entries tell.",
  "audit.policies": "The policies are those that the audit log was given when they were linked.",
  "time.order": "The times follow each other.",
  "receipt.canonical": "The receipt is written in its one canonical form and says all that a receipt says.",
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
  bundled: "the keys came with what they are to prove; give the verifier the issuer's trust file, from the issuer itself",
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
var checkTimestamp = async (reply, note, pins, isAsked) => {
  const without = (why) => ({ finding: isAsked ? incomplete(why) : skipped(why), time: null });
  if (reply === null) return without("there is no time stamp yet");
  if (pins.length === 0) return without("no time-stamp authority is trusted");
  const verdict = await verifyTimestampToken({ token: reply, imprintBytes: note, pins }, getSubtleCrypto());
  if (verdict.ok) return { finding: pass(`${toIso(verdict.timestamp.time)}, by ${verdict.pin.name}`), time: verdict.timestamp.time };
  if (verdict.fault === "signer_not_pinned") return without("the time stamp is by an authority that is not trusted");
  return { finding: fail2(verdict.fault), time: null };
};
var checkRekorReceipt = async (crypto2, receipt, statement, logs, anchorKeys) => {
  const rekorCrypto = {
    ...crypto2,
    verifyEcdsa: (spki, data, signature) => isSignedBy(getSubtleCrypto(), spki, { hash: "SHA-256", signature, data })
  };
  const named = parseRekorLeaf(fromBase64(receipt.leaf_body ?? "") ?? new Uint8Array(0))?.publicKey;
  const keys = anchorKeys.length > 0 || named === void 0 ? anchorKeys : [named];
  const verdict = await verifyRekorReceipt(rekorCrypto, receipt, statement, { logs, anchorKeys: keys });
  const notAbout = fail2("the ledger's entry is not about this statement, or not signed by a trusted key");
  if (!verdict.ok) return verdict.fault === "leaf_mismatch" ? { fault: null, leaf: notAbout } : { fault: verdict.fault, leaf: notAbout };
  return { fault: null, leaf: anchorKeys.length > 0 ? pass() : incomplete("no key of the issuer's for this ledger is trusted") };
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
  if (receipt.entry_hash !== hash) return fail2("the receipt is for another statement");
  if (published !== null && published.entry_hash !== hash) return fail2("the certificate names another statement");
  return pass(hash);
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
  const said = (name) => name === "inclusion_proof" ? asStrings(published[name])?.join("\n") : published[name];
  const other = pairs.find(([name, value]) => said(name) !== value);
  return other === void 0 ? null : `the certificate publishes another ${other[0]}`;
};
var findEntryProofFault = (text, receipt) => text === formatReceiptProof(receipt) ? null : "entry.tlog-proof does not say what the receipt says";
var checkAnchorReceipt = async ({ crypto: crypto2 }, trust, exhibit, receipt, statement) => {
  const notReached = skipped("not reached");
  const isWrapped = receipt.kind === "rekor2";
  const wrapped = isWrapped ? await checkRekorReceipt(crypto2, receipt, statement, trust.ledgers, trust.anchorKeys) : null;
  const verdict = isWrapped ? null : await verifyReceipt(crypto2, receipt, statement, { trustedKeys: trust.ledgers });
  const fault = wrapped?.fault ?? (verdict === null || verdict.ok ? null : verdict.fault);
  if (fault !== null && noteFaults.includes(fault)) return { note: fail2(fault), inclusion: notReached, rekorBody: notReached };
  const differs = findPublishedFault(exhibit.published, receipt);
  if (differs !== null) return { note: fail2(differs), inclusion: notReached, rekorBody: notReached };
  const note = pass(`${receipt.ledger}, ${receipt.tree_size} entries`);
  const proofFault = fault ?? findEntryProofFault(exhibit.entryProof, receipt);
  if (proofFault !== null) return { note, inclusion: fail2(proofFault), rekorBody: notReached };
  const inclusion = pass(receipt.tx_ref);
  const { rekorBody: body } = exhibit;
  if (wrapped === null) {
    const none = body === null ? skipped("this ledger holds the statement itself") : fail2("this ledger makes no leaf of its own");
    return { note, inclusion, rekorBody: none };
  }
  const isShown = body !== null && toBase64(body) === receipt.leaf_body;
  return { note, inclusion, rekorBody: isShown ? wrapped.leaf : fail2("rekor.json is not the leaf of the receipt") };
};
var createUnattestedFindings = (context) => {
  const missing = (isAsked) => isAsked ? incomplete("nobody has attested the ledger's checkpoint yet") : skipped("no attestation is asked for");
  return {
    inclusion: missing(context.requiresTimestamp || context.witnessMin > 0),
    cosign: missing(context.witnessMin > 0),
    tsa: missing(context.requiresTimestamp),
    time: null
  };
};
var checkAttestation = async (context, trust, exhibit, receipt, leaf) => {
  const { attestedProof, attestedNote, timestampReply } = exhibit;
  if (attestedProof === null && attestedNote === null && timestampReply === null) return createUnattestedFindings(context);
  const notReached = skipped("not reached");
  const failed = (detail) => ({ inclusion: fail2(detail), cosign: notReached, tsa: notReached, time: null });
  if (attestedProof === null || attestedNote === null) return failed("the checkpoint and the proof that leads to it go together");
  const origin = parseCheckpoint(receipt.signed_root).origin;
  const log = { origin, keys: listLogKeys(trust.ledgers, origin, receipt.verified_at), witnesses: trust.witnesses };
  const stamped = await verifyCheckpoint(context.crypto, attestedNote, log);
  if (!stamped.ok) return failed(`checkpoint.txt: ${stamped.fault}`);
  const proven = await verifyTlogProof(context.crypto, attestedProof, leaf, log);
  if (!proven.ok) return failed(proven.fault);
  if (proven.index.toString() !== receipt.leaf_index) return failed("the proof is for another place in the ledger");
  if (!parseTlogProof(attestedProof)?.checkpoint.startsWith(attestedNote))
    return failed("the proof leads to another checkpoint than the attested one");
  const inclusion = pass(`${proven.checkpoint.size} entries`);
  const witnesses = [...new Set(proven.cosignatures.map(({ key }) => key.name))];
  const names = witnesses.length === 0 ? "" : `: ${witnesses.join(", ")}`;
  const count = `${witnesses.length} of ${context.witnessMin} witnesses that are asked for${names}`;
  const cosign = witnesses.length < context.witnessMin ? incomplete(count) : witnesses.length === 0 ? skipped("no witness is asked for") : pass(count);
  const timestamp = await checkTimestamp(timestampReply, encodeUtf8(attestedNote), trust.authorities, context.requiresTimestamp);
  return { inclusion, cosign, tsa: timestamp.finding, time: timestamp.time };
};
var checkAnchor = async (findings, event, expected, exhibit, context) => {
  const record = (step, finding) => {
    findings.set(toCheckId(event, step), finding);
  };
  const { statement, published, trust } = { ...exhibit, trust: context.trust };
  if (statement === null) {
    record("statement", incomplete("the statement is not in the pack"));
    return { time: null };
  }
  const isExpected = statement === expected && (published === null || published.statement === statement);
  record("statement", isExpected ? pass() : fail2("it is not the statement that this certificate gives"));
  if (exhibit.receipt === null) {
    if (published !== null && published.entry_hash !== sha256Hex(statement)) {
      record("entry_hash", fail2("the certificate names another statement"));
    } else {
      record("entry_hash", incomplete("the ledger has not confirmed yet: there is no receipt"));
    }
    return { time: null };
  }
  const receipt = parseReceipt(exhibit.receipt);
  const entryHash = checkEntryHash(statement, receipt, published);
  record("entry_hash", entryHash);
  if (receipt === null) return { time: null };
  if (trust === null || trust.ledgers.length === 0) {
    record("note", incomplete("no ledger's key to check it with"));
    return { time: null };
  }
  const bytes = encodeUtf8(statement);
  const found = await checkAnchorReceipt(context, trust, exhibit, receipt, bytes);
  record("note", found.note);
  record("inclusion", found.inclusion);
  record("rekor_body", found.rekorBody);
  if (found.inclusion.outcome !== "pass") return { time: null };
  const attested = await checkAttestation(context, trust, exhibit, receipt, exhibit.rekorBody ?? bytes);
  record("attest.inclusion", attested.inclusion);
  record("attest.cosign", attested.cosign);
  record("attest.tsa", attested.tsa);
  return { time: attested.time };
};

// verifier/group-by.ts
var groupBy = (values, keyOf) => {
  const groups = /* @__PURE__ */ new Map();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === void 0) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
};

// core/cease-deadline.ts
var ceaseBusinessDays = 10;
var isWeekend = (instant) => {
  const day = new Date(instant).getUTCDay();
  return day === 0 || day === 6;
};
var getCeaseDeadline = (from) => {
  const midnight = Math.floor(from / dayMs) * dayMs;
  let day = midnight;
  for (let counted = 0; counted < ceaseBusinessDays; ) {
    day += dayMs;
    if (!isWeekend(day)) counted += 1;
  }
  return day + dayMs - 1;
};

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

// core/certificates/subject.ts
var computeFieldCommitment = (salt, key, value) => sha256Hex(toCanonicalJson([salt, key, value]));

// verifier/record.ts
var textMemberNames2 = ["cert_id", "disclosure_hash", "origin_domain", "purpose", "subject_hash", "timestamp"];
var answerMemberNames = ["entities_accepted", "entities_rejected"];
var isNamedBusiness = (value) => isObject(value) && hasExactMembers(value, ["id", "name"]) && Object.values(value).every((text) => typeof text === "string");
var parsePreimage = (text) => {
  const record = asObject(parseCanonical(text));
  if (record === null) return null;
  const names = ["business", "entities", ...textMemberNames2];
  const isShaped = hasExactMembers(record, names) || hasExactMembers(record, [...names, ...answerMemberNames]);
  const isTyped = isNamedBusiness(record.business) && textMemberNames2.every((name) => typeof record[name] === "string") && ["entities", ...answerMemberNames].every((name) => record[name] === void 0 || asStrings(record[name]) !== null);
  return isShaped && isTyped && isIsoInstant(record.timestamp) ? record : null;
};
var checkCanonical = (preimage) => preimage === null ? fail2("the record is not canonical JSON of exactly the bound members") : pass();
var checkFingerprint = (text, claimed, expected) => {
  const actual = sha256Hex(text ?? "");
  if (typeof claimed !== "string") return fail2("there is no certificate to read that names a fingerprint");
  if (text === null || actual !== claimed) return fail2("the certificate names another fingerprint than its record has");
  if (expected !== null && actual !== expected) return fail2("it is not the fingerprint that was expected");
  return pass(actual);
};
var isSortedSet = (names) => names.every((name, at) => at === 0 || names[at - 1] < name);
var checkArrays = (preimage) => {
  const { entities, entities_accepted: accepted, entities_rejected: rejected } = preimage;
  if (![entities, accepted ?? [], rejected ?? []].every(isSortedSet)) return fail2("a list is not sorted, or names somebody twice");
  if (accepted === void 0 || rejected === void 0) return pass(`${entities.length} recipients, asked about together`);
  if (accepted.some((name) => rejected.includes(name))) return fail2("somebody is both accepted and declined");
  if (![...accepted, ...rejected].every((name) => entities.includes(name))) return fail2("somebody was answered who was not named");
  return pass(`${entities.length} recipients, ${accepted.length} accepted, ${rejected.length} declined`);
};
var checkDisclosure = (disclosure, preimage) => sha256Hex(disclosure) === preimage.disclosure_hash ? pass() : fail2("it is another text than the record names");
var parseCommitments = (text) => {
  const record = asObject(parseCanonical(text));
  return record !== null && Object.values(record).every(isSha256Hex) ? record : null;
};
var checkCommitments = (text, preimage, erasedAt) => {
  if (text === null && isIsoInstant(erasedAt)) return skipped(`the person's details were erased at ${erasedAt}`);
  if (text === null) return fail2("subject/commitments.json is missing");
  if (parseCommitments(text) === null) return fail2("subject/commitments.json is not a canonical map of commitments");
  return sha256Hex(text) === preimage.subject_hash ? pass() : fail2("the record names other commitments");
};
var saltLength = 16;
var checkDisclosures = (text, commitmentsText) => {
  if (text === null && commitmentsText === null) return skipped("nothing is left to disclose");
  const commitments = parseCommitments(commitmentsText);
  const list = parseCanonical(text);
  if (commitments === null || !Array.isArray(list)) return fail2("subject/disclosures.json is not a canonical list");
  let last = "";
  for (const one of list) {
    const [salt = "", key = "", value = "", ...more] = asStrings(one) ?? [];
    if (asStrings(one)?.length !== 3 || more.length > 0 || key <= last)
      return fail2("a disclosure is not [salt, key, value], in order of keys");
    if (fromBase64Url(salt)?.length !== saltLength) return fail2(`the salt of ${key} is not 128 bits of base64url`);
    if (!Object.hasOwn(commitments, key) || commitments[key] !== computeFieldCommitment(salt, key, value)) {
      return fail2(`${key} is not what was committed to`);
    }
    last = key;
  }
  return pass(list.length === 0 ? "nothing disclosed" : list.map((one) => one[1]).join(", "));
};
var checkPolicies = (index, listed, paths, hashOfFile) => {
  if (!Array.isArray(index)) return fail2("policies/index.json is not a canonical list");
  const named = /* @__PURE__ */ new Set();
  let without = 0;
  for (const one of index) {
    const policy = asObject(one);
    if (policy === null || !hasExactMembers(policy, ["captured_at", "content_hash", "id", "kind", "path", "source_url"])) {
      return fail2("policies/index.json is malformed");
    }
    if (policy.path === null) {
      without += 1;
      continue;
    }
    const path = asString(policy.path) ?? "";
    if (path !== `policies/${policy.kind}-${policy.content_hash}.txt`) return fail2("a policy is filed under another name than its hash");
    if (hashOfFile(path) !== policy.content_hash) return fail2(`${path} is not the text with that hash`);
    named.add(path);
  }
  if (paths.some((path) => !named.has(path))) return fail2("a policy is there that the index does not name");
  const published = index.map((one) => {
    const { path: _, ...rest } = one;
    return rest;
  });
  if (toCanonicalJson(published) !== toCanonicalJson(listed ?? null))
    return fail2("the certificate lists other policies");
  if (without > 0) return incomplete(`the text of ${without} of ${index.length} policies is not in the pack`);
  return pass(index.length === 0 ? "none were linked" : `${index.length} policies`);
};
var checkIssuerSignature = async (crypto2, signed, claimed, trust) => {
  const signature = asObject(claimed);
  const bytes = fromBase64(asString(signature?.value) ?? "");
  if (signature?.alg !== "Ed25519" || bytes?.length !== 64) return fail2("the issuer's signature is malformed");
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no issuer's key to check the signature with");
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
var findEntitiesFault = (certificate, preimage) => {
  const listed = certificate.entities_withdrawn;
  if (listed === void 0) return null;
  if (!Array.isArray(listed) || listed.length === 0) return "the list of recipients that were withdrawn from is malformed";
  const consented = preimage.entities_accepted ?? preimage.entities;
  const revokedAt = asObject(certificate.withdrawal)?.withdrawn_at;
  const seen = /* @__PURE__ */ new Set();
  for (const one of listed.map(asObject)) {
    const name = asString(one?.entity) ?? "";
    const at = one?.withdrawn_at;
    if (!consented.includes(name) || seen.has(name)) return "somebody was withdrawn from who was not consented to, or twice";
    if (!isIsoInstant(at) || at < preimage.timestamp || isIsoInstant(revokedAt) && at > revokedAt)
      return "a recipient was withdrawn from at a time that does not fit the others";
    const told = one?.received_at ?? null;
    if (told !== null && !(isIsoInstant(told) && told <= at)) return "the business was told of a recipient after it was withdrawn from";
    if (one?.cease_by !== new Date(getCeaseDeadline(Date.parse(told ?? at))).toISOString())
      return "the deadline of a recipient is not the tenth business day";
    seen.add(name);
  }
  return certificate.status === "active" && seen.size === consented.length ? "it is active, and nobody is left to make contact" : null;
};
var checkCertificate = async (crypto2, certificate, preimage, canonical, trust) => {
  const names = findDifferingMembers(certificate, toBoundMembers(preimage));
  if (names.length > 0) return fail2(`certificate and record differ in ${names.join(", ")}`);
  if (certificate.canonical !== canonical) return fail2("the certificate prints another record");
  if (certificate.fingerprint_version !== "1") return fail2("the fingerprint is of a version not known here");
  if (typeof certificate.disclosure_text !== "string" || sha256Hex(certificate.disclosure_text) !== preimage.disclosure_hash) {
    return fail2("the certificate shows another disclosure");
  }
  if (asString(certificate.verify_url)?.endsWith(`/${preimage.cert_id}`) !== true)
    return fail2("the certificate names the address of another");
  const { status, withdrawal } = certificate;
  if (status !== "active" && status !== "revoked") return fail2("the certificate has no known status");
  if (isObject(withdrawal) !== (status === "revoked")) return fail2("the certificate's status and its withdrawal contradict each other");
  const ofEntities = findEntitiesFault(certificate, preimage);
  if (ofEntities !== null) return fail2(ofEntities);
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
  const isOfEntities = record?.entities !== void 0;
  if (record === null || !hasExactMembers(record, [...receiptTextMembers, "business", "received_at", ...isOfEntities ? ["entities"] : []]))
    return null;
  const { received_at: received } = record;
  const isTyped = receiptTextMembers.every((name) => typeof record[name] === "string") && isNamedBusiness(record.business);
  const isDated = isIsoInstant(record.withdrawn_at) && isIsoInstant(record.cease_by) && (received === null || isIsoInstant(received));
  return isTyped && isDated && isSha256Hex(record.fingerprint) && isValidScope(record) ? record : null;
};
var checkReceiptSignature = (crypto2, canonical, { withdrawn_at: at }, signature, trust) => checkIssuerSignature(crypto2, { what: "receipt", text: "receipt", canonical, at }, signature, trust);
var checkDeadline = ({ cease_by: until, withdrawn_at: withdrawn, received_at: received }) => {
  if (received !== null && received > withdrawn) return fail2("the business was told after it recorded the withdrawal");
  const expected = new Date(getCeaseDeadline(Date.parse(received ?? withdrawn))).toISOString();
  return until === expected ? pass(until) : fail2("it is not the end of the tenth business day");
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
var parseWithdrawalNumber = (one) => Number(/[?&]withdrawal=([1-9][0-9]{0,5})$/.exec(asString(one.receipt_url) ?? "")?.[1] ?? 0);
var groupEntitiesByWithdrawal = (certificate) => {
  const listed = Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : [];
  return groupBy(
    listed.map(asObject).filter((one) => one !== null),
    parseWithdrawalNumber
  );
};
var selectWorstFinding = (findings, passed) => findings.find(({ outcome }) => outcome === "fail") ?? findings.find(({ outcome }) => outcome === "incomplete") ?? (findings.some(({ outcome }) => outcome === "pass") ? passed : findings[0] ?? skipped("not reached"));
var prefixWithNumber = (number, { outcome, detail }) => ({
  outcome,
  detail: `withdrawal ${number}: ${detail}`
});
var findContradiction = (receipt, listed, preimage, fingerprint) => {
  const said = receipt;
  const bound = {
    cert_id: preimage.cert_id,
    business: preimage.business,
    origin_domain: preimage.origin_domain,
    fingerprint,
    entities: listed.map((one) => String(one.entity)).sort()
  };
  const other = Object.keys(bound).find((name) => toCanonicalJson(said[name] ?? null) !== toCanonicalJson(bound[name] ?? null));
  if (other !== void 0) return `its receipt names another ${other}`;
  const differs = ["withdrawn_at", "cease_by", "method", "received_at"].find(
    (name) => listed.some((one) => one[name] !== void 0 && toCanonicalJson(one[name]) !== toCanonicalJson(said[name] ?? null))
  );
  return differs === void 0 ? null : `its receipt names another ${differs}`;
};
var maxClockSkewMs2 = 5 * minuteMs;
var anchorStepIds = ["revoke.statement", "revoke.entry_hash", "revoke.note", "revoke.inclusion", "revoke.rekor_body"];
var attestationStepIds = ["revoke.attest.inclusion", "revoke.attest.cosign", "revoke.attest.tsa"];
var checkEntityWithdrawal = async (listed, { receipt: text, signature, anchor }, about, context) => {
  const nothing = (receipt2) => ({ receipt: receipt2, anchor: [], attest: [] });
  if (text === null) {
    const isOlder = listed.every(({ method }) => method === void 0) && anchor.statement === null;
    return nothing(isOlder ? skipped("the pack is from before receipts were in it") : incomplete("its receipt is not in the pack"));
  }
  const receipt = parseSignedReceipt(text);
  if (receipt === null || receipt.entities === void 0) return nothing(fail2("its receipt is not canonical JSON of exactly its members"));
  const fault = findContradiction(receipt, listed, about.preimage, about.fingerprint);
  if (fault !== null) return nothing(fail2(fault));
  const deadline = checkDeadline(receipt);
  const signed = await checkReceiptSignature(context.crypto, text, receipt, parseCanonical(signature), context.trust);
  const found = /* @__PURE__ */ new Map();
  const { time } = await checkAnchor(found, "revoked", buildReceiptStatement(receipt, text), anchor, context);
  const stepsOf = (ids) => ids.flatMap((id) => found.get(id) ?? []);
  const isEarly = time !== null && time < Date.parse(receipt.withdrawn_at) - maxClockSkewMs2;
  return {
    receipt: selectWorstFinding([signed, deadline], signed),
    anchor: stepsOf(anchorStepIds),
    attest: [...stepsOf(attestationStepIds), ...isEarly ? [fail2("a time stamp is older than the withdrawal")] : []]
  };
};
var checkEntityWithdrawals = async (findings, certificate, about, shown, exhibitOf, context) => {
  const acts = groupEntitiesByWithdrawal(certificate);
  const stray = shown.find((number) => !acts.has(number));
  if (stray !== void 0) {
    findings.set("entities.receipt", fail2(`the proof of withdrawal ${stray} is shown, and the certificate names none of that number`));
    return;
  }
  if (acts.size === 0) {
    findings.set("entities.receipt", skipped("nobody was withdrawn from alone"));
    return;
  }
  const packed = [...acts].filter(([number]) => number <= maxPackedEntityWithdrawals);
  const each = await Promise.all(
    packed.map(async ([number, listed]) => ({ number, ...await checkEntityWithdrawal(listed, exhibitOf(number), about, context) }))
  );
  const all = acts.size === packed.length ? "" : `; ${acts.size - packed.length} later ones by their audit entries`;
  const checked = pass(`${packed.length} withdrawals from single recipients${all}`);
  const of = (name) => each.flatMap((act) => act[name].map((finding) => prefixWithNumber(act.number, finding)));
  findings.set(
    "entities.receipt",
    selectWorstFinding(
      each.map(({ number, receipt }) => prefixWithNumber(number, receipt)),
      checked
    )
  );
  findings.set("entities.anchor", selectWorstFinding(of("anchor"), checked));
  findings.set("entities.attest", selectWorstFinding(of("attest"), checked));
};

// core/audit/chain.ts
var hashTextHex = (hash, text) => toHex(hash(encodeUtf8(text)));
var createGenesisHead = (hash, { chain, chainIndex }) => ({
  seq: 0n,
  hash: hashTextHex(hash, `svc-audit-v1
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
var hashAuditEntry = (hash, entry) => hashTextHex(hash, serializeAuditEntry(entry));

// core/audit/heads.ts
var serializeHeadLeaf = (chain, head) => toCanonicalJson({ chain, head: head.hash, seq: head.seq.toString() });
var hashHeadsRecord = (hash, text) => hash(encodeUtf8(text));

// core/audit/payload.ts
var hashAuditPayload = (salt, payload) => sha256Hex(toCanonicalJson([salt, payload]));

// verifier/audit.ts
var entryMemberNames = ["at", "chain", "entity_id", "entity_type", "payload_hash", "prev_hash", "seq", "type"];
var parseEntry = (line) => {
  const record = asObject(parseCanonical(line));
  if (record === null || !hasExactMembers(record, entryMemberNames) || !entryMemberNames.every((name) => typeof record[name] === "string"))
    return null;
  const entry = record;
  const isWhole = parseCount(entry.seq) !== null && entry.seq !== "0" && isIsoInstant(entry.at) && isSha256Hex(entry.payload_hash) && isSha256Hex(entry.prev_hash) && /^[0-9a-f]{32}$/.test(entry.chain);
  return isWhole && serializeAuditEntry(entry) === line ? entry : null;
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
  let before = null;
  for (const entry of entries) {
    const seq = BigInt(entry.seq);
    const previous = before === null ? null : BigInt(before.seq);
    if (entry.entity_type !== "certificate" || entry.entity_id !== certId) return `entry ${seq} is about something else`;
    if (before !== null && previous !== null) {
      if (entry.chain !== before.chain) return `entry ${seq} is of another chain`;
      if (seq <= previous) return `entry ${seq} is out of order`;
      if (seq === previous + 1n && entry.prev_hash !== hashAuditEntry(sha256, before)) return `entry ${seq} does not follow the one before`;
    }
    if (seq === 1n && chainIndex !== null && entry.prev_hash !== createGenesisHead(sha256, { chain: entry.chain, chainIndex }).hash) {
      return "entry 1 does not start this chain";
    }
    before = entry;
  }
  return null;
};
var saltLength2 = 16;
var findPayloadFault = (payloads, { entries, fingerprint, evidenceHash }) => {
  for (const [seq, value] of Object.entries(payloads)) {
    const entry = entries.find((one) => one.seq === seq);
    const record = asObject(value);
    const payload = asObject(record?.payload);
    const salt = asString(record?.salt);
    if (entry === void 0) return `there is a payload of entry ${seq}, which is not there`;
    if (record === null || payload === null || salt === null || !hasExactMembers(record, ["payload", "salt"]))
      return `the payload of entry ${seq} is malformed`;
    if (fromBase64Url(salt)?.length !== saltLength2) return `the salt of entry ${seq} is not 128 bits of base64url`;
    if (hashAuditPayload(salt, payload) !== entry.payload_hash) return `the payload of entry ${seq} is not what was committed to`;
    if (entry.type !== "certificate.issued") continue;
    if (payload.fingerprint !== fingerprint) return `entry ${seq} is the issuance of another fingerprint`;
    if (payload.evidence_hash !== evidenceHash) return `entry ${seq} committed to other evidence`;
  }
  return null;
};
var checkChain = (files, audit) => {
  const { entries, preimage } = audit;
  const fault = findLinkFault(entries, preimage.cert_id, parseChainIndex(files));
  if (fault !== null) return fail2(fault);
  const issued = entries.filter(({ type }) => type === "certificate.issued");
  if (issued.length !== 1 || issued[0]?.at !== preimage.timestamp) return fail2("the entries do not hold this one issuance");
  const payloads = asObject(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  if (payloads === null) return fail2("audit/payloads.json is not a canonical map");
  const wrong = findPayloadFault(payloads, audit);
  if (wrong !== null) return fail2(wrong);
  return pass(`${entries.length} entries, seq ${entries[0]?.seq} to ${entries.at(-1)?.seq}, ${Object.keys(payloads).length} payloads`);
};
var parseProofOrigin = (proof) => parseCheckpoint(parseTlogProof(proof)?.checkpoint ?? "")?.origin ?? null;
var verifyLogProof = ({ crypto: crypto2, trust, createdAt }, proof, origin, entry) => verifyTlogProof(crypto2, proof, entry, { origin, keys: listLogKeys(trust?.auditLogs ?? [], origin, createdAt) });
var getProofPath = (seq) => `audit/${seq}.tlog-proof`;
var checkInclusion = async (pack) => {
  const { trust, files, entries } = pack;
  const proofs = [...files.keys()].filter((path) => /^audit\/[0-9]+\.tlog-proof$/.test(path));
  const extra = proofs.find((path) => !entries.some(({ seq }) => path === getProofPath(seq)));
  if (extra !== void 0) return fail2(`${extra} proves an entry that is not there`);
  if (trust === null || trust.auditLogs.length === 0) return incomplete("no audit log's key to check it with");
  let last = -1n;
  let origin = null;
  for (const entry of entries) {
    const text = decodeText(files.get(getProofPath(entry.seq)));
    if (text === null) return fail2(`the proof of entry ${entry.seq} is missing`);
    origin ??= parseProofOrigin(text);
    const hash = fromHex(hashAuditEntry(sha256, entry));
    const verdict = await verifyLogProof(pack, text, origin ?? "", hash);
    if (!verdict.ok) return fail2(`entry ${entry.seq}: ${verdict.fault}`);
    if (verdict.index <= last) return fail2(`entry ${entry.seq} stands before its predecessor in the log`);
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
  if (headsText === null || recordText === null || proofText === null) return fail2("a part of the record of heads is missing");
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
  if (record === null || !hasExactMembers(record, ["at", "heads_root", "heads_size", "log_size", "schema"]) || record.schema !== "svc-heads-v1" || record.heads_size !== heads.size || !isIsoInstant(record.at)) {
    return fail2("audit/heads-record.json is malformed");
  }
  const chain = entries[0]?.chain ?? "";
  if (seq === null || !isSha256Hex(leaf?.head) || serializeHeadLeaf(chain, { seq, hash: leaf.head }) !== leafText) {
    return fail2("the leaf is not of this chain");
  }
  const root = computeRootFromInclusion(sha256, { leaf: hashLeaf(sha256, encodeUtf8(leafText)), index, size, proof: path });
  if (root === null || toHex(root) !== record.heads_root) return fail2("the chain does not stand in the recorded tree of heads");
  const same = entries.find((entry) => entry.seq === leaf.seq);
  if (same !== void 0 && hashAuditEntry(sha256, same) !== leaf.head) return fail2(`entry ${leaf.seq} is not the one that was recorded`);
  if (trust === null || trust.auditLogs.length === 0) return incomplete("no audit log's key to check it with");
  const origin = parseProofOrigin(decodeText(files.get(getProofPath(entries[0]?.seq ?? ""))) ?? "") ?? "";
  const verdict = await verifyLogProof(pack, proofText, origin, hashHeadsRecord(sha256, recordText));
  if (!verdict.ok) return fail2(verdict.fault);
  if (verdict.index.toString() !== record.log_size) return fail2("the record does not stand where it says");
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
  if (!isIsoInstant(at) || !isIsoInstant(createdAt) || Date.parse(createdAt) - Date.parse(at) <= maxHeadsAgeMs) return null;
  return `The audit log's record of how far this chain had come is of ${at}, more than 30 minutes before the pack was made: of entries left out since then it knows nothing.`;
};

// verifier/audit-history.ts
var parsePayloads = (parsed) => new Map(
  Object.entries(asObject(parsed) ?? {}).flatMap(([seq, one]) => {
    const payload = asObject(asObject(one)?.payload);
    return payload === null ? [] : [[seq, payload]];
  })
);
var filterEntries = ({ entries }, type) => entries.filter((entry) => entry.type === type);
var isSubjectErased = (history) => isIsoInstant(history.certificate.subject_erased_at) && filterEntries(history, "certificate.subject_erased").length > 0;
var reportMissingPayload = (history, of) => isSubjectErased(history) ? skipped(`the person's details were erased at ${history.certificate.subject_erased_at}, and with them the payload of ${of}`) : incomplete(`the audit payload of ${of} is not in the pack`);
var checkIssuance = (history) => {
  const { certificate, payloads } = history;
  const [entry] = filterEntries(history, "certificate.issued");
  if (entry === void 0) return skipped("not reached");
  const payload = payloads.get(entry.seq);
  if (payload === void 0) {
    const isShown = asObject(certificate.evidence) !== null;
    return isShown ? incomplete("the audit payload of the issuance is not in the pack") : reportMissingPayload(history, "the issuance");
  }
  if (payload.evidence_hash !== certificate.evidence_hash) return fail2("the issuance committed to other evidence");
  if (payload.environment !== certificate.environment) return fail2("the issuance was in another environment");
  return pass(`entry ${entry.seq}`);
};
var parseInstant = (value) => typeof value === "number" ? value : isIsoInstant(value) ? Date.parse(value) : null;
var findWithdrawalFault = (certificate, withdrawal, entry) => {
  const { withdrawn_at: withdrawnAt, received_at: receivedAt = null, cease_by: until } = withdrawal;
  if (entry.at !== withdrawnAt) return `entry ${entry.seq} is a withdrawal at another time`;
  if (certificate.cease_by !== until) return "the certificate names two deadlines";
  if (receivedAt !== null && !(isIsoInstant(receivedAt) && receivedAt <= entry.at)) return "the business was told after the withdrawal";
  const deadline = getCeaseDeadline(Date.parse(isIsoInstant(receivedAt) ? receivedAt : entry.at));
  return parseInstant(until) === deadline ? null : "the deadline is not the end of the tenth business day";
};
var checkWithdrawal = (history, withdrawal) => {
  const { certificate, payloads } = history;
  const [entry, second] = filterEntries(history, "certificate.revoked");
  if (entry === void 0) return incomplete("the audit entry of the withdrawal is not in the pack");
  if (second !== void 0) return fail2(`entry ${second.seq} is a second withdrawal`);
  const fault = findWithdrawalFault(certificate, withdrawal, entry);
  if (fault !== null) return fail2(fault);
  const payload = payloads.get(entry.seq);
  if (payload === void 0) return reportMissingPayload(history, "the withdrawal");
  if (payload.fingerprint !== certificate.fingerprint) return fail2(`entry ${entry.seq} is the withdrawal of another fingerprint`);
  const other = ["method", "scope"].find((name) => payload[name] !== withdrawal[name]);
  if (other !== void 0) return fail2(`entry ${entry.seq} is a withdrawal of another ${other}`);
  if (parseInstant(payload.cease_by) !== parseInstant(withdrawal.cease_by)) return fail2(`entry ${entry.seq} names another deadline`);
  return pass(`withdrawn ${entry.at}, entry ${entry.seq}`);
};
var listEntityWithdrawals = ({
  certificate
}) => {
  const listed = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const acts = groupBy(listed, (one) => String(one?.receipt_url));
  return [...acts.values()].map((act) => [
    String(act[0]?.withdrawn_at),
    toCanonicalJson(act.map((one) => String(one?.entity)).sort()),
    act[0]?.cease_by,
    act[0]?.method
  ]);
};
var checkWithdrawnEntities = (history) => {
  const acts = [...listEntityWithdrawals(history)];
  for (const entry of filterEntries(history, "certificate.entities_withdrawn")) {
    const payload = history.payloads.get(entry.seq);
    if (payload === void 0) return reportMissingPayload(history, "a withdrawal from single recipients");
    if (payload.fingerprint !== history.certificate.fingerprint) return fail2(`entry ${entry.seq} is the withdrawal of another fingerprint`);
    const names = toCanonicalJson(payload.entities ?? null);
    const at = acts.findIndex(
      ([when, named, until, method]) => when === entry.at && named === names && parseInstant(until) === parseInstant(payload.cease_by) && (method === void 0 || method === payload.method)
      // certificates have named it only since businesses record such withdrawals
    );
    if (at === -1) return fail2(`entry ${entry.seq} withdrew from recipients, and the certificate does not say so`);
    acts.splice(at, 1);
  }
  return acts.length === 0 ? null : incomplete("the audit entry of a withdrawal from single recipients is not in the pack");
};
var checkCeasedEntities = (history) => {
  const { certificate, payloads } = history;
  const listed = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const open = new Map(
    listed.flatMap((one) => isIsoInstant(one?.cease_acknowledged_at) ? [[String(one.entity), one.cease_acknowledged_at]] : [])
  );
  for (const entry of filterEntries(history, "business.entities_ceased")) {
    const payload = payloads.get(entry.seq);
    if (payload === void 0) return reportMissingPayload(history, "the acknowledgement of single recipients");
    if (payload.fingerprint !== certificate.fingerprint) return fail2(`entry ${entry.seq} is an acknowledgement under another fingerprint`);
    for (const name of asStrings(payload.entities) ?? []) {
      if (open.get(name) !== entry.at) return fail2(`entry ${entry.seq} acknowledged a recipient, and the certificate does not say so`);
      open.delete(name);
    }
  }
  return open.size === 0 ? null : incomplete("the audit entry of the acknowledgement of a recipient is not in the pack");
};
var checkDatedEvent = (history, type, claimed, what) => {
  const entries = filterEntries(history, type);
  const [entry] = entries;
  if (entry === void 0) return isIsoInstant(claimed) ? incomplete(`the audit entry of ${what} is not in the pack`) : null;
  const isSame = entries.length === 1 && entry.at === claimed;
  return isSame ? null : fail2(`entry ${entry.seq} is ${what}, and the certificate does not say so`);
};
var checkWithdrawalState = (history) => {
  const { certificate } = history;
  const withdrawal = asObject(certificate.withdrawal);
  if (certificate.status === "revoked" && withdrawal !== null) return checkWithdrawal(history, withdrawal);
  const [entry] = filterEntries(history, "certificate.revoked");
  return entry === void 0 ? pass("no entry withdraws it") : fail2(`entry ${entry.seq} withdrew what the certificate calls active`);
};
var checkStatus = (history) => {
  const { certificate } = history;
  const acknowledgedAt = asObject(certificate.withdrawal)?.cease_acknowledged_at;
  const findings = [
    checkWithdrawalState(history),
    checkWithdrawnEntities(history),
    checkCeasedEntities(history),
    checkDatedEvent(history, "business.ceased", acknowledgedAt, "the acknowledgement"),
    checkDatedEvent(history, "certificate.subject_erased", certificate.subject_erased_at, "the erasure")
  ].filter((finding) => finding !== null);
  const worst = ["fail", "incomplete"].map((outcome) => findings.find((finding) => finding.outcome === outcome));
  return worst.find((finding) => finding !== void 0) ?? findings[0];
};
var policyKinds = ["privacy", "terms"];
var checkPolicyLinks = (history) => {
  const { certificate, payloads } = history;
  const policies = Array.isArray(certificate.policies) ? certificate.policies.map(asObject) : [];
  const listed = policies.map((policy) => `${policy?.kind}-${policy?.content_hash}`).sort();
  const entry = filterEntries(history, "policy.linked").at(-1);
  if (entry === void 0) {
    return listed.length === 0 ? skipped("none were linked") : incomplete("the audit entry of the policies is not in the pack");
  }
  const payload = payloads.get(entry.seq);
  if (payload === void 0) return reportMissingPayload(history, "the policies");
  const linked = policyKinds.filter((kind) => payload[kind] !== null).map((kind) => `${kind}-${payload[kind]}`);
  return linked.sort().join("\n") === listed.join("\n") ? pass(`entry ${entry.seq}`) : fail2(`entry ${entry.seq} linked other policies`);
};

// verifier/crypto.ts
var webCrypto = {
  sha256,
  verifyEd25519: async (publicKey, message, signature) => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, new Uint8Array(signature), new Uint8Array(message));
  }
};
var knownPublicKey = fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
var knownSignature = fromHex(
  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
);
var ed25519UnsupportedNote = "This program cannot check Ed25519 signatures; a newer browser or Node can.";
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
  if (record.schema !== packSchema || certId === null || redacted === null || !isIsoInstant(record.created_at)) return null;
  return { certId, createdAt: record.created_at, redacted, listed: record.files ?? null };
};
var isManifestFile = (path) => path.startsWith("MANIFEST.");
var checkFiles = (files) => {
  const manifest = parseManifest(files);
  if (manifest === null) return fail2("manifest.json is not a manifest");
  const sums = decodeText(files.get("MANIFEST.sha256")) ?? "";
  const claimed = new Map(sums.split("\n").map((line) => [line.slice(66), line.slice(0, 64)]));
  const paths = [...files.keys()].sort();
  const summed = paths.filter((path) => !isManifestFile(path));
  for (const path of summed) {
    if (claimed.get(path) !== sha256Hex(files.get(path))) return fail2(`${path} is not as MANIFEST.sha256 lists it`);
  }
  if (sums !== summed.map((path) => `${claimed.get(path)}  ${path}
`).join(""))
    return fail2("MANIFEST.sha256 does not list exactly these files");
  const listed = summed.filter((path) => path !== "manifest.json").map((path) => ({ path, sha256: claimed.get(path), size: files.get(path).length }));
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
  const other = pems.find((path) => {
    const text = decodeText(files.get(path));
    const [, kind, id = ""] = /^trust\/(issuer|tsa)-(.+)\.pem$/.exec(path) ?? [];
    if (kind === "issuer") return parseIssuerKeyId(text) !== id;
    return !authorities.some((one) => one?.pem === text && asString(one.spki_sha256)?.startsWith(id) === true);
  });
  return other === void 0 ? pass(`${pems.length} keys`) : fail2(`${other} is not the key that its name says`);
};
var checkSignature = async (crypto2, files, trust) => {
  const manifest = parseManifest(files);
  if (manifest === null) return fail2("manifest.json is not a manifest");
  const note = parseNote(decodeText(files.get("MANIFEST.note")) ?? "");
  if (note === null) return fail2("MANIFEST.note is not a signed note");
  if (note.text !== buildManifestNoteText(manifest.certId, files.get("MANIFEST.sha256"))) {
    return fail2("MANIFEST.note is not about this manifest");
  }
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no issuer's key to check it with");
  const names = [...new Set(note.signatures.map(({ name }) => name))];
  const issuerKeys = trust.issuerKeys.filter((key) => isKeyInUse(key, manifest.createdAt));
  const keys = names.flatMap((name) => issuerKeys.map(({ publicKey }) => createVerifierKey(sha256, name, keyKinds.log, publicKey)));
  const verdict = await verifyNote(crypto2, note, keys);
  return verdict.ok ? pass(`by ${verdict.signatures[0]?.key.name}, ${manifest.createdAt}`) : fail2(verdict.fault);
};

// verifier/verify-pack.ts
var defaultVerificationOptions = {
  trust: null,
  expectedFingerprint: null,
  requiresTimestamp: false,
  witnessMin: 0
};
var maxZipBytes = 20 * 1024 * 1024;
var createAnchorContext = (crypto2, trust, demands) => ({
  crypto: crypto2,
  trust,
  requiresTimestamp: demands.requiresTimestamp || (trust?.authorities.length ?? 0) > 0,
  witnessMin: Math.max(demands.witnessMin, trust?.witnessMin ?? 0)
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
var maxClockSkewMs3 = 5 * minuteMs;
var checkTimeOrder = (issuedAt, withdrawnAt, attestedAt, withdrawalAttestedAt) => {
  const issued = Date.parse(issuedAt);
  const withdrawn = isIsoInstant(withdrawnAt) ? Date.parse(withdrawnAt) : null;
  if (withdrawn !== null && withdrawn < issued) return fail2("it was withdrawn before it was issued");
  if (attestedAt !== null && attestedAt < issued - maxClockSkewMs3) return fail2("a time stamp is older than the certificate");
  if (withdrawn !== null && withdrawalAttestedAt !== null && withdrawalAttestedAt < withdrawn - maxClockSkewMs3) {
    return fail2("a time stamp is older than the withdrawal");
  }
  return pass(withdrawn === null ? `issued ${issuedAt}` : `issued ${issuedAt}, withdrawn ${withdrawnAt}`);
};
var checkAnchors = async (findings, certificate, preimage, fingerprint, exhibits, context) => {
  const at = preimage.timestamp;
  const issuance = exhibits("issued", asObject(certificate.anchor));
  const { time } = await checkAnchor(
    findings,
    "issued",
    buildExpectedStatement("certificate.issued", preimage, fingerprint, at),
    issuance,
    context
  );
  const withdrawal = asObject(certificate.withdrawal);
  const revocation = exhibits("revoked", asObject(withdrawal?.anchor));
  const withdrawnAt = withdrawal?.withdrawn_at;
  let revokedTime = null;
  if (certificate.status !== "revoked") {
    const none = revocation.statement === null ? skipped("it is not withdrawn") : fail2("a withdrawal is shown of a certificate that is active");
    findings.set("revoke.statement", none);
  } else if (!isIsoInstant(withdrawnAt)) {
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
  if (evidence === null) return isRedacted || isIsoInstant(certificate.subject_erased_at) ? null : "the evidence is missing";
  if (isRedacted) return "the evidence is there that the manifest says was left out";
  if (sha256Hex(toCanonicalJson(evidence)) !== certificate.evidence_hash) return "the evidence is not what its hash says";
  return evidence.gpc === asObject(certificate.signals)?.gpc ? null : "certificate and evidence differ in the signal of the browser";
};
var findSubjectFault = (certificate, redacted, files) => {
  const subject = asObject(certificate.subject);
  const committed = asObject(parseCanonical(decodeText(files.get("subject/commitments.json"))));
  if (committed === null) return null;
  const keys = Object.keys(committed).sort();
  if (subject === null || Object.keys(subject).sort().join("\n") !== keys.join("\n"))
    return "the certificate shows other details of the person than were committed to";
  const list = parseCanonical(decodeText(files.get("subject/disclosures.json")));
  const disclosed = new Map((Array.isArray(list) ? list : []).map(asStrings).map((one) => [one?.[1] ?? "", one?.[2] ?? ""]));
  const hidden = keys.filter((key) => !disclosed.has(key)).map((key) => `subject.${key}`);
  if (redacted.filter((name) => name.startsWith("subject.")).join("\n") !== hidden.join("\n"))
    return "the manifest does not say which details of the person were left out";
  const other = [...disclosed].find(([key, value]) => subject[key] !== maskFieldValue(key, value));
  return other === void 0 ? null : `the certificate shows another ${other[0]} than is disclosed`;
};
var findPagesFault = (files, certId) => {
  const other = ["certificate.html", "README.txt"].find((path) => !decodeText(files.get(path))?.includes(certId));
  return other === void 0 ? null : `${other} is about another certificate`;
};
var findContentsFault = (files, manifest, certificate, certId) => manifest?.certId === certId ? findEvidenceFault(certificate, manifest.redacted) ?? findSubjectFault(certificate, manifest.redacted, files) ?? findPagesFault(files, certId) : "the manifest is about another certificate";
var checkRecord = async ({ crypto: crypto2, files, trust, findings, certificate, canonical, preimage }, demands) => {
  const set = (id, finding) => {
    findings.set(id, finding);
  };
  set("fp.canonical", checkCanonical(preimage));
  set("fp.hash", checkFingerprint(canonical, certificate?.fingerprint, demands.expectedFingerprint));
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
      parts.length > 0 ? fail2("audit/entries.jsonl is missing") : incomplete("the audit log holds nothing of it yet")
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
  const logged = { crypto: crypto2, trust, files, entries, createdAt: parseManifest(files)?.createdAt ?? "" };
  findings.set("audit.inclusion", await checkInclusion(logged));
  findings.set("audit.heads", await checkHeads(logged));
  if (certificate === null) return;
  const payloads = parsePayloads(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  const history = { entries, payloads, certificate };
  findings.set("audit.issuance", checkIssuance(history));
  findings.set("audit.status", checkStatus(history));
  findings.set("audit.policies", checkPolicyLinks(history));
};
var listKeyNames = ({ ledgers, auditLogs, witnesses, authorities, issuerKeys, anchorKeys }) => [
  ...[...ledgers, ...auditLogs].map(({ vkey }) => vkey),
  ...witnesses.map(({ name, keyId }) => `${name}+${keyId}`),
  ...authorities.map(({ spkiSha256 }) => spkiSha256),
  ...issuerKeys.map(({ kid }) => kid),
  ...anchorKeys
];
var activeStatusNote = "That it is active is as of the pack: a withdrawal since then, or one that the issuer left out, shows when you ask for the certificate.";
var buildNotes = (files, certificate, given, bundled) => {
  const manifest = parseManifest(files);
  const redacted = manifest?.redacted ?? [];
  const stale = describeStaleHeads(files, manifest?.createdAt ?? "");
  const evidence = redacted.filter((name) => !name.startsWith("subject."));
  const subject = redacted.filter((name) => name.startsWith("subject."));
  const known = given === null ? [] : listKeyNames(given);
  const isOther = given !== null && bundled !== null && listKeyNames(bundled).some((name) => !known.includes(name));
  return [
    ...isOther ? ["The pack's own copy of the trust document names keys that yours does not."] : [],
    ...stale !== null ? [stale] : [],
    ...subject.length > 0 ? [`Not disclosed: ${subject.map((name) => name.slice("subject.".length)).join(", ")}.`] : [],
    ...evidence.length > 0 ? [`Left out on purpose: ${evidence.join(", ")}.`] : [],
    ...certificate?.environment === "sandbox" ? ["A sandbox certificate, for trying out. It proves nothing."] : [],
    ...certificate?.status === "active" ? [activeStatusNote] : [],
    "README.txt, certificate.html and views.json are covered by the issuer's signature alone, and so are the business's details, view counts and addresses in certificate.json."
  ];
};
var verifyPack = async (zip, demands, given = webCrypto) => {
  const crypto2 = memoizeNoteCrypto(given);
  const findings = /* @__PURE__ */ new Map();
  const opened = parseZip(zip, maxZipBytes);
  const structure = opened.ok ? findLayoutFault([...opened.files.keys()]) : opened.fault;
  if (!opened.ok || structure !== null) {
    findings.set("zip.structure", fail2(structure ?? "not_a_zip"));
    return buildReport(findings, { cert_id: null, fingerprint: null, trust: demands.trust === null ? "none" : "given", notes: [] });
  }
  const { files } = opened;
  findings.set("zip.structure", pass(`${files.size} files`));
  const bundled = trustOf(parseCanonical(decodeText(files.get("trust/trust.json"))));
  const isAble = await canVerifyEd25519(crypto2);
  const trust = isAble ? demands.trust ?? bundled : null;
  findings.set("manifest.files", checkFiles(files));
  findings.set("manifest.signature", await checkSignature(crypto2, files, trust));
  findings.set("trust.copies", checkTrustCopies(files));
  const certificate = asObject(parseCanonical(decodeText(files.get("certificate.json"))));
  const canonical = decodeText(files.get("fingerprint/preimage.json"));
  const preimage = parsePreimage(canonical);
  const pack = { crypto: crypto2, files, trust, findings, certificate, canonical, preimage };
  await checkRecord(pack, demands);
  if (certificate !== null && preimage !== null && canonical !== null) {
    const exhibits = (event, published) => loadAnchorEvidence(files, event, published);
    const fingerprint = sha256Hex(canonical);
    const context = createAnchorContext(crypto2, trust, demands);
    await checkAnchors(findings, certificate, preimage, fingerprint, exhibits, context);
    const exhibit = (number) => loadEntityWithdrawalEvidence(files, number);
    await checkEntityWithdrawals(findings, certificate, { preimage, fingerprint }, listEntityWithdrawalNumbers(files), exhibit, context);
  }
  await checkAudit(pack);
  return buildReport(findings, {
    cert_id: preimage?.cert_id ?? asString(certificate?.cert_id),
    fingerprint: canonical === null ? null : sha256Hex(canonical),
    trust: demands.trust !== null ? "given" : bundled !== null ? "bundled" : "none",
    notes: [...isAble ? [] : [ed25519UnsupportedNote], ...buildNotes(files, certificate, demands.trust, bundled)]
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
  const note = asString(anchor.signed_root) ?? "";
  const receipt = {
    v: 1,
    ledger: anchor.ledger,
    kind: asString(anchor.ledger)?.split(":")[0],
    tx_ref: anchor.tx_ref,
    entry_hash: anchor.entry_hash,
    leaf_index: anchor.leaf_index,
    leaf_hash: toBase64(hashLeaf(sha256, encodeUtf8(statement))),
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
  const token = attestations.find((one) => isObject(one) && one.kind === "rfc3161");
  return {
    statement,
    published: anchor,
    receipt: formatPublishedReceipt(anchor, statement),
    entryProof: asString(anchor.tlog_proof) ?? formatPublishedProof(anchor.leaf_index, anchor.inclusion_proof, anchor.signed_root),
    rekorBody: null,
    attestedProof: attested === null ? null : formatPublishedProof(anchor.leaf_index, attested.inclusion_proof, attested.signed_root),
    attestedNote: attested === null ? null : stripCosignatures(asString(attested.signed_root) ?? ""),
    timestampReply: isObject(token) ? fromBase64(asString(token.token) ?? "") : null
  };
};
var verifyPublic = async (view, demands, crypto2 = webCrypto) => {
  const findings = /* @__PURE__ */ new Map();
  const isAble = await canVerifyEd25519(crypto2);
  const trust = isAble ? demands.trust : null;
  const canonical = asString(view.canonical);
  const preimage = parsePreimage(canonical);
  findings.set("fp.canonical", checkCanonical(preimage));
  findings.set("fp.hash", checkFingerprint(canonical, view.fingerprint, demands.expectedFingerprint));
  if (preimage !== null && canonical !== null) {
    findings.set("fp.arrays", checkArrays(preimage));
    findings.set(
      "disclosure.hash",
      checkDisclosure(asString(view.disclosure_text) ?? toCanonicalJson(view.disclosure_text ?? null), preimage)
    );
    findings.set("cert.consistency", await checkCertificate(crypto2, view, preimage, canonical, trust));
    await checkAnchors(
      findings,
      view,
      preimage,
      sha256Hex(canonical),
      (_, published) => anchorEvidenceFromWire(published),
      createAnchorContext(crypto2, trust, demands)
    );
  }
  return buildReport(
    findings,
    {
      cert_id: preimage?.cert_id ?? null,
      fingerprint: canonical === null ? null : sha256Hex(canonical),
      trust: demands.trust === null ? "none" : "given",
      notes: isAble ? [] : [ed25519UnsupportedNote]
    },
    publicCheckIds
  );
};

// verifier/verify-withdrawal.ts
var withdrawalCheckIds = [...receiptCheckIds, ...revocationCheckIds];
var checkDisplayedReceipt = (receipt, said, expected) => {
  if (receipt === null) return fail2("the receipt is not canonical JSON of exactly its members");
  if (toCanonicalJson(said.receipt ?? null) !== asString(said.canonical)) return fail2("what is shown is not what was signed");
  if (expected !== null && receipt.fingerprint !== expected) return fail2("it is about another certificate than was expected");
  const from = receipt.entities === void 0 ? "" : ` from ${receipt.entities.join(", ")}`;
  return pass(`${receipt.cert_id}, withdrawn${from} ${receipt.withdrawn_at}`);
};
var verifyWithdrawal = async (file, demands, crypto2 = webCrypto) => {
  const said = asObject(file.data) ?? file;
  const findings = /* @__PURE__ */ new Map();
  const isAble = await canVerifyEd25519(crypto2);
  const trust = isAble ? demands.trust : null;
  const canonical = asString(said.canonical);
  const receipt = parseSignedReceipt(canonical);
  findings.set("receipt.canonical", checkDisplayedReceipt(receipt, said, demands.expectedFingerprint));
  if (receipt !== null && canonical !== null) {
    findings.set("receipt.signature", await checkReceiptSignature(crypto2, canonical, receipt, said.signature, trust));
    findings.set("receipt.deadline", checkDeadline(receipt));
    const statement = buildReceiptStatement(receipt, canonical);
    await checkAnchor(
      findings,
      "revoked",
      statement,
      anchorEvidenceFromWire(asObject(said.anchor)),
      createAnchorContext(crypto2, trust, demands)
    );
  }
  return buildReport(
    findings,
    {
      cert_id: receipt?.cert_id ?? null,
      fingerprint: receipt?.fingerprint ?? null,
      trust: demands.trust === null ? "none" : "given",
      notes: isAble ? [] : [ed25519UnsupportedNote]
    },
    withdrawalCheckIds
  );
};

// verifier/cli.ts
var usage = `Usage: svc-verify <evidence.zip | withdrawal.json> [options]

  Checks an evidence pack, or the receipt of a withdrawal as the service answered it.

  --trust <trust.json>        the keys you trust (the issuer's /.well-known/svc-trust.json, fetched by yourself)
  --expect-fingerprint <hex>  the fingerprint you were given
  --require tsa,witness=<n>   ask for a time stamp, for n witnesses, or both
  --json                      the report as JSON
  --help                      this text

Exit code: 0 every check passed; 1 a check failed (the first one is named); 2 wrong usage, or a file that cannot be read;
3 nothing is wrong, but something that was asked for is missing, or no trust was given.
`;
var UsageError = class extends Error {
};
var parseRequirement = (text) => {
  let requiresTimestamp = false;
  let witnessMin = 0;
  for (const one of text.split(",")) {
    const [, count] = /^witness=([1-9][0-9]?)$/.exec(one) ?? [];
    if (one === "tsa") requiresTimestamp = true;
    else if (count !== void 0) witnessMin = Number(count);
    else throw new UsageError(`--require takes tsa and witness=<n>, not "${one}"`);
  }
  return { requiresTimestamp, witnessMin };
};
var parseArguments = (given) => {
  const rest = [...given];
  let asked = { pack: "", trust: null, expectedFingerprint: null, requiresTimestamp: false, witnessMin: 0, json: false };
  const valueAfter = (option) => {
    const value = rest.shift();
    if (value === void 0) throw new UsageError(`${option} needs a value`);
    return value;
  };
  for (let one = rest.shift(); one !== void 0; one = rest.shift()) {
    if (one === "--help" || one === "-h") return "help";
    if (one === "--json") asked = { ...asked, json: true };
    else if (one === "--trust") asked = { ...asked, trust: valueAfter(one) };
    else if (one === "--require") asked = { ...asked, ...parseRequirement(valueAfter(one)) };
    else if (one === "--expect-fingerprint") asked = { ...asked, expectedFingerprint: valueAfter(one) };
    else if (one.startsWith("-")) throw new UsageError(`there is no option ${one}`);
    else if (asked.pack !== "") throw new UsageError("give one pack at a time");
    else asked = { ...asked, pack: one };
  }
  if (asked.pack === "") throw new UsageError("which pack?");
  const { expectedFingerprint } = asked;
  if (expectedFingerprint !== null && fromHex(expectedFingerprint)?.length !== 32) {
    throw new UsageError("--expect-fingerprint takes 64 lower-case hex digits");
  }
  return asked;
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
  incomplete: "INCOMPLETE: nothing is wrong, but this is missing:",
  invalid: "INVALID: the first check that failed is"
};
var formatReport = (report) => {
  const lines = report.checks.map(({ id, outcome, detail, asks }) => {
    const said = outcome === "pass" ? [asks, detail].filter((text) => text !== "").join(" ") : detail;
    return `${outcomeLabels[outcome].padEnd(8)}${id.padEnd(25)}${said}`;
  });
  const after = report.verdict === "invalid" ? ` ${report.failed}` : report.missing.map((text) => `
  ${text}`).join("");
  const notes = report.notes.map((note) => `note: ${note}`);
  return [...lines, "", ...notes, `${report.cert_id ?? "no certificate"}  ${verdictMessages[report.verdict]}${after}`, ""].join("\n");
};
var exitCodes = { valid: 0, invalid: 1, incomplete: 3 };
var usageErrorExitCode = 2;
var parseReceiptFile = (bytes) => {
  const parsed = parseIJson(bytes);
  const file = parsed.ok ? asObject(parsed.value) : null;
  const said = asObject(file?.data) ?? file;
  return said !== null && "receipt" in said && "canonical" in said ? said : null;
};
var verifyFile = (bytes, demands) => {
  const receipt = parseReceiptFile(bytes);
  return receipt === null ? verifyPack(bytes, demands) : verifyWithdrawal(receipt, demands);
};
var runCli = async (given) => {
  try {
    const asked = parseArguments(given);
    if (asked === "help") {
      stdout.write(usage);
      return 0;
    }
    const trust = asked.trust === null ? null : await readTrust(asked.trust);
    const demands = { ...defaultVerificationOptions, ...asked, trust };
    const report = await verifyFile(await readBytes(asked.pack), demands);
    stdout.write(asked.json ? `${JSON.stringify(report, null, 2)}
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
