// For every member of a pack, tests three packs in which the issuer has changed that member. In the first, the evidence that binds the
// member is missing. In the second, this evidence is from another certificate. In the third, it contradicts the member. Each pack is signed
// again with the issuer's key. Also checks the table in docs/reference/proof-checks.md.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../core/audit/chain.ts";
import { encodeUtf8 } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json, type JsonObject } from "../../../core/canonical-json.ts";
import { buildEvidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { issuer, stranger, trustDocument, buildWorld } from "./evidence.ts";
import {
  editCertificate,
  editJson,
  editWithdrawal,
  readEntries,
  removeEntry,
  removeFiles,
  removePayload,
  removeReceipts,
  writeEntries,
  type Change,
} from "./pack-changes.ts";
import { readJson, relistFiles, resignFiles, setJson, setText, readText, withFittingPage, zipFiles, type Files } from "./repack.ts";

type Pack = ReadonlyMap<string, Uint8Array>;

const withdrawnWorld = { isRevoked: true, isAcknowledged: true };
const { parts } = await buildWorld(withdrawnWorld);
const withdrawn = await buildPackFiles(parts);
const active = await buildPackFiles((await buildWorld()).parts);
const partly = await buildPackFiles((await buildWorld({ withdrawnFrom: ["Bright Homes Inc"] })).parts);
const anotherPartly = await buildPackFiles((await buildWorld({ withdrawnFrom: ["Bright Homes Inc"], isAnother: true })).parts);
const ceasedWorld = { withdrawnFrom: ["Bright Homes Inc"], isCeasedInPart: true };
const ceased = await buildPackFiles((await buildWorld(ceasedWorld)).parts);
const anotherCeased = await buildPackFiles((await buildWorld({ ...ceasedWorld, isAnother: true })).parts);
const erased = await buildPackFiles((await buildWorld({ isErased: true })).parts);
const another = await buildPackFiles((await buildWorld({ ...withdrawnWorld, isAnother: true })).parts);
const anotherErased = await buildPackFiles((await buildWorld({ isErased: true, isAnother: true })).parts);

const combineChanges =
  (...changes: readonly Change[]): Change =>
  async (files) => {
    for (const change of changes) await change(files);
  };
/** Replaces the matching files with the same files from another pack. */
const replaceFiles =
  (pack: Pack, pattern: RegExp): Change =>
  (files) => {
    removeFiles(pattern)(files);
    for (const [path, bytes] of pack) if (pattern.test(path)) files.set(path, bytes);
  };
const editText =
  (path: string, change: (before: string) => string): Change =>
  (files) =>
    setText(files, path, change(readText(files, path)));
const editAnchor = (members: JsonObject): Change =>
  editJson("certificate.json", (c) => ({ ...c, anchor: { ...(c.anchor as JsonObject), ...members } }));

const findSeq = (files: Pack, type: string): string => readEntries(files).find((entry) => entry.type === type)?.seq ?? "";

const copyPayload =
  (pack: Pack, type: string): Change =>
  (files) =>
    editJson("audit/payloads.json", (p) => ({ ...p, [findSeq(files, type)]: readJson(pack, "audit/payloads.json")[findSeq(pack, type)] }))(
      files,
    );
const copyEntry =
  (pack: Pack, type: string): Change =>
  (files) => {
    const taken = readEntries(pack).find((entry) => entry.type === type) as AuditEntry;
    const kept = readEntries(files).filter(({ seq }) => seq !== taken.seq);
    writeEntries(
      files,
      [...kept, taken].sort((a, b) => Number(a.seq) - Number(b.seq)),
    );
    editJson("audit/payloads.json", (p) => ({ ...p, [taken.seq]: readJson(pack, "audit/payloads.json")[taken.seq] }))(files);
    files.set(`audit/${taken.seq}.tlog-proof`, pack.get(`audit/${taken.seq}.tlog-proof`)!);
  };

/** Changes the record and everything that the issuer can make match without changing a log: fingerprint, signature and certificate. */
const replaceRecord =
  (members: JsonObject): Change =>
  async (files) => {
    const preimage: JsonObject = { ...readJson(files, "fingerprint/preimage.json"), ...members };
    const canonical = toCanonicalJson(preimage);
    setText(files, "fingerprint/preimage.json", canonical);
    const signature = { alg: "Ed25519", kid: issuer.kid, value: await issuer.sign(canonical) };
    editCertificate({ ...members, canonical, preimage, signature, fingerprint: sha256Hex(canonical) })(files);
  };
const otherPurpose = replaceRecord({ purpose: "anything at all" });
const otherEvidence: Change = editJson("certificate.json", (c) => {
  const evidence = { ...(c.evidence as JsonObject), ip: "203.0.113.8" };
  return { ...c, evidence, evidence_hash: sha256Hex(toCanonicalJson(evidence)) };
});
const replacePolicy: Change = (files) => {
  const path = [...files.keys()].find((one) => one.startsWith("policies/privacy-")) as string;
  const bytes = encodeUtf8("We sell what you send us.");
  const hash = sha256Hex(bytes);
  files.delete(path);
  files.set(`policies/privacy-${hash}.txt`, bytes);
  const replaceHash = (one: JsonObject): JsonObject => (one.kind === "privacy" ? { ...one, content_hash: hash } : one);
  editJson("certificate.json", (c) => ({ ...c, policies: (c.policies as JsonObject[]).map(replaceHash) }))(files);
  const index = (readJson(files, "policies/index.json") as JsonObject[]).map((one) =>
    one.kind === "privacy" ? { ...replaceHash(one), path: `policies/privacy-${hash}.txt` } : one,
  );
  setJson(files, "policies/index.json", index);
};
const changeSource: Change = (files) => {
  const moveSources = (list: JsonObject[]): JsonObject[] =>
    list.map((one) => ({ ...one, source_url: "https://www.acme-solar.example/other" }));
  editJson("certificate.json", (c) => ({ ...c, policies: moveSources(c.policies as JsonObject[]) }))(files);
  setJson(files, "policies/index.json", moveSources(readJson(files, "policies/index.json")));
};
const otherRecipient: Change = editJson("certificate.json", (c) => ({
  ...c,
  entities_withdrawn: (c.entities_withdrawn as JsonObject[]).map((one) => ({ ...one, entity: "Acme Solar LLC" })),
}));
/** Replaces the receipt with one that the issuer has written and signed again. */
const replaceReceipt =
  (members: JsonObject): Change =>
  async (files) => {
    const canonical = toCanonicalJson({ ...readJson(files, "withdrawals/1/receipt.json"), ...members });
    setText(files, "withdrawals/1/receipt.json", canonical);
    setJson(files, "withdrawals/1/signature.json", { alg: "Ed25519", kid: issuer.kid, value: await issuer.sign(canonical) });
  };
const activeAgain: Change = editCertificate({ status: "active", withdrawal: null, cease_by: null });
const inventWithdrawal: Change = editCertificate({
  status: "revoked",
  cease_by: readJson(withdrawn, "certificate.json").cease_by,
  withdrawal: { ...readJson(withdrawn, "certificate.json").withdrawal, anchor: null, cease_acknowledged_at: null },
});
const issuerPem = [...withdrawn.keys()].find((path) => path.startsWith("trust/issuer-")) as string;
const tsaPem = [...withdrawn.keys()].find((path) => path.startsWith("trust/tsa-")) as string;
const strangerPem = readText(
  await buildPackFiles({ ...parts, trust: { ...trustDocument, issuer_keys: { keys: stranger.publicKeys.map((key) => ({ ...key })) } } }),
  `trust/issuer-${stranger.kid}.pem`,
);

interface Cell {
  /** The verdict, followed by the check that causes it or, for `valid`, by the name of the note that explains it. */
  readonly verdict: string;
  readonly change: Change;
  readonly pack?: Pack;
}
const createCell = (verdict: string, change: Change, pack?: Pack): Cell => ({ verdict, change, ...(pack && { pack }) });

/** The notes that a report must contain, by the name that follows `valid` in a cell. */
const notes: Readonly<Record<string, RegExp>> = {
  "issuer's word": /^Only the issuer's signature covers/,
  "as of the pack": /^The certificate was active when the pack was created/,
  "not disclosed": /^Not disclosed: /,
  "left out on purpose": /^Left out on purpose: evidence/,
  "other keys": /trust document names keys that yours does not/,
  "your own keys": /./,
};

interface Row {
  readonly member: string;
  /**
   * The parts of the pack that this row covers: paths in the zip, `certificate.json#` members, and `bundle#` members of the JSON bundle.
   */
  readonly covers: readonly string[];
  readonly boundBy: string;
  readonly leftOut: Cell;
  readonly fromAnother: Cell;
  readonly contradicting: Cell;
}

const pageRow = "`certificate.html` and README.txt";
const listCertificateMembers = (...names: readonly string[]): string[] => names.map((name) => `certificate.json#${name}`);
const bundle = (...names: readonly string[]): string[] => names.map((name) => `bundle#${name}`);

const rows: readonly Row[] = [
  {
    member: "the record",
    covers: [
      "fingerprint/preimage.json",
      ...listCertificateMembers(
        "cert_id",
        "business_id",
        "business_name",
        "issued_at",
        "entities",
        "purpose",
        "origin_domain",
        "subject_hash",
      ),
      ...listCertificateMembers("preimage", "canonical", "fingerprint", "fingerprint_version"),
      ...bundle("preimage", "canonical_json", "fingerprint"),
    ],
    boundBy: "the statement in the ledger",
    leftOut: createCell(
      "incomplete anchor.statement, audit.issuance",
      combineChanges(otherPurpose, removeFiles(/^anchors\//), removePayload("certificate.issued"), editCertificate({ anchor: null })),
      active,
    ),
    fromAnother: createCell(
      "invalid anchor.statement",
      combineChanges(otherPurpose, replaceFiles(another, /^anchors\/issued\//), editCertificate({ anchor: null })),
    ),
    contradicting: createCell("invalid anchor.statement", otherPurpose),
  },
  {
    member: "the issuer's signature on the record",
    covers: [...listCertificateMembers("signature"), ...bundle("signature")],
    boundBy: "a trusted key of the issuer",
    leftOut: createCell("invalid cert.consistency", editCertificate({ signature: null })),
    fromAnother: createCell("invalid cert.consistency", editCertificate({ signature: readJson(another, "certificate.json").signature })),
    contradicting: createCell(
      "invalid cert.consistency",
      editCertificate({ signature: { alg: "Ed25519", kid: stranger.kid, value: await stranger.sign("{}") } }),
    ),
  },
  {
    member: "the disclosure",
    covers: ["fingerprint/disclosure.txt", ...listCertificateMembers("disclosure_text", "disclosure_hash"), ...bundle("disclosure")],
    boundBy: "`disclosure_hash` in the record",
    leftOut: createCell(
      "invalid fp.canonical",
      editJson("fingerprint/preimage.json", ({ disclosure_hash: _, ...rest }) => rest),
    ),
    fromAnother: createCell("invalid disclosure.hash", replaceFiles(another, /^fingerprint\/disclosure\.txt$/)),
    contradicting: createCell("invalid cert.consistency", editCertificate({ disclosure_text: "I agree." })),
  },
  {
    member: "the commitments to the person's details",
    covers: ["subject/commitments.json", ...bundle("commitments")],
    boundBy: "`subject_hash` in the record",
    leftOut: createCell(
      "invalid fp.canonical",
      editJson("fingerprint/preimage.json", ({ subject_hash: _, ...rest }) => rest),
    ),
    fromAnother: createCell("invalid subject.commitments", replaceFiles(another, /^subject\//)),
    contradicting: createCell(
      "invalid subject.commitments",
      editJson("subject/commitments.json", (c) => ({ ...c, email: "00".repeat(32) })),
    ),
  },
  {
    member: "the disclosed details",
    covers: ["subject/disclosures.json", ...bundle("subject_disclosures")],
    boundBy: "the commitments",
    leftOut: createCell("invalid subject.commitments", removeFiles(/^subject\/commitments\.json$/)),
    fromAnother: createCell("invalid subject.disclosures", replaceFiles(another, /^subject\/disclosures\.json$/)),
    contradicting: createCell(
      "invalid subject.disclosures",
      editText("subject/disclosures.json", (before) => before.replace("pat@", "bat@")),
    ),
  },
  {
    member: "the masked details",
    covers: listCertificateMembers("subject"),
    boundBy: "the disclosed details",
    leftOut: createCell(
      "valid, not disclosed",
      combineChanges(
        (files) => setJson(files, "subject/disclosures.json", []),
        editJson("manifest.json", (m) => ({ ...m, redacted: ["subject.email", "subject.first_name", "subject.phone"] })),
        editJson("certificate.json", (c) => ({ ...c, subject: { ...(c.subject as JsonObject), email: "x***@y***.com" } })),
      ),
    ),
    fromAnother: createCell("invalid cert.consistency", editCertificate({ subject: readJson(another, "certificate.json").subject })),
    contradicting: createCell(
      "invalid cert.consistency",
      editJson("certificate.json", (c) => ({ ...c, subject: { ...(c.subject as JsonObject), phone: "***-***-**99" } })),
    ),
  },
  {
    member: "the evidence and its hash",
    covers: [...listCertificateMembers("evidence", "evidence_hash"), ...bundle("evidence", "evidence_hash")],
    boundBy: "the audit payload of the issuance",
    leftOut: createCell("incomplete audit.issuance", combineChanges(otherEvidence, removePayload("certificate.issued"))),
    fromAnother: createCell("invalid audit.chain", combineChanges(otherEvidence, copyPayload(another, "certificate.issued"))),
    contradicting: createCell("invalid audit.chain", otherEvidence),
  },
  {
    member: "live or sandbox",
    covers: listCertificateMembers("environment"),
    boundBy: "the audit payload of the issuance",
    leftOut: createCell(
      "incomplete audit.issuance",
      combineChanges(editCertificate({ environment: "sandbox" }), removePayload("certificate.issued")),
    ),
    fromAnother: createCell(
      "invalid audit.chain",
      combineChanges(editCertificate({ environment: "sandbox" }), copyPayload(another, "certificate.issued")),
    ),
    contradicting: createCell("invalid audit.issuance", editCertificate({ environment: "sandbox" })),
  },
  {
    member: "the browser's privacy signal",
    covers: listCertificateMembers("signals"),
    boundBy: "the evidence, the audit payload of the issuance",
    leftOut: createCell(
      "invalid audit.issuance",
      combineChanges(
        editCertificate({ evidence: null, signals: { gpc: true } }),
        editJson("manifest.json", (m) => ({ ...m, redacted: ["evidence"] })),
      ),
    ),
    fromAnother: createCell(
      "invalid cert.consistency",
      editCertificate({ evidence: readJson(another, "certificate.json").evidence, signals: { gpc: true } }),
    ),
    contradicting: createCell("invalid cert.consistency", editCertificate({ signals: { gpc: true } })),
  },
  {
    member: "the active status",
    covers: listCertificateMembers("status"),
    boundBy: "the absence of a `certificate.revoked` entry and a withdrawal statement",
    leftOut: createCell(
      "valid, as of the pack",
      combineChanges(activeAgain, removeFiles(/^anchors\/revoked\//), removeEntry("certificate.revoked"), removeEntry("business.ceased")),
    ),
    fromAnother: createCell(
      "invalid audit.chain",
      combineChanges(
        activeAgain,
        removeFiles(/^anchors\/revoked\//),
        removeEntry("business.ceased"),
        copyEntry(another, "certificate.revoked"),
      ),
    ),
    contradicting: createCell(
      "invalid audit.status",
      combineChanges(activeAgain, removeFiles(/^anchors\/revoked\//), removeEntry("business.ceased")),
    ),
  },
  {
    member: "the withdrawn status and its time",
    covers: [...listCertificateMembers("withdrawal"), ...bundle("withdrawal", "withdrawal_receipt")],
    boundBy: "the `certificate.revoked` entry and the withdrawal statement",
    leftOut: createCell("invalid audit.status", inventWithdrawal, active),
    fromAnother: createCell(
      "invalid revoke.statement",
      combineChanges(inventWithdrawal, replaceFiles(another, /^anchors\/revoked\//), copyEntry(another, "certificate.revoked")),
      active,
    ),
    contradicting: createCell("invalid revoke.statement", editWithdrawal({ withdrawn_at: "2026-04-05T07:07:08.009Z" })),
  },
  {
    member: "the withdrawal method and the deadline",
    covers: listCertificateMembers("cease_by"),
    boundBy: "the audit payload of the withdrawal",
    leftOut: createCell(
      "incomplete audit.status",
      combineChanges(editWithdrawal({ method: "manage_link" }), removePayload("certificate.revoked")),
    ),
    fromAnother: createCell(
      "invalid audit.chain",
      combineChanges(editWithdrawal({ method: "manage_link" }), copyPayload(another, "certificate.revoked")),
    ),
    contradicting: createCell("invalid audit.status", editWithdrawal({ method: "manage_link" })),
  },
  {
    member: "the list of withdrawn recipients",
    covers: listCertificateMembers("entities_withdrawn"),
    boundBy: "the signed receipt and the audit payload of each withdrawal",
    leftOut: createCell(
      "incomplete entities.receipt, audit.status",
      combineChanges(otherRecipient, removeReceipts, removePayload("certificate.entities_withdrawn")),
      partly,
    ),
    fromAnother: createCell(
      "invalid audit.chain",
      combineChanges(otherRecipient, removeReceipts, copyPayload(anotherPartly, "certificate.entities_withdrawn")),
      partly,
    ),
    contradicting: createCell(
      "invalid audit.status",
      combineChanges(otherRecipient, replaceReceipt({ entities: ["Acme Solar LLC"] }), removeFiles(/^anchors\/withdrawn/)),
      partly,
    ),
  },
  {
    member: "the signed receipt of a withdrawal for individual recipients",
    covers: ["withdrawals/*/receipt.json", "withdrawals/*/signature.json", ...bundle("entity_withdrawal_receipts")],
    boundBy: "the issuer's signature, the certificate and its statement in the ledger",
    leftOut: createCell("incomplete entities.receipt", removeFiles(/^withdrawals\//), partly),
    fromAnother: createCell("invalid entities.receipt", replaceFiles(anotherPartly, /^withdrawals\//), partly),
    contradicting: createCell("invalid entities.receipt", replaceReceipt({ method: "manage_link" }), partly),
  },
  {
    member: "the ledger's proof of a withdrawal for individual recipients",
    covers: ["statement.json", "receipt.json", "entry.tlog-proof", "attested.tlog-proof", "checkpoint.txt", "checkpoint.tsr"].map(
      (name) => `anchors/withdrawn-*/${name}`,
    ),
    boundBy: "the signed receipt (its hash is in the statement), the ledger's signature and its proof",
    leftOut: createCell("incomplete entities.anchor", removeFiles(/^anchors\/withdrawn-1\//), partly),
    fromAnother: createCell("invalid entities.anchor", replaceFiles(anotherPartly, /^anchors\/withdrawn-1\//), partly),
    contradicting: createCell(
      "invalid entities.attest",
      (files) => setText(files, "anchors/withdrawn-1/attested.tlog-proof", readText(files, "anchors/issued/attested.tlog-proof")),
      partly,
    ),
  },
  {
    member: "the acknowledgments for individual recipients",
    covers: [],
    boundBy: "the payload of the `business.entities_ceased` entry",
    leftOut: createCell("invalid audit.status", removeEntry("business.entities_ceased"), ceased),
    fromAnother: createCell("invalid audit.chain", copyEntry(anotherCeased, "business.entities_ceased"), ceased),
    contradicting: createCell(
      "invalid audit.status",
      editJson("certificate.json", (c) => ({
        ...c,
        entities_withdrawn: (c.entities_withdrawn as JsonObject[]).map((one) => ({ ...one, cease_acknowledged_at: null })),
      })),
      ceased,
    ),
  },
  {
    member: "the business's acknowledgment",
    covers: [],
    boundBy: "the `business.ceased` entry",
    leftOut: createCell("invalid audit.status", removeEntry("business.ceased")),
    fromAnother: createCell("invalid audit.chain", copyEntry(another, "business.ceased")),
    contradicting: createCell("invalid audit.status", editWithdrawal({ cease_acknowledged_at: null })),
  },
  {
    member: "the erasure of the person's data",
    covers: listCertificateMembers("subject_erased_at"),
    boundBy: "the `certificate.subject_erased` entry",
    leftOut: createCell("invalid audit.status", removeEntry("certificate.subject_erased"), erased),
    fromAnother: createCell("invalid audit.chain", copyEntry(anotherErased, "certificate.subject_erased"), erased),
    contradicting: createCell("invalid audit.status", editCertificate({ subject_erased_at: "2026-05-05T06:07:08.009Z" }), erased),
  },
  {
    member: "the list of linked policies",
    covers: ["policies/index.json", ...listCertificateMembers("policies", "policies_status"), ...bundle("policies")],
    boundBy: "the payload of the `policy.linked` entry",
    leftOut: createCell("incomplete audit.policies", combineChanges(replacePolicy, removePayload("policy.linked"))),
    fromAnother: createCell("invalid audit.chain", combineChanges(replacePolicy, copyPayload(another, "policy.linked"))),
    contradicting: createCell("invalid audit.policies", replacePolicy),
  },
  {
    member: "a policy's URL and capture time",
    covers: [],
    boundBy: "the payload of the `policy.linked` entry",
    leftOut: createCell("incomplete audit.policies", combineChanges(changeSource, removePayload("policy.linked"))),
    fromAnother: createCell("invalid audit.chain", combineChanges(changeSource, copyPayload(another, "policy.linked"))),
    contradicting: createCell("invalid audit.policies", changeSource),
  },
  {
    member: "the text of a policy",
    covers: ["policies/privacy-*.txt", "policies/terms-*.txt"],
    boundBy: "its hash in the index",
    leftOut: createCell(
      "incomplete policies.hash",
      combineChanges(removeFiles(/^policies\/.*\.txt$/), (files) => {
        const index = readJson(files, "policies/index.json") as JsonObject[];
        setJson(
          files,
          "policies/index.json",
          index.map((one) => ({ ...one, path: null })),
        );
      }),
    ),
    fromAnother: createCell("invalid policies.hash", replaceFiles(another, /^policies\/.*\.txt$/)),
    contradicting: createCell("invalid policies.hash", (files) => {
      const path = [...files.keys()].find((one) => one.startsWith("policies/terms-")) as string;
      setText(files, path, "Other terms.");
    }),
  },
  {
    member: "a statement for the ledger",
    covers: ["anchors/issued/statement.json", "anchors/revoked/statement.json"],
    boundBy: "the record and the withdrawal (the verifier rebuilds the statement from them)",
    leftOut: createCell(
      "incomplete anchor.statement",
      combineChanges(removeFiles(/^anchors\/issued\//), editCertificate({ anchor: null })),
    ),
    fromAnother: createCell("invalid anchor.statement", replaceFiles(another, /^anchors\/issued\//)),
    contradicting: createCell(
      "invalid revoke.statement",
      replaceFiles(
        new Map([["anchors/revoked/statement.json", withdrawn.get("anchors/issued/statement.json")!]]),
        /^anchors\/revoked\/statement\.json$/,
      ),
    ),
  },
  {
    member: "the anchor on the certificate",
    covers: [...listCertificateMembers("anchor"), ...bundle("ledger")],
    boundBy: "the receipt",
    leftOut: createCell("incomplete anchor.entry_hash", removeFiles(/^anchors\/issued\/(?!statement)/)),
    fromAnother: createCell("invalid anchor.entry_hash", replaceFiles(another, /^anchors\/issued\/receipt\.json$/)),
    contradicting: createCell("invalid anchor.note", editAnchor({ tree_size: "21" })),
  },
  {
    member: "the ledger's receipt",
    covers: [
      "anchors/issued/receipt.json",
      "anchors/issued/entry.tlog-proof",
      "anchors/revoked/receipt.json",
      "anchors/revoked/entry.tlog-proof",
    ],
    boundBy: "the ledger's signature and its proof",
    leftOut: createCell("invalid anchor.inclusion", removeFiles(/^anchors\/issued\/entry\.tlog-proof$/)),
    fromAnother: createCell("invalid revoke.entry_hash", replaceFiles(another, /^anchors\/revoked\/(?:receipt\.json|entry\.tlog-proof)$/)),
    contradicting: createCell(
      "invalid anchor.inclusion",
      replaceFiles(
        new Map([["anchors/issued/entry.tlog-proof", withdrawn.get("anchors/revoked/entry.tlog-proof")!]]),
        /^anchors\/issued\/entry\.tlog-proof$/,
      ),
    ),
  },
  {
    member: "attestations by others",
    covers: ["issued", "revoked"].flatMap((event) =>
      ["checkpoint.txt", "checkpoint.tsr", "attested.tlog-proof"].map((name) => `anchors/${event}/${name}`),
    ),
    boundBy: "the signatures of the witnesses and the authority, if the reader requires them",
    leftOut: createCell(
      "incomplete attest.inclusion, attest.cosign, attest.tsa",
      combineChanges(
        removeFiles(/^anchors\/issued\/(?:checkpoint|attested)/),
        editCertificate({ anchor: { ...readJson(withdrawn, "certificate.json").anchor, attested: null } }),
      ),
    ),
    fromAnother: createCell("invalid attest.inclusion", replaceFiles(another, /^anchors\/issued\/(?:checkpoint|attested)/)),
    contradicting: createCell(
      "invalid attest.tsa",
      combineChanges(
        (files) => setText(files, "anchors/issued/checkpoint.txt", readJson(withdrawn, "anchors/issued/receipt.json").signed_root),
        (files) => setText(files, "anchors/issued/attested.tlog-proof", readText(withdrawn, "anchors/issued/entry.tlog-proof")),
      ),
    ),
  },
  {
    member: "an audit entry",
    covers: ["audit/entries.jsonl", "audit/*.tlog-proof", ...bundle("audit")],
    boundBy: "its proof in the audit log",
    leftOut: createCell("invalid audit.inclusion", removeFiles(/^audit\/3\.tlog-proof$/)),
    fromAnother: createCell("invalid audit.chain", copyEntry(another, "policy.linked")),
    contradicting: createCell("invalid audit.inclusion", (files) =>
      writeEntries(
        files,
        readEntries(files).map((entry) => (entry.seq === "3" ? { ...entry, at: "2026-03-04T05:06:16.090Z" } : entry)),
      ),
    ),
  },
  {
    member: "the payload of an audit entry",
    covers: ["audit/payloads.json"],
    boundBy: "`payload_hash` in its entry",
    leftOut: createCell(
      "invalid audit.chain",
      combineChanges(removeEntry("certificate.subject_read"), (files) =>
        setJson(files, "audit/payloads.json", readJson(withdrawn, "audit/payloads.json")),
      ),
    ),
    fromAnother: createCell("invalid audit.chain", replaceFiles(another, /^audit\/payloads\.json$/)),
    contradicting: createCell(
      "invalid audit.chain",
      editText("audit/payloads.json", (before) => before.replace("api_key:key_1", "nobody")),
    ),
  },
  {
    member: "the length of the chain",
    covers: ["audit/heads.json", "audit/heads-record.json", "audit/heads-record.tlog-proof"],
    boundBy: "the log's record of chain lengths and its proof",
    leftOut: createCell("incomplete audit.heads", removeFiles(/^audit\/heads/)),
    fromAnother: createCell("invalid audit.heads", replaceFiles(another, /^audit\/heads/)),
    contradicting: createCell(
      "invalid audit.heads",
      editText("audit/heads.json", (before) => before.replace('\\"seq\\":\\"7\\"', '\\"seq\\":\\"6\\"')),
    ),
  },
  {
    member: "the list of deliberate omissions",
    covers: ["manifest.json"],
    boundBy: "the content that is present",
    leftOut: createCell("invalid cert.consistency", editCertificate({ evidence: null })),
    fromAnother: createCell(
      "invalid cert.consistency",
      editJson("manifest.json", (m) => ({ ...m, cert_id: readJson(another, "manifest.json").cert_id })),
    ),
    contradicting: createCell(
      "invalid cert.consistency",
      editJson("manifest.json", (m) => ({ ...m, redacted: ["evidence"] })),
    ),
  },
  {
    member: pageRow,
    covers: ["certificate.html", "README.txt", ...bundle("how_to_verify")],
    boundBy:
      "for `certificate.html`: the certificate, because the verifier renders the page again; for README.txt: the certificate ID and the manifest's signature",
    leftOut: createCell("invalid cert.consistency", (files) => setText(files, "certificate.html", "<p>Consent.</p>")),
    fromAnother: createCell("invalid cert.consistency", replaceFiles(another, /^(?:certificate\.html|README\.txt)$/)),
    contradicting: createCell(
      "invalid cert.consistency",
      editText("certificate.html", (before) => before.replace("Withdrawn", "Active")),
    ),
  },
  {
    member: "the list of views of the public page",
    covers: ["views.json", ...listCertificateMembers("view_count"), ...bundle("views")],
    boundBy: "the manifest's signature",
    leftOut: createCell("invalid zip.structure", removeFiles(/^views\.json$/)),
    fromAnother: createCell("valid, issuer's word", replaceFiles(another, /^views\.json$/)),
    contradicting: createCell("valid, issuer's word", editCertificate({ view_count: 7 })),
  },
  {
    member: "the URL of the certificate's public page",
    covers: listCertificateMembers("verify_url"),
    boundBy: "the certificate ID in the URL",
    leftOut: createCell("invalid cert.consistency", editCertificate({ verify_url: null })),
    fromAnother: createCell("invalid cert.consistency", editCertificate({ verify_url: readJson(another, "certificate.json").verify_url })),
    contradicting: createCell("invalid cert.consistency", editCertificate({ verify_url: "https://svc.example/" })),
  },
  {
    member: "the business's identity and the service's list of checks",
    covers: [
      ...listCertificateMembers("identity", "checks", "status_list"),
      ...bundle("identity", "bundle_version", "generated_at", "certificate"),
    ],
    boundBy: "the manifest's signature",
    leftOut: createCell("valid, issuer's word", editCertificate({ identity: null, checks: [] })),
    fromAnother: createCell(
      "valid, issuer's word",
      editCertificate({ identity: { legal_name: "Another LLC", mailing_address: null, contact: null } }),
    ),
    contradicting: createCell(
      "valid, issuer's word",
      editCertificate({ checks: [{ id: "domain", result: "verified", note: "Everything was checked." }] }),
    ),
  },
  {
    member: "the lists of files",
    covers: ["MANIFEST.sha256", "MANIFEST.note"],
    boundBy: "a trusted key of the issuer",
    leftOut: createCell("invalid zip.structure", removeFiles(/^MANIFEST\.note$/)),
    fromAnother: createCell("invalid manifest.files", replaceFiles(another, /^(?:manifest\.json|MANIFEST\.sha256|MANIFEST\.note)$/)),
    contradicting: createCell(
      "invalid manifest.files",
      editText("views.json", () => "[]"),
    ),
  },
  {
    member: "the copy of the trust document",
    covers: ["trust/trust.json", ...bundle("issuer_keys")],
    boundBy: "nothing, because the reader's own document is used",
    leftOut: createCell("invalid zip.structure", removeFiles(/^trust\/trust\.json$/)),
    fromAnother: createCell(
      "valid, other keys",
      combineChanges(
        editJson("trust/trust.json", (t) => ({ ...t, issuer_keys: { keys: stranger.publicKeys.map((key) => ({ ...key })) } })),
      ),
    ),
    contradicting: createCell(
      "valid, your own keys",
      editJson("trust/trust.json", (t) => ({ ...t, policy: { witness_min: 0 } })),
    ),
  },
  {
    member: "the keys as PEM",
    covers: ["trust/issuer-*.pem", "trust/tsa-*.pem"],
    boundBy: "the key IDs in the file names and the trust document",
    leftOut: createCell("valid, your own keys", removeFiles(/^trust\/.*\.pem$/)),
    fromAnother: createCell(
      "invalid trust.copies",
      editText(issuerPem, () => strangerPem),
    ),
    contradicting: createCell(
      "invalid trust.copies",
      editText(tsaPem, (before) => `${before}\n`),
    ),
  },
];

/** Zips the files. First updates the file lists and the page to match the files, except in the rows that test the lists or the page. */
const packRow = async (row: Row, files: Files): Promise<Uint8Array> => {
  if (row.member === "the lists of files") return zipFiles(files);
  return zipFiles(await resignFiles(relistFiles(row.member === pageRow ? files : withFittingPage(files)), issuer));
};

const listCells = (row: Row): readonly (readonly [string, Cell])[] => [
  ["left out", row.leftOut],
  ["taken from another certificate", row.fromAnother],
  ["contradicting it", row.contradicting],
];

describe.each(rows.map((row) => [row.member, row] as const))("%s, with the evidence that binds it", (_, row) => {
  test.each(listCells(row))("%s (T7)", async (_how, { verdict: expected, change, pack = withdrawn }) => {
    const files = new Map(pack);
    await change(files);
    const report = await verifyPack(await packRow(row, files), { ...defaultVerificationOptions, trust: trustOf(trustDocument) });
    const [verdict, named = ""] = [expected.slice(0, expected.search(/[ ,]/)), expected.replace(/^\w+,? /, "")];
    expect(report.verdict, report.failed ?? report.missing.join("; ")).toBe(verdict);
    if (verdict === "invalid") expect(report.failed).toBe(named);
    if (verdict === "incomplete") expect(report.missing.map((line) => line.slice(0, line.indexOf(":"))).join(", ")).toBe(named);
    if (verdict === "valid") expect(report.notes).toContainEqual(expect.stringMatching(notes[named] as RegExp));
  });
});

describe("the table", () => {
  const covered = rows.flatMap(({ covers }) => covers);
  const isCovered = (path: string): boolean =>
    covered.includes(
      path
        .replace(/-[0-9a-f]{64}\.txt$/, "-*.txt")
        .replace(/^audit\/\d+\./, "audit/*.")
        .replace(/^withdrawals\/\d+\//, "withdrawals/*/")
        .replace(/^anchors\/withdrawn-\d+\//, "anchors/withdrawn-*/")
        .replace(/^trust\/(issuer|tsa)-.*\.pem$/, "trust/$1-*.pem"),
    );

  test("has every file of a pack, every member of its certificate and every member of the JSON bundle", async () => {
    const packs = [
      withdrawn,
      active,
      erased,
      ceased,
      await buildPackFiles((await buildWorld({ redacted: true, accepted: ["Acme Solar LLC"] })).parts),
    ];
    const recordMembers = ["certificate.json", "certificate.json#entities_accepted", "certificate.json#entities_rejected"]; // these members are part of the record
    const members = packs.flatMap((pack) => [
      ...pack.keys(),
      ...Object.keys(readJson(pack, "certificate.json")).map((name) => `certificate.json#${name}`),
    ]);
    const bundled = Object.keys({ ...buildEvidenceBundle(parts), ...buildEvidenceBundle((await buildWorld(ceasedWorld)).parts) }).map(
      (name) => `bundle#${name}`,
    );
    expect([...new Set([...members, ...bundled])].filter((path) => !isCovered(path) && !recordMembers.includes(path))).toEqual([]);
  });

  test("is the one in docs/reference/proof-checks.md", () => {
    const formatCell = ({ verdict }: Cell): string => verdict.replace(/[a-z]+\.[a-z_]+/g, "`$&`");
    const table = [
      "| Member | Bound by | Left out | From another certificate | Contradicting |",
      "|---|---|---|---|---|",
      ...rows.map((row) => `| ${[row.member, row.boundBy, ...listCells(row).map(([, one]) => formatCell(one))].join(" | ")} |`),
    ].join("\n");
    expect(readFileSync("docs/reference/proof-checks.md", "utf8")).toContain(table);
  });
});

describe("withdrawals for individual recipients", () => {
  const getVerdictAfter = async (change: Change): Promise<string> => {
    const files = new Map(partly);
    await change(files);
    const report = await verifyPack(zipFiles(await resignFiles(relistFiles(withFittingPage(files)), issuer)), {
      ...defaultVerificationOptions,
      trust: trustOf(trustDocument),
    });
    return `${report.verdict} ${report.failed ?? ""}`.trim();
  };
  const editWithdrawnList = (change: (list: JsonObject[]) => Json): Change =>
    editJson("certificate.json", (c) => ({ ...c, entities_withdrawn: change(c.entities_withdrawn as JsonObject[]) }));

  test.each<[string, Change, string]>([
    ["are unchanged", () => undefined, "valid"],
    ["are omitted", editJson("certificate.json", ({ entities_withdrawn: _, ...rest }) => rest), "invalid entities.receipt"],
    [
      "are omitted, with their receipts",
      combineChanges(
        removeReceipts,
        editJson("certificate.json", ({ entities_withdrawn: _, ...rest }) => rest),
      ),
      "invalid audit.status",
    ],
    [
      "are from a pack made before packs contained receipts",
      combineChanges(
        removeReceipts,
        editWithdrawnList((l) =>
          l.map(({ entity, withdrawn_at, cease_by, receipt_url }) => ({ entity, withdrawn_at, cease_by, receipt_url }) as JsonObject),
        ),
      ),
      "valid",
    ],
    [
      "were received by the business later than they were made",
      editWithdrawnList((l) => l.map((one) => ({ ...one, received_at: "2026-12-01T23:59:59.999Z" }))),
      "invalid cert.consistency",
    ],
    ["have another method", editWithdrawnList((l) => l.map((one) => ({ ...one, method: "manage_link" }))), "invalid entities.receipt"],
    [
      "have another method, without receipts",
      combineChanges(
        removeReceipts,
        editWithdrawnList((l) => l.map((one) => ({ ...one, method: "manage_link" }))),
      ),
      "invalid audit.status",
    ],
    [
      "have another deadline",
      editWithdrawnList((l) => l.map((one) => ({ ...one, cease_by: "2026-12-01T23:59:59.999Z" }))),
      "invalid cert.consistency",
    ],
    [
      "were withdrawn before the issuance",
      editWithdrawnList((l) => l.map((one) => ({ ...one, withdrawn_at: "2020-01-01T00:00:00.000Z" }))),
      "invalid cert.consistency",
    ],
    ["were never named", editWithdrawnList((l) => l.map((one) => ({ ...one, entity: "Nobody Ltd" }))), "invalid cert.consistency"],
    ["are listed twice", editWithdrawnList((l) => [...l, ...l]), "invalid cert.consistency"],
    [
      "are for all recipients of an active certificate",
      editJson("certificate.json", (c) => {
        const [first] = c.entities_withdrawn as JsonObject[];
        return { ...c, entities_withdrawn: (c.entities as string[]).map((entity) => ({ ...first, entity })) };
      }),
      "invalid cert.consistency",
    ],
    ["are an empty list", editWithdrawnList(() => []), "invalid cert.consistency"],
  ])("%s", async (_, change, expected) => {
    expect(await getVerdictAfter(change)).toBe(expected);
  });
});
