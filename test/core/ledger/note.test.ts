// Tests signed notes, checkpoints and proofs: they match the vectors byte for byte, and every other encoding is refused.
import { describe, expect, test } from "vitest";
import { toBase64, fromHex, concatBytes, toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256 } from "../../../core/hash.ts";
import { hashNode } from "../../../core/ledger/merkle.ts";
import { formatCheckpoint, isTlogOrigin, parseCheckpoint, parseCheckpointText, verifyCheckpoint } from "../../../core/ledger/checkpoint.ts";
import {
  createCosignatureLine,
  isKeyName,
  keyKinds,
  parseNote,
  parseSkey,
  parseVkey,
  signNote,
  formatSkey,
  memoizeNoteCrypto,
  verifyNote,
  formatVkey,
  type VerifierKey,
} from "../../../core/ledger/note.ts";
import { parseTlogProof, formatTlogProof, verifyTlogProof } from "../../../core/ledger/tlog-proof.ts";
import { noteCrypto, openNoteSigner } from "../../../storage/note-keys.ts";
import { generateFlippedTexts } from "../../support/flipped-texts.ts";
import { createSecret } from "../../support/note-keys.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

const { log, entries } = vectors.audit;
const origin = "svc.example/audit/0";
const logKey = parseVkey(log.vkey) as VerifierKey;
const witnessKey = parseVkey(log.witness_vkey) as VerifierKey;
const logSigner = await openNoteSigner(await createSecret(origin, 7));
const witnessSigner = await openNoteSigner(await createSecret("witness.example/w1", 9, keyKinds.witness));
const trust = { origin, keys: [logKey] };
const cosigned = log.cosigned_checkpoint;
const getEntryHash = (at: number): Uint8Array => fromHex(entries[at]?.hash ?? "") as Uint8Array;
const roots = new Uint8Array(32).fill(5);

/** Returns the text with its only signature line replaced. */
const withLine = (line: string): string => log.checkpoint.replace(/\u2014.*\n$/, line);
const goodLine = /\u2014.*\n$/.exec(log.checkpoint)?.[0] ?? "";

describe("keys", () => {
  test("from the vectors round-trip and match their seeds", () => {
    expect(formatVkey(logKey)).toBe(log.vkey);
    expect(formatVkey(witnessKey)).toBe(log.witness_vkey);
    expect(formatVkey(logSigner.key)).toBe(log.vkey);
    expect(formatVkey(witnessSigner.key)).toBe(log.witness_vkey);
  });

  test("have secrets in the format of Go's sumdb/note", async () => {
    const secret = await createSecret(origin, 7);
    expect(secret).toBe(`PRIVATE+KEY+${origin}+b174e7f3+${toBase64(concatBytes(new Uint8Array([1]), new Uint8Array(32).fill(7)))}`);
    const parsed = parseSkey(secret);
    expect(parsed && formatSkey(parsed)).toBe(secret);
    expect(parsed && toHex(parsed.seed)).toBe(log.seed_hex);
  });

  test("are refused when the key ID does not match the bytes", async () => {
    expect(parseVkey(log.vkey.replace("b174e7f3", "b174e7f4"))).toBeNull();
    const secret = (await createSecret(origin, 7)).replace("b174e7f3", "b174e7f4");
    await expect(openNoteSigner(secret)).rejects.toThrow("the key id is not that of the key");
    await expect(openNoteSigner("PRIVATE+KEY+x")).rejects.toThrow("not a note-format secret");
  });

  test("are refused when any character changes", () => {
    let misses = 0;
    for (const changed of generateFlippedTexts(log.vkey)) if (changed !== null && parseVkey(changed) !== null) misses += 1;
    expect(misses).toBe(0);
  });

  test.each(["", "a b", "a+b", "a\u00a0b", "a\u2003b", "a\nb", "\ud800"])("cannot have the name %j", (name) => {
    expect(isKeyName(name)).toBe(false);
  });

  test("have different IDs per kind for the same bytes", () => {
    expect(parseVkey(log.vkey.replace("+AepK", "+BOpK"))).toBeNull();
    expect(parseVkey(log.vkey.replace("+AepK", "+AupK"))).toBeNull(); // kind 2 is ECDSA, which is not accepted
  });
});

