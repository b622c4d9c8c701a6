// Tests packs from a dishonest issuer, in which everything is listed and signed again with the right key. If the fingerprint, the ledger,
// the audit log or a witness contradicts a false statement, a specific check must find it.
import { describe, expect, test } from "vitest";
import { serializeAuditEntry, type AuditEntry } from "../../../core/audit/chain.ts";
import { toBase64, fromBase64, concatBytes, encodeUtf8 } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json, type JsonObject } from "../../../core/canonical-json.ts";
import { buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import type { EvidenceParts, PackedStatement } from "../../../core/certificates/evidence-parts.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { formatCheckpoint } from "../../../core/ledger/checkpoint.ts";
import { hashNode } from "../../../core/ledger/merkle.ts";
import { createCosignatureLine, keyKinds, signNote, formatVkey, type NoteSigner } from "../../../core/ledger/note.ts";
import { formatReceiptProof, formatReceipt, type Receipt } from "../../../core/ledger/receipt.ts";
import { formatRekorLeaf } from "../../../core/ledger/rekor.ts";
import { vkeyFromSpki } from "../../../core/ledger/rekor-receipt.ts";
import { formatTlogProof, parseTlogProof } from "../../../core/ledger/tlog-proof.ts";
import { openNoteSigner } from "../../../storage/note-keys.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { verifyPublic } from "../../../verifier/verify-public.ts";
import type { Report } from "../../../verifier/checks.ts";
import { computeNaiveInclusion, computeNaiveLeaf, computeNaiveRoot } from "../../support/naive-log.ts";
import { createSecret } from "../../support/note-keys.ts";
import {
  auditOrigin,
  auditSigner,
  issuer,
  ledgerOrigin,
  ledgerSigner,
  plainTrust,
  stranger,
  trustDocument,
  witness,
  buildWorld,
  type EvidenceOptions,
} from "./evidence.ts";
import { readJson, resignFiles, setJson, setText, readText, zipFiles, type Files } from "./repack.ts";

const pack = await buildPackFiles((await buildWorld({ isRevoked: true })).parts);
const active = await buildPackFiles((await buildWorld()).parts);
const other = await buildPackFiles((await buildWorld({ isRevoked: true, purpose: "another purpose" })).parts);

const reportOn = async (files: ReadonlyMap<string, Uint8Array>, document: JsonObject = trustDocument): Promise<Report> =>
  verifyPack(zipFiles(await resignFiles(files, issuer)), { ...defaultVerificationOptions, trust: trustOf(document) });

const findFailureAfter = async (change: (files: Files) => unknown, from: ReadonlyMap<string, Uint8Array> = pack): Promise<string> => {
  const files = new Map(from);
  await change(files);
  const report = await reportOn(files);
  return report.failed ?? report.verdict;
};

const replace = (path: string, from: string | RegExp, replacement: string) => (files: Files) => {
  const text = readText(files, path);
  expect(text.replace(from, replacement)).not.toBe(text);
  setText(files, path, text.replace(from, replacement));
};
const edit = (path: string, change: (value: JsonObject) => Json) => (files: Files) => setJson(files, path, change(readJson(files, path)));
const take =
  (...paths: readonly string[]) =>
  (files: Files) => {
    for (const path of paths) files.set(path, other.get(path)!);
  };
const combineChanges =
  (...all: readonly ((files: Files) => unknown)[]) =>
  async (files: Files) => {
    for (const one of all) await one(files);
  };

const anchorFiles = ["statement.json", "receipt.json", "entry.tlog-proof", "attested.tlog-proof", "checkpoint.txt", "checkpoint.tsr"];
const anchorFrom =
  (from: "issued" | "revoked", target: "issued" | "revoked", names = anchorFiles) =>
  (files: Files) => {
    for (const name of names) files.set(`anchors/${target}/${name}`, pack.get(`anchors/${from}/${name}`)!);
  };

describe("the record", () => {
  test.each<[string, string, (files: Files) => unknown]>([
    ["another name of the business in it", "fp.hash", replace("fingerprint/preimage.json", 'Acme Solar LLC"},', 'Acme Lunar LLC"},')],
    [
      "another name of the business on the certificate",
      "cert.consistency",
      edit("certificate.json", (c) => ({ ...c, business_name: "Acme Lunar LLC" })),
    ],
    ["another disclosure", "disclosure.hash", replace("fingerprint/disclosure.txt", "may call me", "may call me daily")],
    ["another disclosure on the certificate", "cert.consistency", edit("certificate.json", (c) => ({ ...c, disclosure_text: "I agree." }))],
    ["the record of another certificate", "fp.hash", take("fingerprint/preimage.json")],
    ["the certificate of another record", "fp.hash", take("certificate.json")],
    ["record and certificate of another", "anchor.statement", take("fingerprint/preimage.json", "certificate.json")],
    [
      "a fingerprint that fits a changed record",
      "cert.consistency",
      (files) => {
        replace("fingerprint/preimage.json", "solar quote follow-up", "anything at all")(files);
        const fingerprint = sha256Hex(files.get("fingerprint/preimage.json")!);
        edit("certificate.json", (c) => ({ ...c, fingerprint }))(files);
      },
    ],
    [
      "a recipient who was not named",
      "cert.consistency",
      edit("certificate.json", (c) => ({ ...c, entities: [...(c.entities as string[]), "Zeta"] })),
    ],
    [
      "answers that the person did not give",
      "cert.consistency",
      edit("certificate.json", (c) => ({ ...c, entities_accepted: [], entities_rejected: [] })),
    ],
    [
      "the signature of another record",
      "cert.consistency",
      (files) => {
        const { signature } = readJson(other, "certificate.json");
        edit("certificate.json", (c) => ({ ...c, signature }))(files);
      },
    ],
    [
      "a signature of another kind",
      "cert.consistency",
      edit("certificate.json", (c) => ({ ...c, signature: { ...(c.signature as JsonObject), alg: "none" } })),
    ],
    ["another printed record", "cert.consistency", edit("certificate.json", (c) => ({ ...c, canonical: `${c.canonical} ` }))],
    [
      "other evidence",
      "cert.consistency",
      edit("certificate.json", (c) => ({ ...c, evidence: { ...(c.evidence as JsonObject), ip: "203.0.113.8" } })),
    ],
    ["no evidence, without saying so", "cert.consistency", edit("certificate.json", (c) => ({ ...c, evidence: null }))],
    [
      "evidence and its hash changed together",
      "audit.chain",
      edit("certificate.json", (c) => {
        const evidence = { ...(c.evidence as JsonObject), ip: "203.0.113.8" };
        return { ...c, evidence, evidence_hash: sha256Hex(toCanonicalJson(evidence)) };
      }),
    ],
    [
      "an additional detail of the person",
      "cert.consistency",
      edit("certificate.json", (c) => ({ ...c, subject: { ...(c.subject as JsonObject), zip: "***" } })),
    ],
    ["another version of the fingerprint", "cert.consistency", edit("certificate.json", (c) => ({ ...c, fingerprint_version: "2" }))],
  ])("is refused with %s (T2)", async (_, check, change) => {
    expect(await findFailureAfter(change)).toBe(check);
  });

  test("is refused when its signer is not trusted", async () => {
    const value = await stranger.sign(readText(pack, "fingerprint/preimage.json"));
    const editSignature = (kid: string) => edit("certificate.json", (c) => ({ ...c, signature: { alg: "Ed25519", kid, value } }));
    expect(await findFailureAfter(editSignature(stranger.kid))).toBe("cert.consistency");
    expect(await findFailureAfter(editSignature(issuer.kid))).toBe("cert.consistency");
  });
});

describe("the lists of recipients", () => {
  const findFailureWithLists = async (change: (preimage: JsonObject) => JsonObject): Promise<string> =>
    findFailureAfter(async (files) => {
      const preimage = change(readJson(files, "fingerprint/preimage.json"));
      const canonical = toCanonicalJson(preimage);
      setText(files, "fingerprint/preimage.json", canonical);
      const { business: _, cert_id: __, timestamp: ___, ...bound } = preimage;
      const signature = { alg: "Ed25519", kid: issuer.kid, value: await issuer.sign(canonical) };
      const members = { ...bound, canonical, preimage, signature, fingerprint: sha256Hex(canonical) };
      edit("certificate.json", (c) => ({ ...c, ...members }))(files);
    });
  test.each<[string, JsonObject]>([
    ["not sorted", { entities: ["b", "a"] }],
    ["naming a recipient twice", { entities: ["a", "a"] }],
    ["both accepting and declining a recipient", { entities: ["a", "b"], entities_accepted: ["a"], entities_rejected: ["a"] }],
    ["answering for a recipient who was not named", { entities: ["a"], entities_accepted: ["b"], entities_rejected: [] }],
    ["not sorted among the answers", { entities: ["a", "b"], entities_accepted: ["b", "a"], entities_rejected: [] }],
  ])("are refused when %s, although everything else fits", async (_, arrays) => {
    expect(await findFailureWithLists((preimage) => ({ ...preimage, ...arrays }))).toBe("fp.arrays");
  });
  test("are refused with only one of the two choice lists", async () => {
    expect(await findFailureWithLists((preimage) => ({ ...preimage, entities_accepted: [] }))).toBe("fp.canonical");
  });
});

describe("the person's details", () => {
  test.each<[string, string, (files: Files) => unknown]>([
    ["another value", "subject.disclosures", replace("subject/disclosures.json", "pat@", "bat@")],
    ["another key", "subject.disclosures", replace("subject/disclosures.json", '"first_name"', '"last_name"')],
    [
      "a disclosure twice",
      "subject.disclosures",
      (files) => {
        const [first, ...rest] = readJson(files, "subject/disclosures.json");
        setJson(files, "subject/disclosures.json", [first, first, ...rest]);
      },
    ],
    ["a disclosure of the wrong shape", "subject.disclosures", (files) => setJson(files, "subject/disclosures.json", [["salt", "email"]])],
    [
      "a commitment of the issuer's own making",
      "subject.commitments",
      edit("subject/commitments.json", (c) => ({ ...c, email: "00".repeat(32) })),
    ],
    [
      "no commitments at all",
      "subject.commitments",
      (files) => {
        files.delete("subject/commitments.json");
        files.delete("subject/disclosures.json");
      },
    ],
  ])("are refused with %s", async (_, check, change) => {
    expect(await findFailureAfter(change)).toBe(check);
  });
});

describe("the policies", () => {
  const first = [...pack.keys()].find((path) => path.startsWith("policies/privacy-"))!;
  test.each<[string, (files: Files) => unknown]>([
    ["another text", replace(first, "We keep", "We sell")],
    [
      "another text under its own hash",
      (files) => {
        files.delete(first);
        const text = encodeUtf8("We sell what you send us.");
        files.set(`policies/privacy-${sha256Hex(text)}.txt`, text);
      },
    ],
    [
      "another kind",
      (files) => {
        const index = readJson(files, "policies/index.json");
        setJson(
          files,
          "policies/index.json",
          index.map((one: JsonObject) => ({ ...one, kind: "terms" })),
        );
      },
    ],
    ["a policy missing from the index", (files) => setJson(files, "policies/index.json", readJson(files, "policies/index.json").slice(1))],
    ["another source", replace("policies/index.json", "acme-solar.example/privacy", "acme-solar.example/other")],
    ["a path out of the folder", replace("policies/index.json", /"path":"policies\//, '"path":"../')],
  ])("are refused with %s", async (_, change) => {
    expect(await findFailureAfter(change)).toBe("policies.hash");
  });
});

describe("an anchor", () => {
  test.each<[string, string, (files: Files) => unknown]>([
    ["the receipt of another certificate", "anchor.entry_hash", take("anchors/issued/receipt.json")],
    [
      "the whole anchor of another certificate",
      "anchor.statement",
      take(...anchorFiles.slice(0, 5).map((name) => `anchors/issued/${name}`)),
    ],
    ["the withdrawal's receipt for the issuance", "anchor.entry_hash", anchorFrom("revoked", "issued", ["receipt.json"])],
    ["the withdrawal's whole anchor for the issuance", "anchor.statement", anchorFrom("revoked", "issued")],
    ["the issuance's whole anchor for the withdrawal", "revoke.statement", anchorFrom("issued", "revoked")],
    ["the withdrawal's attested proof for the issuance", "attest.inclusion", anchorFrom("revoked", "issued", ["attested.tlog-proof"])],
    ["another proof than its receipt's", "anchor.inclusion", anchorFrom("revoked", "issued", ["entry.tlog-proof"])],
    ["an attested checkpoint without its proof", "attest.inclusion", (files) => files.delete("anchors/issued/attested.tlog-proof")],
    ["a proof without its attested checkpoint", "attest.inclusion", (files) => files.delete("anchors/issued/checkpoint.txt")],
    [
      "a statement that the certificate does not publish",
      "anchor.statement",
      edit("certificate.json", (c) => ({ ...c, anchor: { ...(c.anchor as JsonObject), statement: "{}" } })),
    ],
    [
      "a checkpoint that the certificate does not publish",
      "anchor.note",
      edit("certificate.json", (c) => ({ ...c, anchor: { ...(c.anchor as JsonObject), tree_size: "21" } })),
    ],
    [
      "another hash on the certificate",
      "anchor.entry_hash",
      edit("certificate.json", (c) => ({ ...c, anchor: { ...(c.anchor as JsonObject), entry_hash: "00".repeat(32) } })),
    ],
  ])("is refused with %s (T2)", async (_, check, change) => {
    expect(await findFailureAfter(change)).toBe(check);
  });

  const certainly = JSON.parse(readText(pack, "anchors/issued/receipt.json")) as Receipt;
  /** Replaces the receipt and its text form, and sets the anchor on the certificate to pending. */
  const withReceipt = (receipt: Receipt) =>
    combineChanges(
      (files) => setText(files, "anchors/issued/receipt.json", formatReceipt(receipt)),
      (files) => setText(files, "anchors/issued/entry.tlog-proof", formatReceiptProof(receipt) ?? ""),
      edit("certificate.json", (c) => ({ ...c, anchor: { ...(c.anchor as JsonObject), status: "pending" } })),
    );

  test.each<[string, string, Partial<Receipt>]>([
    ["a proof one hash short", "anchor.inclusion", { inclusion_proof: certainly.inclusion_proof.slice(1) }],
    ["a proof one hash long", "anchor.inclusion", { inclusion_proof: [...certainly.inclusion_proof, certainly.root_hash] }],
    ["an index that is the size", "anchor.inclusion", { leaf_index: "20", tx_ref: `${ledgerOrigin}#20` }],
    ["the neighboring index", "anchor.inclusion", { leaf_index: "18", tx_ref: `${ledgerOrigin}#18` }],
    ["an index beyond a double", "anchor.inclusion", { leaf_index: "9007199254740993", tx_ref: `${ledgerOrigin}#9007199254740993` }],
    ["a size that is not the checkpoint's", "anchor.note", { tree_size: "21" }],
    ["a separate leaf body", "anchor.inclusion", { leaf_body: toBase64(pack.get("anchors/issued/statement.json")!) }],
    ["a time before the submission", "anchor.note", { submitted_at: "2026-04-05T06:07:10.000Z" }],
    ["another kind of ledger", "anchor.note", { kind: "rekor2" }],
  ])("is refused with %s (T2)", async (_, check, change) => {
    expect(await findFailureAfter(withReceipt({ ...certainly, ...change }))).toBe(check);
  });

  const leaves = Array.from({ length: 4 }, (_, at) => computeNaiveLeaf(encodeUtf8(`entry ${at}`)));
  const inOwnTree = async (
    signer: NoteSigner,
    origin: string,
    size: bigint,
    root: Uint8Array,
    proof: readonly Uint8Array[],
    index: bigint,
  ): Promise<Receipt> => ({
    ...certainly,
    ledger: `tlog:${origin}`,
    tx_ref: `${origin}#${index}`,
    leaf_index: index.toString(),
    inclusion_proof: proof.map(toBase64),
    signed_root: await signNote(formatCheckpoint({ origin, size, root }), [signer]),
    tree_size: size.toString(),
    root_hash: toBase64(root),
  });
  const ownLeaf = computeNaiveLeaf(pack.get("anchors/issued/statement.json")!);

  test("is refused in a tree of the issuer, regardless of its name", async () => {
    const ownSigner = await openNoteSigner(await createSecret(ledgerOrigin, 99));
    const root = hashNode(ownLeaf, leaves[0]!);
    expect(await findFailureAfter(withReceipt(await inOwnTree(ownSigner, ledgerOrigin, 2n, root, [leaves[0]!], 0n)))).toBe("anchor.note");
  });

  test("is refused in the issuer's own audit log", async () => {
    const root = hashNode(ownLeaf, leaves[0]!);
    expect(await findFailureAfter(withReceipt(await inOwnTree(auditSigner, auditOrigin, 2n, root, [leaves[0]!], 0n)))).toBe("anchor.note");
  });

  test("is refused under the ledger's key with another log's name", async () => {
    const root = hashNode(ownLeaf, leaves[0]!);
    const otherOrigin = "ledger.example/ledger/2027h1";
    expect(await findFailureAfter(withReceipt(await inOwnTree(ledgerSigner, otherOrigin, 2n, root, [leaves[0]!], 0n)))).toBe("anchor.note");
  });

  test("is refused when its leaf is an inner node of the tree (T5)", async () => {
    // The statement is a pair of leaf hashes, so the receipt proves an inner node instead of a leaf.
    const pair = concatBytes(leaves[0]!, leaves[1]!);
    const node = hashNode(leaves[0]!, leaves[1]!);
    const sibling = hashNode(leaves[2]!, leaves[3]!);
    const receipt = {
      ...(await inOwnTree(ledgerSigner, ledgerOrigin, 4n, computeNaiveRoot(leaves), [sibling], 0n)),
      leaf_hash: toBase64(node),
      entry_hash: sha256Hex(pair),
    };
    const report = await reportOn(await applyChange(withReceipt(receipt)));
    expect(report.failed).toBe("anchor.entry_hash");
    expect(report.checks.find(({ id }) => id === "anchor.inclusion")).toMatchObject({ outcome: "fail", detail: "proof_length" });
  });

  test("in a tree larger than 2^53 is counted exactly (T5)", async () => {
    const huge = (1n << 53n) + 1n;
    const proof = Array.from({ length: 53 }, (_, at) => computeNaiveLeaf(encodeUtf8(`${at}`)));
    let root: Uint8Array = ownLeaf;
    for (const sibling of proof) root = hashNode(root, sibling);
    const short = await inOwnTree(ledgerSigner, ledgerOrigin, 1n << 53n, root, proof, 0n);
    const rounded = await inOwnTree(ledgerSigner, ledgerOrigin, huge, root, proof, 0n);
    const checkInclusion = async (receipt: Receipt) =>
      (await reportOn(await applyChange(withReceipt(receipt)))).checks.find(({ id }) => id === "anchor.inclusion");
    expect(await checkInclusion(short)).toMatchObject({ outcome: "pass" });
    expect(await checkInclusion(rounded)).toMatchObject({ outcome: "fail", detail: "proof_length" });
  });

  const applyChange = async (change: (files: Files) => unknown): Promise<Files> => {
    const files = new Map(pack);
    await change(files);
    return files;
  };
});

describe("an attestation", () => {
  const attested = readText(pack, "anchors/issued/attested.tlog-proof");
  const note = readText(pack, "anchors/issued/checkpoint.txt");
  const text = note.slice(0, note.indexOf("\n\n") + 1);

  test("is refused when a trusted witness signed another text", async () => {
    const line = await createCosignatureLine(`${text}more\n`, witness, 1_775_369_703n);
    expect(
      await findFailureAfter((files) => setText(files, "anchors/issued/attested.tlog-proof", attested.slice(0, -line.length) + line)),
    ).toBe("attest.inclusion");
  });

  test("does not count if the witness is unknown", async () => {
    const ownSigner = await openNoteSigner(await createSecret("witness.example/w1", 98, keyKinds.witness));
    const line = await createCosignatureLine(text, ownSigner, 1_775_369_703n);
    const proof = parseTlogProof(attested)!;
    const report = await reportOn(
      new Map(pack).set("anchors/issued/attested.tlog-proof", encodeUtf8(formatTlogProof({ ...proof, checkpoint: note + line }))),
    );
    expect(report).toMatchObject({ verdict: "incomplete", failed: null });
    expect(report.missing).toEqual(["attest.cosign: 0 of 1 required witnesses"]);
  });

  test("counts once when one witness signed twice", async () => {
    const proof = parseTlogProof(attested)!;
    const repeatedLine = await createCosignatureLine(text, witness, 1_775_369_704n);
    const files = new Map(pack).set(
      "anchors/issued/attested.tlog-proof",
      encodeUtf8(formatTlogProof({ ...proof, checkpoint: proof.checkpoint + repeatedLine })),
    );
    const report = await reportOn(files, { ...trustDocument, policy: { witness_min: 2 } });
    expect(report.missing[0]).toMatch(/^attest\.cosign: 1 of 2 required witnesses/);
  });

  test("is refused when the timestamp covers another checkpoint", async () => {
    const signed = await signNote(formatCheckpoint({ origin: ledgerOrigin, size: 40n, root: sha256("another tree") }), [ledgerSigner]);
    expect(await findFailureAfter((files) => setText(files, "anchors/issued/checkpoint.txt", signed))).toBe("attest.inclusion");
    const size20 = readJson(pack, "anchors/issued/receipt.json").signed_root;
    const proof = readText(pack, "anchors/issued/entry.tlog-proof");
    const report = await reportOn(
      new Map(pack).set("anchors/issued/checkpoint.txt", encodeUtf8(size20)).set("anchors/issued/attested.tlog-proof", encodeUtf8(proof)),
    );
    expect(report.failed).toBe("attest.tsa");
    expect(report.checks.find(({ id }) => id === "attest.tsa")?.detail).toBe("imprint_mismatch");
  });

  test("is refused for a checkpoint that the log did not sign", async () => {
    expect(await findFailureAfter((files) => setText(files, "anchors/issued/checkpoint.txt", `${text}\n`))).toBe("attest.inclusion");
  });

  test("is refused for another index of the same statement", async () => {
    const { parts } = await buildWorld({ anchors: "anchored" });
    const [issued] = parts.anchors;
    const leaf = computeNaiveLeaf(encodeUtf8(issued!.statement));
    const leaves = [leaf, computeNaiveLeaf(encodeUtf8("else")), leaf];
    const note = await signNote(formatCheckpoint({ origin: ledgerOrigin, size: 3n, root: computeNaiveRoot(leaves) }), [ledgerSigner]);
    const receipt: Receipt = {
      ...issued!.receipt!,
      tx_ref: `${ledgerOrigin}#0`,
      leaf_index: "0",
      inclusion_proof: computeNaiveInclusion(0, leaves).map(toBase64),
      signed_root: note,
      tree_size: "3",
      root_hash: toBase64(computeNaiveRoot(leaves)),
    };
    const attested = { note, inclusionProof: receipt.inclusion_proof, cosignatures: [], tsr: null };
    const anchors = [{ event: "issued" as const, statement: issued!.statement, receipt, attested }];
    const files = new Map(await buildPackFiles({ ...parts, publicView: { ...parts.publicView, anchor: null }, anchors }));
    expect((await reportOn(files, plainTrust)).verdict).toBe("valid");
    const otherProof = formatTlogProof({ index: 2n, hashes: computeNaiveInclusion(2, leaves), checkpoint: note });
    expect((await reportOn(files.set("anchors/issued/attested.tlog-proof", encodeUtf8(otherProof)), plainTrust)).failed).toBe(
      "attest.inclusion",
    );
  });

  test("is refused when the timestamp is malformed", async () => {
    expect(await findFailureAfter((files) => files.set("anchors/issued/checkpoint.tsr", encodeUtf8("hello")))).toBe("attest.tsa");
  });
});

describe("a withdrawal", () => {
  test.each<[string, string, (files: Files) => unknown]>([
    ["hidden from the status", "cert.consistency", edit("certificate.json", (c) => ({ ...c, status: "active" }))],
    [
      "hidden from the status and the view",
      "revoke.statement",
      edit("certificate.json", (c) => ({ ...c, status: "active", withdrawal: null })),
    ],
    [
      "at another time",
      "revoke.statement",
      edit("certificate.json", (c) => ({
        ...c,
        withdrawal: { ...(c.withdrawal as JsonObject), withdrawn_at: "2026-05-05T06:07:08.009Z" },
      })),
    ],
    ["without a time", "revoke.statement", edit("certificate.json", (c) => ({ ...c, withdrawal: { scope: "certificate" } }))],
    ["with an unknown status", "cert.consistency", edit("certificate.json", (c) => ({ ...c, status: "paused" }))],
  ])("%s is refused", async (_, check, change) => {
    expect(await findFailureAfter(change)).toBe(check);
  });

  test("is refused when an active certificate is called withdrawn", async () => {
    const files = new Map(active);
    edit("certificate.json", (c) => ({
      ...c,
      status: "revoked",
      withdrawal: { withdrawn_at: "2026-05-05T06:07:08.009Z", scope: "certificate" },
    }))(files);
    const report = await reportOn(files);
    expect(report).toMatchObject({ verdict: "invalid", failed: "audit.status" });
    expect(report.checks.find(({ id }) => id === "audit.status")?.detail).toBe(
      "no audit entry in the pack is the withdrawal that the certificate shows",
    );
  });

  test("from single recipients leaves the certificate active", async () => {
    const partly = new Map(await buildPackFiles((await buildWorld({ withdrawnFrom: ["Bright Homes Inc"] })).parts));
    expect((await reportOn(partly)).verdict).toBe("valid");
    const files = new Map(active);
    edit("certificate.json", (c) => ({ ...c, withdrawal: { withdrawn_at: "2026-05-05T06:07:08.009Z", scope: "recipient" } }))(files);
    expect((await reportOn(files)).failed).toBe("cert.consistency");
  });
});

describe("an audit trail", () => {
  const lines = readText(pack, "audit/entries.jsonl").trimEnd().split("\n");
  const parseEntry = (at: number): AuditEntry => JSON.parse(lines[at]!);
  const withLines =
    (...all: readonly string[]) =>
    (files: Files) =>
      setText(files, "audit/entries.jsonl", all.map((line) => `${line}\n`).join(""));
  const changeEntry = (at: number, change: Partial<AuditEntry>) =>
    withLines(...lines.with(at, serializeAuditEntry({ ...parseEntry(at), ...change })));
  const seqs = lines.map((_, at) => parseEntry(at).seq);

  test("has the entries 2, 3, 5 and 6 in the test data", () => {
    expect(seqs).toEqual(["2", "3", "5", "6"]);
  });

  test.each<[string, string, (files: Files) => unknown]>([
    ["a changed time", "audit.chain", changeEntry(0, { at: "2026-03-04T05:06:07.090Z" })],
    ["a changed type", "audit.chain", changeEntry(2, { type: "policy.linked" })],
    ["a changed type before a gap", "audit.inclusion", changeEntry(1, { type: "certificate.subject_read" })],
    ["a changed payload hash", "audit.chain", changeEntry(1, { payload_hash: "00".repeat(32) })],
    ["a changed link", "audit.chain", changeEntry(1, { prev_hash: "00".repeat(32) })],
    ["a changed link after a gap", "audit.chain", changeEntry(2, { prev_hash: "00".repeat(32) })],
    ["another entity", "audit.chain", changeEntry(1, { entity_id: "cc_other" })],
    ["another chain", "audit.chain", changeEntry(3, { chain: "ff".repeat(16) })],
    ["a seq written in two ways", "audit.chain", changeEntry(1, { seq: "03" })],
    ["an entry removed and its proof kept", "audit.chain", withLines(...lines.toSpliced(1, 1))],
    ["an entry twice", "audit.chain", withLines(lines[0]!, ...lines)],
    ["two entries swapped", "audit.chain", withLines(lines[0]!, lines[2]!, lines[1]!, lines[3]!)],
    [
      "no issuance",
      "audit.chain",
      combineChanges(
        withLines(...lines.slice(1)),
        (files) => files.delete("audit/2.tlog-proof"),
        edit("audit/payloads.json", ({ 2: _, ...rest }) => rest),
      ),
    ],
    ["a second issuance", "audit.chain", changeEntry(1, { type: "certificate.issued" })],
    ["no entries at all", "audit.chain", withLines()],
    ["a payload of a missing entry", "audit.chain", edit("audit/payloads.json", (p) => ({ ...p, 4: p[2]! }))],
    [
      "another salt",
      "audit.chain",
      edit("audit/payloads.json", (p) => ({ ...p, 3: { ...(p[3] as JsonObject), salt: "AAAAAAAAAAAAAAAAAAAAAA" } })),
    ],
    [
      "another payload",
      "audit.chain",
      edit("audit/payloads.json", (p) => ({ ...p, 5: { ...(p[5] as JsonObject), payload: { actor: "nobody" } } })),
    ],
    [
      "a payload with an additional member",
      "audit.chain",
      edit("audit/payloads.json", (p) => ({ ...p, 5: { ...(p[5] as JsonObject), note: "x" } })),
    ],
    ["the proof of a neighboring entry", "audit.inclusion", (files) => files.set("audit/3.tlog-proof", pack.get("audit/2.tlog-proof")!)],
    ["a missing proof", "audit.inclusion", (files) => files.delete("audit/3.tlog-proof")],
    ["the entries removed and their proofs kept", "audit.chain", (files) => files.delete("audit/entries.jsonl")],
  ])("is refused with %s (T2)", async (_, check, change) => {
    expect(await findFailureAfter(change)).toBe(check);
  });

  test("names the entry that was changed", async () => {
    const files = new Map(pack);
    edit("audit/payloads.json", (p) => ({ ...p, 5: { ...(p[5] as JsonObject), payload: { actor: "nobody" } } }))(files);
    const report = await reportOn(files);
    expect(report.checks.find(({ id }) => id === "audit.chain")?.detail).toContain("entry 5");
  });

  test("is incomplete without its payloads", async () => {
    const report = await reportOn(new Map(pack).set("audit/payloads.json", encodeUtf8("{}")));
    expect(report).toMatchObject({ verdict: "incomplete", failed: null });
    expect(report.missing).toEqual([
      "audit.issuance: the audit payload of the issuance is not in the pack",
      "audit.status: the audit payload of the withdrawal is not in the pack",
      "audit.policies: the audit payload of the policies is not in the pack",
    ]);
  });

  test.each<[string, string, EvidenceOptions["lies"]]>([
    ["the issuance of another fingerprint", "audit.chain", { issuance: { fingerprint: "00".repeat(32) } }],
    ["its entries in another order", "audit.inclusion", { order: "reversed" }],
    ["a chain that ends in another entry", "audit.heads", { leaf: { head: "00".repeat(32) } }],
    ["a chain that lacks its last entries", "audit.heads", { leaf: { seq: "4", head: "00".repeat(32) } }],
    ["a chain longer than it was", "audit.heads", { order: "after the record" }],
    ["another chain in this one's place", "audit.heads", { leaf: { chain: "ff".repeat(16) } }],
    ["a record at a different position from the one it states", "audit.heads", { logSize: "3" }],
  ])("is refused when the log itself holds %s", async (_, check, lies = {}) => {
    const truth = (await buildWorld({ isRevoked: true })).parts.audit!;
    const issuance = lies.issuance === undefined ? {} : { issuance: { ...truth.payloads.get("2")!.payload, ...lies.issuance } };
    const { parts } = await buildWorld({ isRevoked: true, isFirstEntry: false, lies: { ...lies, ...issuance } });
    expect((await reportOn(await buildPackFiles(parts))).failed).toBe(check);
  });

  test("is refused for another chain or another index in the tree of heads", async () => {
    const editHeads = (change: (value: JsonObject) => Json) => edit("audit/heads.json", change);
    expect(await findFailureAfter(editHeads((h) => ({ ...h, chain_index: "4" })))).toBe("audit.heads");
    const first = await buildPackFiles((await buildWorld({ isFirstEntry: true })).parts);
    expect(
      await findFailureAfter(
        editHeads((h) => ({ ...h, chain_index: "4" })),
        first,
      ),
    ).toBe("audit.chain"); // the chain's first entry commits to the index of the chain
  });

  const editLeaf = (change: JsonObject) =>
    edit("audit/heads.json", (h) => ({ ...h, leaf: toCanonicalJson({ ...(JSON.parse(String(h.leaf)) as JsonObject), ...change }) }));
  test.each<[string, (files: Files) => unknown]>([
    ["a smaller count", editLeaf({ seq: "5" })],
    ["another head", editLeaf({ head: "00".repeat(32) })],
    ["another chain's leaf", editLeaf({ chain: "ff".repeat(16) })],
    ["a leaf with spaces", edit("audit/heads.json", (h) => ({ ...h, leaf: String(h.leaf).replace(":", ": ") }))],
    ["a path one hash short", edit("audit/heads.json", (h) => ({ ...h, path: (h.path as string[]).slice(1) }))],
    ["another size", edit("audit/heads.json", (h) => ({ ...h, size: "10" }))],
    ["another root", edit("audit/heads-record.json", (r) => ({ ...r, heads_root: "00".repeat(32) }))],
    ["another place in the log", edit("audit/heads-record.json", (r) => ({ ...r, log_size: "11" }))],
    ["another time", edit("audit/heads-record.json", (r) => ({ ...r, at: "2026-04-05T06:30:00.000Z" }))],
    ["an entry's proof", (files) => files.set("audit/heads-record.tlog-proof", pack.get("audit/6.tlog-proof")!)],
    ["a missing file", (files) => files.delete("audit/heads-record.json")],
  ])("is refused when its record of heads has %s", async (_, change) => {
    expect(await findFailureAfter(change)).toBe("audit.heads");
  });
});

describe("a statement in Rekor", async () => {
  const origin = "rekor.example";
  const rekor = await openNoteSigner(await createSecret(origin, 41));
  const keys = (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])) as CryptoKeyPair;
  const spki = toBase64(new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey)));

  /** Converts a Web Crypto signature (r and s concatenated) to DER, the format used in leaves. */
  const encodeDerSignature = (raw: Uint8Array): Uint8Array => {
    const encodeInteger = (bytes: Uint8Array): Uint8Array => {
      const start = bytes.findIndex((byte) => byte !== 0);
      const trimmed = bytes.subarray(start);
      const value = trimmed[0]! >= 0x80 ? concatBytes(Uint8Array.of(0), trimmed) : trimmed;
      return concatBytes(Uint8Array.of(2, value.length), value);
    };
    const both = concatBytes(encodeInteger(raw.subarray(0, 32)), encodeInteger(raw.subarray(32)));
    return concatBytes(Uint8Array.of(0x30, both.length), both);
  };

  const { parts } = await buildWorld({ anchors: "anchored" });
  const { statement } = parts.anchors[0]!;
  const buildLeaf = async (text: string): Promise<Uint8Array> => {
    const raw = new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keys.privateKey, encodeUtf8(text)));
    return encodeUtf8(formatRekorLeaf({ digest: toBase64(sha256(text)), signature: toBase64(encodeDerSignature(raw)), publicKey: spki }));
  };
  const createReceipt = async (body: Uint8Array): Promise<Receipt> => {
    const leaves = [computeNaiveLeaf(encodeUtf8("else")), computeNaiveLeaf(body), computeNaiveLeaf(encodeUtf8("more"))];
    return {
      ...parts.anchors[0]!.receipt!,
      ledger: `rekor2:${origin}`,
      kind: "rekor2",
      tx_ref: `${origin}#1`,
      leaf_index: "1",
      leaf_hash: toBase64(leaves[1]!),
      leaf_body: toBase64(body),
      inclusion_proof: computeNaiveInclusion(1, leaves).map(toBase64),
      signed_root: await signNote(`${origin}\n3\n${toBase64(computeNaiveRoot(leaves))}\n`, [rekor]),
      tree_size: "3",
      root_hash: toBase64(computeNaiveRoot(leaves)),
    };
  };
  const log = { origin, vkey: formatVkey(rekor.key), valid_from: "2026-01-01T00:00:00.000Z", role: "primary" };
  const rekorTrust: JsonObject = { ...plainTrust, logs: [log, (plainTrust.logs as JsonObject[])[1]!], anchor_keys: [spki] };

  const buildRekorPack = async (
    receipt: Receipt,
    attested: PackedStatement["attested"] = null,
  ): Promise<ReadonlyMap<string, Uint8Array>> => {
    const view: JsonObject = { ...parts.publicView, anchor: null };
    const changed: EvidenceParts = { ...parts, publicView: view, anchors: [{ event: "issued", statement, receipt, attested }] };
    return buildPackFiles(changed);
  };

  test("verifies with the log's checkpoint and the issuer's signature in the leaf", async () => {
    const files = await buildRekorPack(await createReceipt(await buildLeaf(statement)));
    expect(files.has("anchors/issued/rekor.json")).toBe(true);
    const report = await reportOn(files, rekorTrust);
    expect(report.verdict).toBe("valid");
    expect(report.checks.find(({ id }) => id === "anchor.rekor_body")).toMatchObject({ outcome: "pass" });
  });

  test("verifies with an attested checkpoint that the log signed with an ECDSA key", async () => {
    const createKey = async () => {
      const pair = (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])) as CryptoKeyPair;
      return { pair, logSpki: new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey)) };
    };
    // The base64 of the key contains a plus sign, which also separates the parts of a verifier key.
    let { pair: ecdsa, logSpki } = await createKey();
    while (!toBase64(logSpki).includes("+")) ({ pair: ecdsa, logSpki } = await createKey());
    const receipt = await createReceipt(await buildLeaf(statement));
    const text = receipt.signed_root.slice(0, receipt.signed_root.indexOf("\n\n") + 1);
    const raw = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, ecdsa.privateKey, encodeUtf8(text));
    const signature = concatBytes(sha256(logSpki).subarray(0, 4), encodeDerSignature(new Uint8Array(raw)));
    const note = `${text}\n\u2014 ${origin} ${toBase64(signature)}\n`;
    const attested = { note, inclusionProof: receipt.inclusion_proof, cosignatures: [], tsr: null };
    const files = await buildRekorPack({ ...receipt, signed_root: note }, attested);
    const ecdsaTrust = { ...rekorTrust, logs: [{ ...log, vkey: vkeyFromSpki(origin, logSpki) }, (plainTrust.logs as JsonObject[])[1]!] };
    const report = await reportOn(files, ecdsaTrust);
    expect(report).toMatchObject({ verdict: "valid", failed: null });
    expect(report.checks.find(({ id }) => id === "attest.inclusion")).toMatchObject({ outcome: "pass" });
    expect((await reportOn(files, rekorTrust)).failed).toBe("anchor.note");
  });

  test("makes the public response incomplete, because the response does not contain the leaf", async () => {
    const { ledger, tx_ref, leaf_index, tree_size, signed_root, inclusion_proof } = await createReceipt(await buildLeaf(statement));
    const anchor: JsonObject = {
      ...(parts.publicView.anchor as JsonObject),
      ...{ ledger, tx_ref, leaf_index, tree_size, signed_root, inclusion_proof: [...inclusion_proof] },
    };
    const report = await verifyPublic({ ...parts.publicView, anchor }, { ...defaultVerificationOptions, trust: trustOf(rekorTrust) });
    expect(report).toMatchObject({ verdict: "incomplete", missing: ["anchor.entry_hash: the ledger's receipt is not included"] });
  });

  test("is refused when its leaf is about another statement", async () => {
    const report = await reportOn(await buildRekorPack(await createReceipt(await buildLeaf("something else"))), rekorTrust);
    expect(report.failed).toBe("anchor.rekor_body");
  });

  test("is refused when rekor.json differs from the receipt or is missing", async () => {
    const files = new Map(await buildRekorPack(await createReceipt(await buildLeaf(statement))));
    expect((await reportOn(new Map(files).set("anchors/issued/rekor.json", encodeUtf8("{}")), rekorTrust)).failed).toBe(
      "anchor.rekor_body",
    );
    files.delete("anchors/issued/rekor.json");
    expect((await reportOn(files, rekorTrust)).failed).toBe("anchor.rekor_body");
  });

  test("is incomplete without a trusted anchor key and invalid with another one", async () => {
    const files = await buildRekorPack(await createReceipt(await buildLeaf(statement)));
    const { anchor_keys: _, ...without } = rekorTrust;
    expect((await reportOn(files, without)).missing).toEqual(["anchor.rekor_body: no anchor key of the issuer is trusted"]);
    const wrong = toBase64(concatBytes(fromBase64(spki)!.subarray(0, -1), Uint8Array.of(1)));
    expect((await reportOn(files, { ...rekorTrust, anchor_keys: [wrong] })).failed).toBe("anchor.rekor_body");
  });

  test("is refused under a checkpoint of another log", async () => {
    const report = await reportOn(await buildRekorPack(await createReceipt(await buildLeaf(statement))), {
      ...rekorTrust,
      logs: plainTrust.logs!,
    });
    expect(report.failed).toBe("anchor.note");
  });
});
