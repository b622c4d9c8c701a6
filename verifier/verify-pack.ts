// The whole check of an evidence pack, offline: from the bytes of the zip and the keys the reader trusts to one report. Every
// check that can be made is made; the first that fails names the verdict.
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { parseZip } from "../core/certificates/evidence-zip.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import { maskFieldValue } from "../core/masking.ts";
import { memoizeNoteCrypto, type NoteCrypto } from "../core/ledger/note.ts";
import { minuteMs } from "../core/time.ts";
import { checkEntityWithdrawals, type EntityWithdrawalEvidence } from "./entity-withdrawals.ts";
import { checkAnchor, buildExpectedStatement, type AnchorContext, type AnchorEvidence } from "./anchor.ts";
import { checkChain, checkHeads, checkInclusion, parseEntries, describeStaleHeads } from "./audit.ts";
import { checkIssuance, checkPolicyLinks, checkStatus, parsePayloads, type AuditHistory } from "./audit-history.ts";
import { fail, incomplete, pass, buildReport, skipped, type CheckId, type Finding, type Findings, type Report } from "./checks.ts";
import { canVerifyEd25519, ed25519UnsupportedNote, webCrypto } from "./crypto.ts";
import { isIsoInstant, asObject, parseCanonical, asString, asStrings, decodeText, type JsonObject } from "./json.ts";
import { findLayoutFault } from "./layout.ts";
import { checkFiles, checkSignature, checkTrustCopies, parseManifest, type Manifest } from "./manifest.ts";
import * as record from "./record.ts";
import { trustOf, type Trust } from "./trust.ts";

export interface VerificationOptions {
  /** The reader's own trust document; null uses the copy in the pack, which proves nothing by itself. */
  readonly trust: Trust | null;
  /** Hex, as the reader was told it elsewhere. */
  readonly expectedFingerprint: string | null;
  /** A time stamp is asked for when the trust names an authority, or when this is true. */
  readonly requiresTimestamp: boolean;
  /** Witnesses are asked for as the trust's policy says, or as many as this. */
  readonly witnessMin: number;
}

export const defaultVerificationOptions: VerificationOptions = {
  trust: null,
  expectedFingerprint: null,
  requiresTimestamp: false,
  witnessMin: 0,
};

const maxZipBytes = 20 * 1_024 * 1_024;

type PackFiles = ReadonlyMap<string, Uint8Array>;

export const createAnchorContext = (crypto: NoteCrypto, trust: Trust | null, demands: VerificationOptions): AnchorContext => ({
  crypto,
  trust,
  requiresTimestamp: demands.requiresTimestamp || (trust?.authorities.length ?? 0) > 0,
  witnessMin: Math.max(demands.witnessMin, trust?.witnessMin ?? 0),
});

const loadAnchorEvidence = (files: PackFiles, folder: string, published: JsonObject | null): AnchorEvidence => {
  const text = (name: string): string | null => decodeText(files.get(`anchors/${folder}/${name}`));
  return {
    statement: text("statement.json"),
    published,
    receipt: text("receipt.json"),
    entryProof: text("entry.tlog-proof"),
    rekorBody: files.get(`anchors/${folder}/rekor.json`) ?? null,
    attestedProof: text("attested.tlog-proof"),
    attestedNote: text("checkpoint.txt"),
    timestampReply: files.get(`anchors/${folder}/checkpoint.tsr`) ?? null,
  };
};

const loadEntityWithdrawalEvidence = (files: PackFiles, number: number): EntityWithdrawalEvidence => ({
  receipt: decodeText(files.get(`withdrawals/${number}/receipt.json`)),
  signature: decodeText(files.get(`withdrawals/${number}/signature.json`)),
  anchor: loadAnchorEvidence(files, `withdrawn-${number}`, null),
});