describe("memoizeNoteCrypto", () => {
  test("computes each node and signature check once, and again for another text, key or signature", async () => {
    const requested: string[] = [];
    let hashed = 0;
    const once = memoizeNoteCrypto({
      hashNode: (left, right) => {
        hashed += 1;
        return hashNode(left, right);
      },
      verifyEd25519: async (key, message, signature) => {
        requested.push([...key, ...message, ...signature].join());
        return signature[0] === 1;
      },
    });
    const [key, text, good, bad] = [new Uint8Array([7]), encodeUtf8("text"), new Uint8Array([1]), new Uint8Array([0])];
    for (let round = 0; round < 3; round += 1) {
      expect(await once.verifyEd25519(key, text, good)).toBe(true);
      expect(await once.verifyEd25519(key, text, bad)).toBe(false);
      expect(await once.verifyEd25519(key, encodeUtf8("other"), good)).toBe(true);
      expect(await once.verifyEd25519(new Uint8Array([8]), text, good)).toBe(true);
    }
    expect(requested).toHaveLength(4);
    const [left, right] = [sha256("left"), sha256("right")];
    for (let round = 0; round < 3; round += 1) {
      for (const [a, b] of [[left, right] as const, [right, left] as const, [left, left] as const])
        expect(toHex(once.hashNode(a, b))).toBe(toHex(hashNode(a, b)));
    }
    expect(hashed).toBe(3);
  });
});

