// Tests the evidence pack: which files it contains, that each file is exactly what was hashed or signed, and what redaction leaves out.
import { execFileSync } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { buildEvidenceZip, buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import { parseZip } from "../../../core/certificates/evidence-zip.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { parseNote, parseVkey, verifyNote, type VerifierKey } from "../../../core/ledger/note.ts";
import { noteCrypto } from "../../../storage/note-keys.ts";
import { issuer, trustDocument, buildWorld, type EvidenceOptions } from "../verifier/evidence.ts";
import { readJson, readText } from "../verifier/repack.ts";

const buildFiles = async (options: EvidenceOptions = {}) => buildPackFiles((await buildWorld(options)).parts);

const everything = [
  "MANIFEST.note",
  "MANIFEST.sha256",
  "README.txt",
  "anchors/issued/attested.tlog-proof",
  "anchors/issued/checkpoint.tsr",
  "anchors/issued/checkpoint.txt",
  "anchors/issued/entry.tlog-proof",
  "anchors/issued/receipt.json",
  "anchors/issued/statement.json",
  "anchors/revoked/attested.tlog-proof",
  "anchors/revoked/checkpoint.tsr",
  "anchors/revoked/checkpoint.txt",
  "anchors/revoked/entry.tlog-proof",
  "anchors/revoked/receipt.json",
  "anchors/revoked/statement.json",
  "audit/2.tlog-proof",
  "audit/3.tlog-proof",
  "audit/5.tlog-proof",
  "audit/6.tlog-proof",
  "audit/entries.jsonl",
  "audit/heads-record.json",
  "audit/heads-record.tlog-proof",
  "audit/heads.json",
  "audit/payloads.json",
  "certificate.html",
  "certificate.json",
  "fingerprint/disclosure.txt",
  "fingerprint/preimage.json",
  "manifest.json",
  "policies/index.json",
  "policies/privacy-*.txt",
  "policies/terms-*.txt",
  "subject/commitments.json",
  "subject/disclosures.json",
  "trust/issuer-*.pem",
  "trust/trust.json",
  "trust/tsa-*.pem",
  "views.json",
];

/** Returns the file names without the hashes in them. */
const shortenPaths = (files: ReadonlyMap<string, Uint8Array>): string[] =>
  [...files.keys()].map((path) => path.replace(/(privacy|terms|issuer|tsa)-[A-Za-z0-9_-]{16,}/, "$1-*")).sort();

const inFolder = (files: ReadonlyMap<string, Uint8Array>, work: (folder: string) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), "svc-pack-"));
  try {
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

describe("the pack of a withdrawn and fully attested certificate", () => {
  test("contains exactly the files of the layout", async () => {
    expect(shortenPaths(await buildFiles({ isRevoked: true }))).toEqual(everything);
  });

  test("is unchanged after packing and unpacking the zip", async () => {
    const { parts } = await buildWorld({ isRevoked: true });
    const read = parseZip(await buildEvidenceZip(parts), 1_000_000);
    expect(read.ok && new Map(read.files)).toEqual(new Map([...(await buildPackFiles(parts))].sort()));
  });
});

describe("each file", () => {
  test("has the hash stated by the file that refers to it", async () => {
    const { parts, fingerprint } = await buildWorld();
    const files = await buildPackFiles(parts);
    const hashOf = (path: string): string => sha256Hex(files.get(path)!);
    const preimage = readJson(files, "fingerprint/preimage.json");
    expect(hashOf("fingerprint/preimage.json")).toBe(fingerprint);
    expect(hashOf("fingerprint/disclosure.txt")).toBe(preimage.disclosure_hash);
    expect(hashOf("subject/commitments.json")).toBe(preimage.subject_hash);
    expect(hashOf("anchors/issued/statement.json")).toBe(readJson(files, "anchors/issued/receipt.json").entry_hash);
    for (const path of files.keys()) if (/^policies\/.*txt$/.test(path)) expect(path).toContain(hashOf(path));
  });

  test("is listed for sha256sum, which passes and then fails when a file changes", async () => {
    inFolder(await buildFiles({ isRevoked: true }), (folder) => {
      const check = (): string =>
        execFileSync("sha256sum", ["-c", "--strict", "MANIFEST.sha256"], {
          cwd: folder,
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
      expect(check().trim().split("\n")).toHaveLength(everything.length - 2);
      writeFileSync(join(folder, "fingerprint/disclosure.txt"), "something else");
      expect(check).toThrow();
    });
  });

  test("is in the manifest with size and hash, except the manifest itself", async () => {
    const files = await buildFiles();
    const manifest = readJson(files, "manifest.json");
    expect(manifest).toMatchObject({ schema: "svc-evidence-pack-v1", created_at: "2026-11-20T12:00:00.000Z", redacted: [] });
    const listed = [...files].filter(([path]) => path !== "manifest.json" && !path.startsWith("MANIFEST"));
    expect(manifest.files).toEqual(listed.sort().map(([path, bytes]) => ({ path, sha256: sha256Hex(bytes), size: bytes.length })));
  });
});

describe("the issuer", () => {
  test("signs the manifest as a note that verifies with the key in the README", async () => {
    const files = await buildFiles();
    const note = parseNote(readText(files, "MANIFEST.note"))!;
    expect(note.text).toBe(`svc-evidence-pack-v1\ncc_009w4k2m7q1x8z3v5t6r0nabcd\n${sha256Hex(files.get("MANIFEST.sha256")!)}\n`);
    const [vkey = ""] = /svc\.example\/issuer\+[0-9a-f]{8}\+\S+/.exec(readText(files, "README.txt")) ?? [];
    expect(await verifyNote(noteCrypto, note, [parseVkey(vkey) as VerifierKey])).toMatchObject({ ok: true });
  });

  test("has a PEM public key in the pack that verifies the signature of the record", async () => {
    const files = await buildFiles();
    const pem = createPublicKey(readText(files, `trust/issuer-${issuer.kid}.pem`));
    const { signature } = readJson(files, "certificate.json");
    expect(verify(null, files.get("fingerprint/preimage.json")!, pem, Buffer.from(signature.value, "base64"))).toBe(true);
  });
});

describe("equal certificates", () => {
  test("give equal bytes except for the time in the manifest", async () => {
    const original = await buildEvidenceZip((await buildWorld({ isRevoked: true })).parts);
    const repeated = await buildEvidenceZip((await buildWorld({ isRevoked: true })).parts);
    expect(toHex(repeated)).toBe(toHex(original));
    const first = await buildFiles();
    const laterFiles = await buildFiles({ createdAt: Date.parse("2027-01-01T00:00:00.000Z") });
    const changed = [...first.keys()].filter((path) => toHex(first.get(path)!) !== toHex(laterFiles.get(path)!));
    expect(changed.sort()).toEqual(["MANIFEST.note", "MANIFEST.sha256", "manifest.json"]);
  });
});

describe("a pack with missing parts", () => {
  test("omits the receipt until the ledger confirms, and the attestation until there is one", async () => {
    const listAnchorFiles = async (options: EvidenceOptions) =>
      [...(await buildFiles(options)).keys()].filter((path) => path.startsWith("anchors/")).sort();
    expect(await listAnchorFiles({ anchors: "none" })).toEqual([]);
    expect(await listAnchorFiles({ anchors: "pending" })).toEqual(["anchors/issued/statement.json"]);
    expect(await listAnchorFiles({ anchors: "anchored" })).toEqual([
      "anchors/issued/entry.tlog-proof",
      "anchors/issued/receipt.json",
      "anchors/issued/statement.json",
    ]);
  });

  test("omits audit files that do not exist yet", async () => {
    const listAuditFiles = async (options: EvidenceOptions) =>
      [...(await buildFiles(options)).keys()].filter((path) => path.startsWith("audit/")).sort();
    expect(await listAuditFiles({ audit: "none" })).toEqual([]);
    expect(await listAuditFiles({ audit: "entries" })).toEqual([
      "audit/2.tlog-proof",
      "audit/3.tlog-proof",
      "audit/5.tlog-proof",
      "audit/entries.jsonl",
      "audit/payloads.json",
    ]);
  });
});

describe("a redacted pack", () => {
  const personal = ["pat@example.com", "+15555550123", '"Pat"', "203.0.113.7", "198.51.100.23", "iPhone", "Windows NT", "quote?id=7"];
  const findPersonalData = (files: ReadonlyMap<string, Uint8Array>): string[] =>
    [...files.keys()].flatMap((path) => personal.filter((what) => readText(files, path).includes(what)).map((what) => `${path}: ${what}`));

  test("contains nothing that names the person and lists what is omitted", async () => {
    const files = await buildFiles({ redacted: true, isRevoked: true });
    expect(findPersonalData(await buildFiles({ isRevoked: true })).length).toBeGreaterThan(8);
    expect(findPersonalData(files)).toEqual([]);
    expect(readJson(files, "manifest.json").redacted).toEqual([
      "evidence",
      "subject.email",
      "subject.first_name",
      "subject.phone",
      "views.ip",
      "views.user_agent",
    ]);
    expect(readJson(files, "subject/disclosures.json")).toEqual([]);
  });

  test("distinguishes visitors by a hash that cannot be guessed", async () => {
    const views = readJson(await buildFiles({ redacted: true }), "views.json");
    expect(views[0].ip_hash).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(views[1].ip_hash).toBe(views[0].ip_hash);
    expect(views[0].ip_hash).not.toBe(sha256Hex("198.51.100.23").slice(0, 22));
  });
});

describe("selective disclosure", () => {
  test("shows only the chosen fields with their salts", async () => {
    const files = await buildFiles({ disclose: ["phone"] });
    expect(readJson(files, "subject/disclosures.json")).toEqual([[expect.stringMatching(/^[\w-]{22}$/), "phone", "+15555550123"]]);
    expect(readJson(files, "manifest.json").redacted).toEqual(["subject.email", "subject.first_name"]);
    expect([...files.keys()].filter((path) => readText(files, path).includes("pat@example.com"))).toEqual([]);
  });

  test("is impossible once the subject is erased, and leaves the preimage unchanged", async () => {
    const before = await buildFiles();
    const files = await buildFiles({ isErased: true });
    expect([...files.keys()].filter((path) => path.startsWith("subject/"))).toEqual([]);
    expect(readText(files, "fingerprint/preimage.json")).toBe(readText(before, "fingerprint/preimage.json"));
  });
});

describe("certificate.html", () => {
  test("shows text from users as plain text, keeps a carriage return, and loads and runs nothing", async () => {
    const page = readText(await buildFiles(), "certificate.html");
    expect(page).toContain("&lt;/script&gt;&lt;!-- Consent");
    expect(page).toContain("call me.&#13;\n");
    expect(page).toContain("😀 &lt;Emoji&gt; &amp; Co");
    expect(page).not.toMatch(/<script|\ssrc=|\shref=|\son[a-z]+=/);
    expect(page).toMatch(/Content-Security-Policy" content="default-src &#39;none&#39;;/);
  });
});

describe("the text of certificate.html", () => {
  /** Returns the page's text with whitespace collapsed. */
  const renderPageText = async (options: EvidenceOptions = {}): Promise<string> =>
    readText(await buildFiles(options), "certificate.html")
      .replace(/<(style|title)>[\s\S]*?<\/\1>/g, "")
      .replace(/<[^>]+>/g, " ")
      .replace(/\s+/g, " ");

  test("shows who, when, from where, what was shown and how, in this order and before the rest", async () => {
    const text = await renderPageText();
    const order = [
      "Asked by Acme Solar LLC",
      "email pat@example.com",
      "Given at 4 March 2026, 05:06:07 UTC (Coordinated Universal Time)",
      "IP address 203.0.113.7",
      "Browser not recognized",
      "Operating system iOS",
      "Page https://www.acme-solar.example/quote?id=7",
      "What was shown By clicking",
      "Kind of consent the person ticked the box",
      "Text size 12.5 CSS pixels",
      "Contrast not stated",
      "Visible not stated",
      "Electronic signature No separate disclosure",
      "Who may contact the person",
      "History",
      "Policies on that day",
      "Proofs",
    ];
    const positions = order.map((phrase) => text.indexOf(phrase));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test("shows the certificate ID on each printed page", async () => {
    const page = readText(await buildFiles(), "certificate.html");
    expect(page).toContain('@bottom-left{content:"Certificate cc_009w4k2m7q1x8z3v5t6r0nabcd"');
  });

  test("shows who must cease contact and by when, instead of who may contact the person", async () => {
    const text = await renderPageText({ isRevoked: true });
    expect(text).not.toContain("Who may contact the person");
    expect(text).toContain(
      "Contact withdrawn from None of them may contact the person under this consent anymore. Their contact must cease by 17 April 2026, 23:59:59 UTC .",
    );
    expect(text).toContain("How by the person, who proved the e-mail address on the certificate");
  });

  test("lists events in chronological order with the time of each anchor", async () => {
    const [, timeline = ""] = /History (.*) Policies on that day/.exec(await renderPageText({ isRevoked: true })) ?? [];
    expect(timeline.match(/: \S[^:]+?(?= \d|$)/g)?.map((what) => what.slice(2))).toEqual([
      "Certificate issued",
      "Privacy policy saved",
      "Terms saved",
      "Consent withdrawn",
      "Issuance anchored in the ledger",
      "Withdrawal anchored in the ledger",
    ]);
    expect(timeline).toContain("5 April 2026, 06:07:09 UTC : Withdrawal anchored in the ledger");
  });

  test("states what a redacted pack omits", async () => {
    const text = await renderPageText({ redacted: true });
    expect(text).toContain("Left out of this pack on purpose, and shown masked: email p***@e***.com");
    expect(text).toContain("Left out of this pack on purpose: IP address, browser, operating system, and address of the page.");
    expect(text).toContain("Left out of this pack on purpose: kind of consent, size, contrast and visibility of the text");
  });
});

describe("buildPackFiles", () => {
  test("throws for parts that contradict each other", async () => {
    const { parts } = await buildWorld();
    const audit = { ...parts.audit!, proofs: new Map() };
    await expect(buildPackFiles({ ...parts, audit })).rejects.toThrow("has no proof");
    const policyTexts = new Map([...parts.policyTexts.keys()].map((hash) => [hash, "x".repeat(11_000_000)]));
    await expect(buildPackFiles({ ...parts, policyTexts })).rejects.toThrow("too large");
  });

  test("keeps unknown members of the trust document in trust.json", async () => {
    const { parts } = await buildWorld({ trust: { ...trustDocument, tsa: [{ name: "x" }], further: ["../../etc/passwd"] } });
    const files = await buildPackFiles(parts);
    expect([...files.keys()].filter((path) => path.startsWith("trust/"))).toEqual([`trust/issuer-${issuer.kid}.pem`, "trust/trust.json"]);
    expect(encodeUtf8(readText(files, "trust/trust.json"))).toEqual(files.get("trust/trust.json"));
  });
});