/** Numbers of the withdrawals from single recipients of which any file is there. */
const listEntityWithdrawalNumbers = (files: PackFiles): number[] =>
  [
    ...new Set(
      [...files.keys()].flatMap((path) => Number(/^(?:withdrawals\/|anchors\/withdrawn-)([0-9]+)\//.exec(path)?.[1] ?? Number.NaN)),
    ),
  ].filter((number) => !Number.isNaN(number));

const maxClockSkewMs = 5 * minuteMs; // between an authority's clock and the issuer's

/** Issued, then withdrawn; and nobody attested the issuance before it happened. */
export const checkTimeOrder = (
  issuedAt: string,
  withdrawnAt: unknown,
  attestedAt: number | null,
  withdrawalAttestedAt: number | null,
): Finding => {
  const issued = Date.parse(issuedAt);
  const withdrawn = isIsoInstant(withdrawnAt) ? Date.parse(withdrawnAt) : null;
  if (withdrawn !== null && withdrawn < issued) return fail("it was withdrawn before it was issued");
  if (attestedAt !== null && attestedAt < issued - maxClockSkewMs) return fail("a time stamp is older than the certificate");
  if (withdrawn !== null && withdrawalAttestedAt !== null && withdrawalAttestedAt < withdrawn - maxClockSkewMs) {
    return fail("a time stamp is older than the withdrawal");
  }
  return pass(withdrawn === null ? `issued ${issuedAt}` : `issued ${issuedAt}, withdrawn ${withdrawnAt}`);
};

/** Both anchors of a certificate and the order of its times. `exhibits` gives what is shown of each. */
export const checkAnchors = async (
  findings: Findings,
  certificate: JsonObject,
  preimage: Preimage,
  fingerprint: string,
  exhibits: (event: "issued" | "revoked", published: JsonObject | null) => AnchorEvidence,
  context: AnchorContext,
): Promise<void> => {
  const at = preimage.timestamp;
  const issuance = exhibits("issued", asObject(certificate.anchor));
  const { time } = await checkAnchor(
    findings,
    "issued",
    buildExpectedStatement("certificate.issued", preimage, fingerprint, at),
    issuance,
    context,
  );

  const withdrawal = asObject(certificate.withdrawal);
  const revocation = exhibits("revoked", asObject(withdrawal?.anchor));
  const withdrawnAt = withdrawal?.withdrawn_at;
  let revokedTime: number | null = null;
  if (certificate.status !== "revoked") {
    const none =
      revocation.statement === null ? skipped("it is not withdrawn") : fail("a withdrawal is shown of a certificate that is active");
    findings.set("revoke.statement", none);
  } else if (!isIsoInstant(withdrawnAt)) {
    findings.set("revoke.statement", fail("the certificate does not say when it was withdrawn"));
  } else {
    const expected = buildExpectedStatement("certificate.revoked", preimage, fingerprint, withdrawnAt);
    revokedTime = (await checkAnchor(findings, "revoked", expected, revocation, context)).time;
  }
  findings.set("time.order", checkTimeOrder(at, withdrawnAt, time, revokedTime));
};

const findEvidenceFault = (certificate: JsonObject, redacted: readonly string[]): string | null => {
  const evidence = asObject(certificate.evidence);
  const isRedacted = redacted.includes("evidence");
  if (evidence === null) return isRedacted || isIsoInstant(certificate.subject_erased_at) ? null : "the evidence is missing";
  if (isRedacted) return "the evidence is there that the manifest says was left out";
  if (sha256Hex(toCanonicalJson(evidence)) !== certificate.evidence_hash) return "the evidence is not what its hash says";
  return evidence.gpc === asObject(certificate.signals)?.gpc ? null : "certificate and evidence differ in the signal of the browser";
};

/** What the certificate, the manifest and the disclosures say of the person's details, against the commitments to them. */
const findSubjectFault = (certificate: JsonObject, redacted: readonly string[], files: PackFiles): string | null => {
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
  return other === undefined ? null : `the certificate shows another ${other[0]} than is disclosed`;
};

/** Pages for people bear the certificate's id, so that those of another are found out. What else they say is the issuer's word. */
const findPagesFault = (files: PackFiles, certId: string): string | null => {
  const other = ["certificate.html", "README.txt"].find((path) => !decodeText(files.get(path))?.includes(certId));
  return other === undefined ? null : `${other} is about another certificate`;
};

const findContentsFault = (files: PackFiles, manifest: Manifest | null, certificate: JsonObject, certId: string): string | null =>
  manifest?.certId === certId
    ? (findEvidenceFault(certificate, manifest.redacted) ??
      findSubjectFault(certificate, manifest.redacted, files) ??
      findPagesFault(files, certId))
    : "the manifest is about another certificate";

/** What the checks of one pack share. */
interface OpenedPack {
  readonly crypto: NoteCrypto;
  readonly files: PackFiles;
  readonly trust: Trust | null;
  readonly findings: Findings;
  readonly certificate: JsonObject | null;
  readonly canonical: string | null;
  readonly preimage: Preimage | null;
}

const checkRecord = async (
  { crypto, files, trust, findings, certificate, canonical, preimage }: OpenedPack,
  demands: VerificationOptions,
): Promise<void> => {
  const set = (id: CheckId, finding: Finding): void => {
    findings.set(id, finding);
  };
  set("fp.canonical", record.checkCanonical(preimage));
  set("fp.hash", record.checkFingerprint(canonical, certificate?.fingerprint, demands.expectedFingerprint));
  const commitments = decodeText(files.get("subject/commitments.json"));
  set("subject.disclosures", record.checkDisclosures(decodeText(files.get("subject/disclosures.json")), commitments));
  const policyPaths = [...files.keys()].filter((path) => /^policies\/.*\.txt$/.test(path));
  const index = parseCanonical(decodeText(files.get("policies/index.json")));
  set(
    "policies.hash",
    record.checkPolicies(index, certificate?.policies, policyPaths, (path) => {
      const bytes = files.get(path);
      return bytes === undefined ? undefined : sha256Hex(bytes);
    }),
  );
  if (certificate === null) set("cert.consistency", fail("certificate.json is not canonical JSON"));
  if (preimage === null || canonical === null) return;
  set("fp.arrays", record.checkArrays(preimage));
  set("disclosure.hash", record.checkDisclosure(files.get("fingerprint/disclosure.txt") as Uint8Array, preimage));
  set("subject.commitments", record.checkCommitments(commitments, preimage, certificate?.subject_erased_at));
  if (certificate === null) return;
  const fault = findContentsFault(files, parseManifest(files), certificate, preimage.cert_id);
  set("cert.consistency", fault !== null ? fail(fault) : await record.checkCertificate(crypto, certificate, preimage, canonical, trust));
};

const checkAudit = async ({ crypto, files, trust, findings, certificate, canonical, preimage }: OpenedPack): Promise<void> => {
  const text = decodeText(files.get("audit/entries.jsonl"));
  if (!files.has("audit/entries.jsonl")) {
    const parts = [...files.keys()].filter((path) => path.startsWith("audit/"));
    findings.set(
      "audit.chain",
      parts.length > 0 ? fail("audit/entries.jsonl is missing") : incomplete("the audit log holds nothing of it yet"),
    );
    return;
  }
  const entries = text === null ? 1 : parseEntries(text);
  if (typeof entries === "number") {
    findings.set("audit.chain", fail(`line ${entries} of audit/entries.jsonl is not an entry`));
    return;
  }
  if (preimage === null || canonical === null) return;
  const fingerprint = sha256Hex(canonical);
  findings.set("audit.chain", checkChain(files, { entries, preimage, fingerprint, evidenceHash: certificate?.evidence_hash }));
  const logged = { crypto, trust, files, entries, createdAt: parseManifest(files)?.createdAt ?? "" };
  findings.set("audit.inclusion", await checkInclusion(logged));
  findings.set("audit.heads", await checkHeads(logged));
  if (certificate === null) return;
  const payloads = parsePayloads(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  const history: AuditHistory = { entries, payloads, certificate };
  findings.set("audit.issuance", checkIssuance(history));
  findings.set("audit.status", checkStatus(history));
  findings.set("audit.policies", checkPolicyLinks(history));
};

/** Every key a document names, for comparison. */
const listKeyNames = ({ ledgers, auditLogs, witnesses, authorities, issuerKeys, anchorKeys }: Trust): string[] => [
  ...[...ledgers, ...auditLogs].map(({ vkey }) => vkey),
  ...witnesses.map(({ name, keyId }) => `${name}+${keyId}`),
  ...authorities.map(({ spkiSha256 }) => spkiSha256),
  ...issuerKeys.map(({ kid }) => kid),
  ...anchorKeys,
];

const activeStatusNote =
  "That it is active is as of the pack: a withdrawal since then, or one that the issuer left out, shows when you ask for the certificate.";

const buildNotes = (files: PackFiles, certificate: JsonObject | null, given: Trust | null, bundled: Trust | null): string[] => {
  const manifest = parseManifest(files);
  const redacted = manifest?.redacted ?? [];
  const stale = describeStaleHeads(files, manifest?.createdAt ?? "");
  const evidence = redacted.filter((name) => !name.startsWith("subject."));
  const subject = redacted.filter((name) => name.startsWith("subject."));
  const known = given === null ? [] : listKeyNames(given);
  const isOther = given !== null && bundled !== null && listKeyNames(bundled).some((name) => !known.includes(name));
  return [
    ...(isOther ? ["The pack's own copy of the trust document names keys that yours does not."] : []),
    ...(stale !== null ? [stale] : []),
    ...(subject.length > 0 ? [`Not disclosed: ${subject.map((name) => name.slice("subject.".length)).join(", ")}.`] : []),
    ...(evidence.length > 0 ? [`Left out on purpose: ${evidence.join(", ")}.`] : []),
    ...(certificate?.environment === "sandbox" ? ["A sandbox certificate, for trying out. It proves nothing."] : []),
    ...(certificate?.status === "active" ? [activeStatusNote] : []),
    "README.txt, certificate.html and views.json are covered by the issuer's signature alone, and so are the business's details, view counts and addresses in certificate.json.",
  ];
};

/** Checks a pack from its bytes alone. */
export const verifyPack = async (zip: Uint8Array, demands: VerificationOptions, given: NoteCrypto = webCrypto): Promise<Report> => {
  const crypto = memoizeNoteCrypto(given);
  const findings: Findings = new Map();
  const opened = parseZip(zip, maxZipBytes);
  const structure = opened.ok ? findLayoutFault([...opened.files.keys()]) : opened.fault;
  if (!opened.ok || structure !== null) {
    findings.set("zip.structure", fail(structure ?? "not_a_zip"));
    return buildReport(findings, { cert_id: null, fingerprint: null, trust: demands.trust === null ? "none" : "given", notes: [] });
  }
  const { files } = opened;
  findings.set("zip.structure", pass(`${files.size} files`));

  const bundled = trustOf(parseCanonical(decodeText(files.get("trust/trust.json"))));
  const isAble = await canVerifyEd25519(crypto);
  const trust = isAble ? (demands.trust ?? bundled) : null;
  findings.set("manifest.files", checkFiles(files));
  findings.set("manifest.signature", await checkSignature(crypto, files, trust));
  findings.set("trust.copies", checkTrustCopies(files));

  const certificate = asObject(parseCanonical(decodeText(files.get("certificate.json"))));
  const canonical = decodeText(files.get("fingerprint/preimage.json"));
  const preimage = record.parsePreimage(canonical);
  const pack: OpenedPack = { crypto, files, trust, findings, certificate, canonical, preimage };
  await checkRecord(pack, demands);
  if (certificate !== null && preimage !== null && canonical !== null) {
    const exhibits = (event: "issued" | "revoked", published: JsonObject | null): AnchorEvidence =>
      loadAnchorEvidence(files, event, published);
    const fingerprint = sha256Hex(canonical);
    const context = createAnchorContext(crypto, trust, demands);
    await checkAnchors(findings, certificate, preimage, fingerprint, exhibits, context);
    const exhibit = (number: number): EntityWithdrawalEvidence => loadEntityWithdrawalEvidence(files, number);
    await checkEntityWithdrawals(findings, certificate, { preimage, fingerprint }, listEntityWithdrawalNumbers(files), exhibit, context);
  }
  await checkAudit(pack);
  return buildReport(findings, {
    cert_id: preimage?.cert_id ?? asString(certificate?.cert_id),
    fingerprint: canonical === null ? null : sha256Hex(canonical),
    trust: demands.trust !== null ? "given" : bundled !== null ? "bundled" : "none",
    notes: [...(isAble ? [] : [ed25519UnsupportedNote]), ...buildNotes(files, certificate, demands.trust, bundled)],
  });
};