describe("a signed checkpoint", () => {
  test("has the bytes of the vector when signed", async () => {
    const parsed = parseCheckpoint(log.checkpoint);
    expect(parsed).toMatchObject({ origin, size: 3n });
    expect(parsed && (await signNote(formatCheckpoint(parsed), [logSigner]))).toBe(log.checkpoint);
  });

  test("has the bytes of the vector when cosigned", async () => {
    const text = log.checkpoint.slice(0, log.checkpoint.indexOf("\n\n") + 1);
    const line = await createCosignatureLine(text, witnessSigner, 1_772_600_000n);
    const verdict = await verifyCheckpoint(noteCrypto, cosigned, { ...trust, witnesses: [witnessKey] });
    expect(verdict.ok && verdict.cosignatures.map(({ time }) => time)).toEqual([1_772_600_000n]);
    expect(log.checkpoint + line).toBe(cosigned);
  });

  test("verifies with the key of its log, with and without that of the witness", async () => {
    expect(await verifyCheckpoint(noteCrypto, log.checkpoint, trust)).toMatchObject({ ok: true, checkpoint: { size: 3n } });
    expect(await verifyCheckpoint(noteCrypto, cosigned, trust)).toMatchObject({ ok: true, cosignatures: [] });
  });

  test("is refused without the signature of the log, even with witness signatures", async () => {
    const witnessed = cosigned.replace(goodLine, "");
    expect(await verifyCheckpoint(noteCrypto, witnessed, { ...trust, witnesses: [witnessKey] })).toEqual({
      ok: false,
      fault: "no_known_signature",
    });
  });

  test("ignores signature lines by unknown keys (T4)", async () => {
    const stranger = await openNoteSigner(await createSecret("stranger.example/x", 3));
    const sameName = await openNoteSigner(await createSecret(origin, 4));
    for (const other of [stranger, sameName]) {
      const line = (await signNote("other text\n", [other])).split("\n\n")[1] ?? "";
      expect(await verifyCheckpoint(noteCrypto, log.checkpoint + line, trust)).toMatchObject({ ok: true });
      expect(await verifyCheckpoint(noteCrypto, withLine(line), trust)).toEqual({ ok: false, fault: "no_known_signature" });
    }
  });

  test("is refused when a line by a known key is invalid, even next to valid ones (T4)", async () => {
    const badLine = (await signNote("other text\n", [logSigner])).split("\n\n")[1] ?? "";
    for (const note of [withLine(badLine), log.checkpoint + badLine, withLine(badLine) + goodLine]) {
      expect(await verifyCheckpoint(noteCrypto, note, trust)).toEqual({ ok: false, fault: "bad_signature" });
    }
    const badWitness = await createCosignatureLine("other text\n", witnessSigner, 1n);
    const both = { ...trust, witnesses: [witnessKey] };
    expect(await verifyCheckpoint(noteCrypto, log.checkpoint + badWitness, both)).toEqual({ ok: false, fault: "bad_signature" });
    expect(await verifyCheckpoint(noteCrypto, log.checkpoint + badWitness, trust)).toMatchObject({ ok: true });
  });

  test("is refused for a different origin under the same key", async () => {
    const text = formatCheckpoint({ origin: "svc.example/audit/1", size: 3n, root: roots });
    const note = await signNote(text, [logSigner]);
    expect(await verifyCheckpoint(noteCrypto, note, trust)).toEqual({ ok: false, fault: "origin_mismatch" });
  });

  test("is refused when any character changes", async () => {
    let tried = 0;
    let misses = 0;
    for (const changed of generateFlippedTexts(log.checkpoint)) {
      tried += 1;
      if (changed !== null && (await verifyCheckpoint(noteCrypto, changed, trust)).ok) misses += 1;
    }
    expect(misses).toBe(0);
    expect(tried).toBe(encodeUtf8(log.checkpoint).length * 3);
  });

  test("is refused or loses its cosignature when any character of the cosignature changes", async () => {
    for (const changed of generateFlippedTexts(cosigned)) {
      if (changed === null) continue;
      const verdict = await verifyCheckpoint(noteCrypto, changed, { ...trust, witnesses: [witnessKey] });
      expect(verdict.ok && verdict.cosignatures.length > 0).toBe(false);
    }
  });

  test.each([
    ["with CRLF line ends", log.checkpoint.replaceAll("\n", "\r\n")],
    ["with a byte order mark", `\ufeff${log.checkpoint}`],
    ["without the last line break", log.checkpoint.slice(0, -1)],
    ["with an extra line break", `${log.checkpoint}\n`],
    ["with a hyphen for the dash", log.checkpoint.replace("\u2014", "-")],
    ["with an en dash", log.checkpoint.replace("\u2014", "\u2013")],
    ["with two spaces", log.checkpoint.replace("\u2014 ", "\u2014  ")],
    ["with a tab", log.checkpoint.replace("\u2014 ", "\u2014\t")],
    ["with unpadded base64", withLine(goodLine.replace("WQA=", "WQA"))],
    ["with spare bits in its base64", withLine(goodLine.replace("WQA=", "WQB="))],
    ["with base64url", withLine(goodLine.replace("/", "_"))],
    ["without signatures", log.checkpoint.replace(goodLine, "")],
    ["with a signature of only a key id", withLine(`\u2014 ${origin} sXTn8w==\n`)],
    ["with lone surrogates", log.checkpoint.replace("svc", "\ud800")],
  ])("%s is refused", async (_, note) => {
    expect((await verifyCheckpoint(noteCrypto, note, trust)).ok).toBe(false);
  });

  test("may end its text with empty lines, because only the last one separates the signatures", async () => {
    const note = await signNote("some\n\n\ntext\n\n", [logSigner]);
    const parsed = parseNote(note);
    expect(parsed?.text).toBe("some\n\n\ntext\n\n");
    expect(parsed && (await verifyNote(noteCrypto, parsed, [logKey])).ok).toBe(true);
  });

  test("is refused when a line has a key ID but no signature", () => {
    expect(parseNote(`${log.checkpoint}\u2014 other.example/x AAAAAAA=\n`)).not.toBeNull();
    expect(parseNote(`${log.checkpoint}\u2014 other.example/x AAAAAA==\n`)).toBeNull();
  });

  test.each(["\t", "\r", "\u0000", "\u001f"])(
    "contains no control character such as %j, even if the text is signed correctly",
    async (control) => {
      expect(parseNote(await signNote(`some${control}text\n`, [logSigner]))).toBeNull();
    },
  );

  test("accepts at most 100 signatures", () => {
    expect(parseNote(log.checkpoint + goodLine.repeat(99))?.signatures).toHaveLength(100);
    expect(parseNote(log.checkpoint + goodLine.repeat(100))).toBeNull();
  });

  test.each([
    ["four lines", `${origin}\n3\n${toBase64(roots)}\nextension\n`],
    ["two lines", `${origin}\n3\n`],
    ["a leading zero", `${origin}\n03\n${toBase64(roots)}\n`],
    ["a size of 2^63", `${origin}\n9223372036854775808\n${toBase64(roots)}\n`],
    ["a short root", `${origin}\n3\n${toBase64(roots.subarray(1))}\n`],
    ["a hex root", `${origin}\n3\n${toHex(roots)}\n`],
    ["no origin", `\n3\n${toBase64(roots)}\n`],
  ])("must have exactly three lines, not %s", (_, text) => {
    expect(parseCheckpointText(text)).toBeNull();
  });

  test.each(["ledger.example", "ledger.example/", "/ledger", "a b/c", "a+b/c", "", "a//b"])("is refused for the origin %j", (name) => {
    expect(isTlogOrigin(name)).toBe(false);
    expect(() => formatCheckpoint({ origin: name, size: 0n, root: roots })).toThrow(TypeError);
  });

  test("is not accepted with a key of the other kind", async () => {
    await expect(signNote("text\n", [witnessSigner])).rejects.toThrow(TypeError);
    await expect(createCosignatureLine("text\n", logSigner, 1n)).rejects.toThrow(TypeError);
  });
});

