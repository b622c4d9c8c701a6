// Tests changed packs: thousands of single bytes in every kind of file, with every repair that an attacker could try, and other encodings
// of the same content. A check must find each change.
import { afterAll, describe, expect, test } from "vitest";
import type { Json } from "../../../core/canonical-json.ts";
import { concatBytes, encodeUtf8 } from "../../../core/bytes.ts";
import { buildEvidenceZip, buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import { memoizeNoteCrypto } from "../../../core/ledger/note.ts";
import { checkIds, type Report } from "../../../verifier/checks.ts";
import { webCrypto } from "../../../verifier/crypto.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { issuer, stranger, trustDocument, buildWorld } from "./evidence.ts";
import {
  createRandom,
  flipBits,
  relistFiles,
  resignFiles,
  resignWithList,
  setJson,
  setText,
  readText,
  zipFiles,
  type Files,
} from "./repack.ts";

const trust = trustOf(trustDocument);
const { parts } = await buildWorld({ isRevoked: true });
const pack = await buildPackFiles(parts);
const zip = await buildEvidenceZip(parts);
const paths = [...pack.keys()].sort();
const signedByStranger = await resignFiles(pack, stranger);

const crypto = memoizeNoteCrypto(webCrypto); // most signatures are the same in every changed pack, so each is checked only once

const verifyBytes = (bytes: Uint8Array): Promise<Report> => verifyPack(bytes, { ...defaultVerificationOptions, trust }, crypto);

const masks = [0x01, 0x20, 0x80, 0xff]; // the lowest bit, the bit that changes a letter's case, the bit that ASCII never sets, and all bits

/** Multiplies the number of random changes below. `npm run stress -- bytes` sets it to 8. */
const times = Number(process.env.TAMPER_TIMES ?? "1");

/** Yields `perFile * times` single-byte changes for each file of the pack. The same seed always yields the same changes. */
function* generateChanges(perFile: number, seed: number): Generator<{ readonly path: string; readonly files: Files; readonly at: number }> {
  const next = createRandom(seed);
  for (const path of paths) {
    const bytes = pack.get(path)!;
    for (let count = 0; count < perFile * times; count += 1) {
      const at = next(bytes.length);
      yield { path, at, files: new Map(pack).set(path, flipBits(bytes, at, masks[next(masks.length)]!)) };
    }
  }
}

let changed = 0;
let found = 0;
const tallyReport = (report: Report): string => {
  changed += 1;
  if (report.verdict === "invalid" && report.failed !== null && (checkIds as readonly string[]).includes(report.failed)) found += 1;
  return report.failed ?? report.verdict;
};
afterAll(() => console.log(`${changed} single-byte changes, ${changed - found} not found`));

test("the unchanged pack is valid, even after zipping it again", async () => {
  expect((await verifyBytes(zip)).verdict).toBe("valid");
  expect((await verifyBytes(zipFiles(relistFiles(pack)))).verdict).toBe("valid");
  expect((await verifyBytes(zipFiles(await resignFiles(pack, issuer)))).verdict).toBe("valid");
});

describe("a changed byte", () => {
  test("anywhere in the zip fails zip.structure (T1)", async () => {
    const next = createRandom(11);
    const missed: number[] = [];
    for (let count = 0; count < 2_000; count += 1) {
      const at = next(zip.length);
      if (tallyReport(await verifyBytes(flipBits(zip, at, masks[next(masks.length)]!))) !== "zip.structure") missed.push(at);
    }
    expect(missed).toEqual([]);
  });

  test("of a file fails manifest.files after zipping again (T1)", async () => {
    const missed: string[] = [];
    const named = new Set<string>();
    for (const { path, at, files } of generateChanges(3, 12)) {
      const failed = tallyReport(await verifyBytes(zipFiles(files)));
      named.add(failed);
      if (!["manifest.files", "manifest.signature"].includes(failed)) missed.push(`${path} ${at}: ${failed}`);
    }
    expect(missed).toEqual([]);
    expect([...named].sort()).toEqual(["manifest.files", "manifest.signature"]); // manifest.signature fails when MANIFEST.note itself changes
  });

  test("of a file fails the issuer's signature after listing it again (T1)", async () => {
    const missed: string[] = [];
    for (const { path, at, files } of generateChanges(2, 13)) {
      const isList = path === "manifest.json" || path.startsWith("MANIFEST."); // listing the files again would undo the change
      const failed = tallyReport(await verifyBytes(zipFiles(isList ? files : relistFiles(files))));
      const expected = isList ? ["manifest.files", "manifest.signature"] : ["manifest.signature"];
      if (!expected.includes(failed)) missed.push(`${path} ${at}: ${failed}`);
    }
    expect(missed).toEqual([]);
  });

  test("of a file fails after signing again with another key (T1)", async () => {
    const missed: string[] = [];
    for (const { path, at, files } of generateChanges(2, 14)) {
      if (path === "manifest.json" || path.startsWith("MANIFEST.")) continue;
      const failed = tallyReport(await verifyBytes(zipFiles(await resignFiles(files, stranger))));
      if (failed !== "manifest.signature") missed.push(`${path} ${at}: ${failed}`);
    }
    expect(missed).toEqual([]);
  });

  /** Files that the fingerprint covers, or that a third party attested. */
  const isBound = (path: string): boolean =>
    /^(?:fingerprint\/|subject\/|policies\/.*txt$|anchors\/.*(?:statement\.json|proof|checkpoint\.txt)$|audit\/)/.test(path);

  test("of a bound file is found even if the issuer signs again (T1)", async () => {
    const valid: string[] = [];
    const named = new Set<string>();
    for (const { path, at, files } of generateChanges(8, 15)) {
      if (!isBound(path)) continue;
      const report = await verifyBytes(zipFiles(await resignFiles(files, issuer)));
      named.add(report.failed ?? report.verdict);
      if (report.verdict === "valid") valid.push(`${path} ${at}`);
    }
    expect(valid).toEqual([]);
    expect([...named]).toEqual(
      expect.arrayContaining([
        "fp.canonical",
        "fp.hash",
        "disclosure.hash",
        "subject.commitments",
        "subject.disclosures",
        "policies.hash",
        "anchor.statement",
        "anchor.inclusion",
        "attest.inclusion",
        "revoke.statement",
        "revoke.inclusion",
        "revoke.attest.inclusion",
        "audit.chain",
        "audit.inclusion",
        "audit.heads",
      ]),
    );
  });

  test("of a receipt is found even if the issuer signs again, except in its two clock times (T1)", async () => {
    const bytes = pack.get("anchors/issued/receipt.json")!;
    const text = readText(pack, "anchors/issued/receipt.json");
    const ownTimes = [...text.matchAll(/"(?:submitted_at|verified_at)":"/g)].map(({ index, 0: name }) => index + name.length);
    const isOwnTime = (at: number): boolean => ownTimes.some((start) => at >= start && at < start + 24);
    const missed: number[] = [];
    for (let at = 0; at < bytes.length; at += 11) {
      const files = await resignFiles(new Map(pack).set("anchors/issued/receipt.json", flipBits(bytes, at, 0x01)), issuer);
      if ((await verifyBytes(zipFiles(files))).verdict === "valid" && !isOwnTime(at)) missed.push(at);
    }
    expect(missed).toEqual([]);
  });
});

/** Applies a change and signs the pack as the issuer. Returns the check that fails, or the verdict if none fails. */
const findFailureAfter = async (change: (files: Files) => void): Promise<string> => {
  const files = new Map(pack);
  change(files);
  const report = await verifyBytes(zipFiles(await resignFiles(files, issuer)));
  return report.failed ?? report.verdict;
};

describe("another encoding of the same content", () => {
  const reformatJson = (path: string) => (files: Files) => setText(files, path, JSON.stringify(JSON.parse(readText(files, path)), null, 1));
  const addByteOrderMark = (path: string) => (files: Files) =>
    files.set(path, concatBytes(Uint8Array.of(0xef, 0xbb, 0xbf), files.get(path)!));
  const replaceText = (path: string, from: string | RegExp, replacement: string) => (files: Files) => {
    const text = readText(files, path);
    expect(text.replace(from, replacement)).not.toBe(text);
    setText(files, path, text.replace(from, replacement));
  };
  const duplicateMember = (path: string) => (files: Files) => {
    const text = readText(files, path);
    const [, member = ""] = /^\{("[^"]+":"[^"]*")/.exec(text) ?? [];
    setText(files, path, text.replace(member, `${member},${member}`));
  };

  test.each<[string, string, (files: Files) => unknown]>([
    ["a record with spaces", "fp.canonical", reformatJson("fingerprint/preimage.json")],
    ["a record with a byte order mark", "fp.canonical", addByteOrderMark("fingerprint/preimage.json")],
    ["a record with a key twice", "fp.canonical", replaceText("fingerprint/preimage.json", '"cert_id":', '"cert_id":"x","cert_id":')],
    ["a record with a line break at the end", "fp.canonical", replaceText("fingerprint/preimage.json", /$/, "\n")],
    ["a record with an escape", "fp.canonical", replaceText("fingerprint/preimage.json", "Acme", "\\u0041cme")],
    ["a record with an additional member", "fp.canonical", replaceText("fingerprint/preimage.json", '"timestamp"', '"t":"","timestamp"')],
    ["a certificate with spaces", "fp.hash", reformatJson("certificate.json")],
    ["a certificate with a byte order mark", "fp.hash", addByteOrderMark("certificate.json")],
    ["commitments in upper case", "subject.commitments", replaceText("subject/commitments.json", /[0-9a-f]{64}/, "A".repeat(64))],
    ["commitments with a key twice", "subject.commitments", duplicateMember("subject/commitments.json")],
    [
      "a salt with a spare bit set",
      "subject.disclosures",
      replaceText("subject/disclosures.json", "M0wf8M-0jao61I8anqJ2AA", "M0wf8M-0jao61I8anqJ2AB"),
    ],
    [
      "a salt with padding",
      "subject.disclosures",
      replaceText("subject/disclosures.json", "M0wf8M-0jao61I8anqJ2AA", "M0wf8M-0jao61I8anqJ2AA=="),
    ],
    ["a statement with spaces", "anchor.statement", reformatJson("anchors/issued/statement.json")],
    ["a receipt with spaces", "anchor.entry_hash", reformatJson("anchors/issued/receipt.json")],
    [
      "a receipt with a hash in upper case",
      "anchor.entry_hash",
      replaceText("anchors/issued/receipt.json", /"entry_hash":"[^"]+"/, `"entry_hash":"${"A".repeat(64)}"`),
    ],
    ["a receipt with a key twice", "anchor.entry_hash", duplicateMember("anchors/issued/receipt.json")],
    ["a receipt with a proof in other base64", "anchor.note", replaceText("anchors/issued/receipt.json", /=","/, '","')],
    ["a proof with CRLF", "anchor.inclusion", replaceText("anchors/issued/entry.tlog-proof", /\n/g, "\r\n")],
    ["an attested proof with CRLF", "attest.inclusion", replaceText("anchors/issued/attested.tlog-proof", /\n/g, "\r\n")],
    ["an attested checkpoint with CRLF", "attest.inclusion", replaceText("anchors/issued/checkpoint.txt", /\n/g, "\r\n")],
    ["an index with a leading zero", "attest.inclusion", replaceText("anchors/issued/attested.tlog-proof", "index 17", "index 017")],
    ["an audit entry with spaces", "audit.chain", replaceText("audit/entries.jsonl", '{"at":', '{ "at":')],
    ["audit entries with CRLF", "audit.chain", replaceText("audit/entries.jsonl", /\n/g, "\r\n")],
    ["audit entries without their last line break", "audit.chain", replaceText("audit/entries.jsonl", /\n$/, "")],
    ["audit entries with an empty line", "audit.chain", replaceText("audit/entries.jsonl", "\n", "\n\n")],
    ["a record of heads with spaces", "audit.heads", reformatJson("audit/heads-record.json")],
  ])("%s is refused (T3)", async (_, check, change) => {
    expect(await findFailureAfter(change)).toBe(check);
  });

  test.each<[string, (files: Files) => unknown, string]>([
    ["sums in upper case", replaceText("MANIFEST.sha256", /^[0-9a-f]{64}/, "A".repeat(64)), "manifest.files"],
    ["sums with CRLF", replaceText("MANIFEST.sha256", /\n/g, "\r\n"), "manifest.files"],
    ["sums with the marker of binary files", replaceText("MANIFEST.sha256", "  ", " *"), "manifest.files"],
    ["sums with a line twice", replaceText("MANIFEST.sha256", /^(.*\n)/, "$1$1"), "manifest.files"],
    ["a manifest with spaces", reformatJson("manifest.json"), "manifest.files"],
    ["a note with CRLF", replaceText("MANIFEST.note", /\n/g, "\r\n"), "manifest.signature"],
    ["a note with other base64", replaceText("MANIFEST.note", /=+\n$/, "\n"), "manifest.signature"],
  ])("a manifest of %s is refused (T3)", async (_, change, check) => {
    const files = new Map(pack);
    change(files);
    expect((await verifyBytes(zipFiles(files))).failed).toBe(check);
  });
});

describe("an additional file", () => {
  test.each([
    "extra.txt",
    "anchors/issued/extra.json",
    "anchors/other/statement.json",
    "audit/0.tlog-proof",
    "policies/privacy-x.txt",
    "certificate.JSON",
    "trust/key.pem",
  ])("%s does not belong in a pack (T3)", async (path) => {
    const files = new Map(pack).set(path, encodeUtf8("x"));
    const report = await verifyBytes(zipFiles(await resignFiles(files, issuer)));
    expect(report).toMatchObject({ verdict: "invalid", failed: "zip.structure" });
    expect(report.checks[0]?.detail).toContain(path);
  });

  test.each([
    ["policies/privacy-".concat("0".repeat(64), ".txt"), "policies.hash"],
    ["audit/4.tlog-proof", "audit.inclusion"],
    ["anchors/issued/rekor.json", "anchor.rekor_body"],
  ])("%s of an allowed kind fails its check", async (path, check) => {
    expect(await findFailureAfter((files) => files.set(path, encodeUtf8("x")))).toBe(check);
  });
});

describe("a missing file", () => {
  test("is named in the report", async () => {
    const silent: string[] = [];
    for (const path of paths.filter((one) => !one.startsWith("MANIFEST.") && one !== "manifest.json")) {
      const files = new Map(pack);
      files.delete(path);
      expect((await verifyBytes(zipFiles(files))).failed).toMatch(/^(?:zip\.structure|manifest\.files)$/);
      // Even the issuer cannot leave out a file that other files require. Copies of public keys may be missing, because they are only there
      // for convenience.
      const report = await verifyBytes(zipFiles(await resignFiles(files, issuer)));
      if (report.verdict === "valid") silent.push(path.replace(/-[A-Za-z0-9_-]{16,}/, ""));
    }
    expect(silent).toEqual(["trust/issuer.pem", "trust/tsa.pem"]);
  });
});

describe("signature lines", () => {
  const withLine = (path: string, line: string) => (files: Files) => setText(files, path, readText(files, path) + line);

  test("by unknown keys are ignored (T4)", async () => {
    const unknown = readText(signedByStranger, "MANIFEST.note").split("\n\n")[1]!;
    const files = new Map(pack);
    withLine("MANIFEST.note", unknown)(files);
    expect((await verifyBytes(zipFiles(files))).verdict).toBe("valid");
    expect(await findFailureAfter(withLine("anchors/issued/attested.tlog-proof", unknown))).toBe("valid");
  });

  test("by a known key that are invalid fail the whole note, even next to valid ones (T4)", async () => {
    const files = new Map(pack);
    const good = readText(pack, "MANIFEST.note").split("\n\n")[1]!;
    const [, name = "", encoded = ""] = /^— (\S+) (\S+)/.exec(good) ?? [];
    const bytes = flipBits(Uint8Array.from(Buffer.from(encoded, "base64")), 40, 1);
    withLine("MANIFEST.note", `— ${name} ${Buffer.from(bytes).toString("base64")}\n`)(files);
    expect(await verifyBytes(zipFiles(files))).toMatchObject({ verdict: "invalid", failed: "manifest.signature" });
  });

  test("of another pack are refused", async () => {
    const other = await buildPackFiles((await buildWorld({ redacted: true })).parts);
    const files = new Map(pack).set("MANIFEST.note", other.get("MANIFEST.note")!);
    expect((await verifyBytes(zipFiles(files))).failed).toBe("manifest.signature");
  });
});

describe("a file that is not a pack", () => {
  test.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array(0)],
    ["text", encodeUtf8("hello")],
    ["a zip of something else", zipFiles(new Map([["a.txt", encodeUtf8("x")]]))],
    ["zeros", new Uint8Array(1_000)],
  ])("%s fails zip.structure", async (_, bytes) => {
    expect(await verifyBytes(bytes)).toMatchObject({ verdict: "invalid", failed: "zip.structure" });
  });

  test("is refused without a crash when its JSON is nested too deeply", async () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    for (const path of ["certificate.json", "audit/payloads.json", "subject/disclosures.json", "trust/trust.json"]) {
      const files = new Map(pack);
      setText(files, path, deep);
      const report = await verifyBytes(zipFiles(await resignFiles(files, issuer)));
      expect(report.verdict).toBe(path === "trust/trust.json" ? "valid" : "invalid");
    }
    const files = new Map(pack);
    setText(files, "manifest.json", deep);
    expect((await verifyBytes(zipFiles(files))).failed).toBe("manifest.files");
  });

  test("is refused when a signed manifest lists other files", async () => {
    const { files: list } = JSON.parse(readText(pack, "manifest.json"));
    const [first, ...rest] = list;
    const getFailure = async (other: Json) => (await verifyBytes(zipFiles(await resignWithList(pack, other, issuer)))).failed;
    expect(await getFailure(list)).toBeNull();
    expect(await getFailure([{ ...first, size: first.size + 1 }, ...rest])).toBe("manifest.files");
    expect(await getFailure(rest)).toBe("manifest.files");
    expect(await getFailure([...rest, first])).toBe("manifest.files");
    expect(await getFailure(null)).toBe("manifest.files");
  });

  test("is refused when a signed manifest is about another certificate", async () => {
    const files = new Map(pack);
    setJson(files, "manifest.json", { ...JSON.parse(readText(pack, "manifest.json")), cert_id: "cc_other" });
    expect((await verifyBytes(zipFiles(await resignFiles(files, issuer)))).failed).toBe("cert.consistency");
  });
});