describe("a tlog-proof", () => {
  const text = log.tlog_proof_index_1;

  test("equals the vector byte for byte", () => {
    const parsed = parseTlogProof(text);
    expect(parsed?.index).toBe(1n);
    expect(parsed && formatTlogProof(parsed)).toBe(text);
  });

  test("verifies for its entry only", async () => {
    expect(await verifyTlogProof(noteCrypto, text, getEntryHash(1), trust)).toMatchObject({ ok: true, index: 1n });
    expect(await verifyTlogProof(noteCrypto, text, getEntryHash(0), trust)).toEqual({ ok: false, fault: "root_mismatch" });
    const movedText = text.replace("index 1\n", "index 3\n");
    expect(await verifyTlogProof(noteCrypto, movedText, getEntryHash(1), trust)).toEqual({ ok: false, fault: "index_outside_tree" });
    const short = text.replace(/\n[^\n]+\n\n/, "\n\n");
    expect(await verifyTlogProof(noteCrypto, short, getEntryHash(1), trust)).toEqual({ ok: false, fault: "proof_length" });
  });

  test("may contain extra data", async () => {
    const parsed = parseTlogProof(text);
    const extra = parsed && formatTlogProof({ ...parsed, extra: encodeUtf8("context") });
    expect(extra?.split("\n")[1]).toBe(`extra ${toBase64(encodeUtf8("context"))}`);
    expect(extra && (await verifyTlogProof(noteCrypto, extra, getEntryHash(1), trust)).ok).toBe(true);
    expect(parseTlogProof((extra ?? "").replace(/extra .*\n/, "extra \n"))).toBeNull();
    expect(parseTlogProof((extra ?? "").replace(/extra .*\n/, "extra Y29udGV4dB==\n"))).toBeNull();
  });

  test("is refused when any character changes", async () => {
    let tried = 0;
    let misses = 0;
    for (const changed of generateFlippedTexts(text)) {
      tried += 1;
      if (changed !== null && (await verifyTlogProof(noteCrypto, changed, getEntryHash(1), trust)).ok) misses += 1;
    }
    expect(misses).toBe(0);
    expect(tried).toBe(encodeUtf8(text).length * 3);
  });

  test.each([
    ["another header", text.replace("@v1", "@v2")],
    ["CRLF", text.replaceAll("\n", "\r\n")],
    ["a leading zero", text.replace("index 1", "index 01")],
    ["a plus sign", text.replace("index 1", "index +1")],
    ["the index missing", text.replace("index 1\n", "")],
    ["hex hashes", text.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${"ab".repeat(32)}\n`)],
    ["an extra empty line", text.replace("\n\n", "\n\n\n")],
    ["an unsigned checkpoint", text.replace(/\u2014.*\n/, "")],
  ])("with %s is refused", (_, changed) => {
    expect(changed).not.toBe(text);
    expect(parseTlogProof(changed)).toBeNull();
  });
});
