// Checks a complete evidence pack offline. The input is the bytes of the zip and the reader's keys, and the output is one report. Every
// check that is possible runs, even after a failure. The report contains the ID of the first failed check.
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { parseZip, type PackFiles } from "../core/certificates/evidence-zip.ts";
import { toCanonicalJson, type JsonObject } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import { maskFieldValue } from "../core/masking.ts";
import { memoizeNoteCrypto, type NoteCrypto } from "../core/ledger/note.ts";
import { minuteMs } from "../core/time.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { findPageFault } from "./certificate-page.ts";
import { checkEntityWithdrawals, type EntityWithdrawalEvidence } from "./entity-withdrawals.ts";
import { checkAnchor, buildExpectedStatement, type AnchorContext, type AnchorEvidence } from "./anchor.ts";
import { boundDetailsSince } from "./format-changes.ts";
import { checkChain, checkHeads, checkInclusion, parseEntries, describeStaleHeads } from "./audit.ts";
import { checkIssuance, checkPolicyLinks, checkStatus, parsePayloads, submissionNoteNames, type AuditHistory } from "./audit-history.ts";
import { fail, incomplete, pass, buildReport, skipped, type CheckId, type Finding, type Findings, type Report } from "./checks.ts";
import { canVerifyEd25519, ed25519UnsupportedNote, webCrypto } from "./crypto.ts";
import { asObject, parseCanonical, asString, asStrings, decodeText } from "./json.ts";
import { findLayoutFault } from "./layout.ts";
import { checkFiles, checkSignature, checkTrustCopies, parseManifest, type Manifest } from "./manifest.ts";
import { findOverdueFault } from "./overdue.ts";
import * as record from "./record.ts";
import { trustOf, type Trust } from "./trust.ts";

export interface VerificationOptions {
  /** The reader's own trust document. If it is null, the copy in the pack is used, and the verdict is at best `incomplete`. */
  readonly trust: Trust | null;
  /** The fingerprint, in hex, that the reader knows from elsewhere. */
  readonly expectedFingerprint: string | null;
  /** If true, a timestamp is required even if the trust document lists no authority that was in use. */
  readonly requiresTimestamp: boolean;
  /** The minimum number of witnesses. The trust document's policy can require more. */
  readonly witnessMin: number;
}

export const defaultVerificationOptions: VerificationOptions = {
  trust: null,
  expectedFingerprint: null,
  requiresTimestamp: false,
  witnessMin: 0,
};

const maxZipBytes = 20 * 1_024 * 1_024;

export const createAnchorContext = (crypto: NoteCrypto, trust: Trust | null, options: VerificationOptions): AnchorContext => ({
  crypto,
  trust,
  requiresTimestamp: options.requiresTimestamp,
  witnessMin: Math.max(options.witnessMin, trust?.witnessMin ?? 0),
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

/** Returns the numbers of the withdrawals for individual recipients that have files in the pack, without duplicates. */
const listEntityWithdrawalNumbers = (files: PackFiles): number[] =>
  [
    ...new Set(
      [...files.keys()].flatMap((path) => Number(/^(?:withdrawals\/|anchors\/withdrawn-)([0-9]+)\//.exec(path)?.[1] ?? Number.NaN)),
    ),
  ].filter((number) => !Number.isNaN(number));

const maxClockSkewMs = 5 * minuteMs; // allowed difference between the clocks of a timestamp authority and the issuer

/** Checks that the withdrawal does not precede the issuance, and that timestamps do not precede their events. */
export const checkTimeOrder = (
  issuedAt: string,
  withdrawnAt: unknown,
  attestedAt: number | null,
  withdrawalAttestedAt: number | null,
): Finding => {
  const issued = Date.parse(issuedAt);
  const withdrawn = isIsoTime(withdrawnAt) ? Date.parse(withdrawnAt) : null;
  if (withdrawn !== null && withdrawn < issued) return fail("the certificate was withdrawn before it was issued");
  if (attestedAt !== null && attestedAt < issued - maxClockSkewMs) return fail("a timestamp is older than the certificate");
  if (withdrawn !== null && withdrawalAttestedAt !== null && withdrawalAttestedAt < withdrawn - maxClockSkewMs) {
    return fail("a timestamp is older than the withdrawal");
  }
  return pass(withdrawn === null ? `issued ${issuedAt}` : `issued ${issuedAt}, withdrawn ${withdrawnAt}`);
};

/**
 * Checks the anchors of the issuance and the withdrawal, and the order of their times. `loadEvidence` returns the evidence for each anchor.
 */
export const checkAnchors = async (
  findings: Findings,
  certificate: JsonObject,
  preimage: Preimage,
  fingerprint: string,
  loadEvidence: (event: "issued" | "revoked", published: JsonObject | null) => AnchorEvidence,
  context: AnchorContext,
): Promise<void> => {
  const at = preimage.timestamp;
  const issuance = loadEvidence("issued", asObject(certificate.anchor));
  const { time } = await checkAnchor(
    findings,
    "issued",
    buildExpectedStatement("certificate.issued", preimage, fingerprint, at),
    issuance,
    context,
  );

  const withdrawal = asObject(certificate.withdrawal);
  const revocation = loadEvidence("revoked", asObject(withdrawal?.anchor));
  const withdrawnAt = withdrawal?.withdrawn_at;
  let revokedTime: number | null = null;
  if (certificate.status !== "revoked") {
    const hasEvidence = Object.values({ ...revocation, published: null }).some((part) => part !== null);
    const finding = hasEvidence
      ? fail("the pack proves a withdrawal, but the certificate is active")
      : skipped("the certificate is not withdrawn");
    findings.set("revoke.statement", finding);
  } else if (!isIsoTime(withdrawnAt)) {
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
  if (certificate.evidence !== null && evidence === null) return "the evidence is malformed";
  if (evidence === null) return isRedacted || isIsoTime(certificate.subject_erased_at) ? null : "the evidence is missing";
  if (isRedacted) return "the pack has evidence that the manifest lists as left out";
  if (sha256Hex(toCanonicalJson(evidence)) !== certificate.evidence_hash) return "the evidence does not match its hash";
  const note = submissionNoteNames.find((name) => toCanonicalJson(evidence[name] ?? null) !== toCanonicalJson(certificate[name] ?? null));
  if (note !== undefined) return `certificate and evidence differ in ${note}`;
  return evidence.gpc === asObject(certificate.signals)?.gpc ? null : "certificate and evidence differ in the browser's privacy signal";
};

/**
 * Checks that four things are consistent: the person's details on the certificate, their commitments, the disclosures, and the omissions
 * that the manifest lists.
 */
const findSubjectFault = (certificate: JsonObject, redacted: readonly string[], files: PackFiles): string | null => {
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
  // Values of unrecognized fields are masked completely. `audit.issuance` checks which fields are unrecognized.
  const unrecognized = asStrings(certificate.fields_unrecognized) ?? [];
  const mismatch = [...disclosed].find(([key, value]) => subject[key] !== maskFieldValue(unrecognized.includes(key) ? "" : key, value));
  return mismatch === undefined ? null : `the ${mismatch[0]} on the certificate does not match the disclosed value`;
};

const knownRedactions: readonly string[] = ["evidence", "views.ip", "views.user_agent"];

const findRedactionFault = (redacted: readonly string[]): string | null => {
  const unknown = redacted.find((name) => !knownRedactions.includes(name) && !name.startsWith("subject."));
  return unknown === undefined ? null : `the manifest lists ${unknown} as left out, which no pack contains`;
};

/**
 * If the person's data was erased, checks that the certificate shows no details of the person. Masked details can remain if the erasure was
 * before `boundDetailsSince`.
 */
const findErasedSubjectFault = ({ subject, subject_erased_at: erasedAt }: JsonObject): string | null => {
  if (!isIsoTime(erasedAt)) return null;
  const keys = Object.keys(asObject(subject) ?? { malformed: null });
  return erasedAt < boundDetailsSince ? null : keys.length === 0 ? null : "the certificate shows details of an erased person";
};

/** Checks that certificate.html and README.txt contain the certificate's ID. certificate-page.ts compares the whole certificate.html. */
const findPagesFault = (files: PackFiles, certId: string): string | null => {
  const other = ["certificate.html", "README.txt"].find((path) => !decodeText(files.get(path))?.includes(certId));
  return other === undefined ? null : `${other} is about a different certificate`;
};

const findContentsFault = (files: PackFiles, manifest: Manifest | null, certificate: JsonObject, certId: string): string | null =>
  manifest?.certId === certId
    ? (findRedactionFault(manifest.redacted) ??
      findEvidenceFault(certificate, manifest.redacted) ??
      findErasedSubjectFault(certificate) ??
      findOverdueFault(certificate, manifest.createdAt) ??
      findSubjectFault(certificate, manifest.redacted, files) ??
      findPagesFault(files, certId))
    : "the manifest is about a different certificate";

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
  options: VerificationOptions,
): Promise<void> => {
  const set = (id: CheckId, finding: Finding): void => {
    findings.set(id, finding);
  };
  set("fp.canonical", record.checkCanonical(preimage));
  set("fp.hash", record.checkFingerprint(canonical, certificate?.fingerprint, options.expectedFingerprint));
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
      parts.length > 0 ? fail("audit/entries.jsonl is missing") : incomplete("the audit log has no entry for the certificate yet"),
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
  const auditedPack = { crypto, trust, files, entries, createdAt: parseManifest(files)?.createdAt ?? "" };
  findings.set("audit.inclusion", await checkInclusion(auditedPack));
  findings.set("audit.heads", await checkHeads(auditedPack));
  if (certificate === null) return;
  const payloads = parsePayloads(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  const history: AuditHistory = { entries, payloads, certificate };
  findings.set("audit.issuance", checkIssuance(history));
  findings.set("audit.status", checkStatus(history));
  findings.set("audit.policies", checkPolicyLinks(history));
};

/**
 * Returns the capture method in the issuance's audit payload, or undefined if it is absent. `audit.chain` checks the payload against its
 * entry.
 */
const findLoggedCaptureMethod = (files: PackFiles): unknown => {
  const entries = parseEntries(decodeText(files.get("audit/entries.jsonl")) ?? "");
  const issuance = typeof entries === "number" ? undefined : entries.find(({ type }) => type === "certificate.issued");
  const payloads = parsePayloads(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  return payloads.get(issuance?.seq ?? "")?.captured_via;
};

/** Returns the identifiers of all keys in a trust document. */
const listKeyNames = ({ ledgers, auditLogs, witnesses, authorities, issuerKeys, anchorKeys }: Trust): string[] => [
  ...[...ledgers, ...auditLogs].map(({ vkey }) => vkey),
  ...witnesses.map(({ name, keyId }) => `${name}+${keyId}`),
  ...authorities.map(({ spkiSha256 }) => spkiSha256),
  ...issuerKeys.map(({ kid }) => kid),
  ...anchorKeys,
];

const activeStatusNote = "The certificate was active when the pack was created. Look it up online to see later or omitted withdrawals.";

const buildNotes = (files: PackFiles, certificate: JsonObject | null, givenTrust: Trust | null, bundled: Trust | null): string[] => {
  const manifest = parseManifest(files);
  const redacted = manifest?.redacted ?? [];
  const stale = describeStaleHeads(files, manifest?.createdAt ?? "");
  const evidence = redacted.filter((name) => !name.startsWith("subject."));
  const subject = redacted.filter((name) => name.startsWith("subject."));
  const knownKeys = givenTrust === null ? [] : listKeyNames(givenTrust);
  const hasUnknownKeys = givenTrust !== null && bundled !== null && listKeyNames(bundled).some((name) => !knownKeys.includes(name));
  return [
    ...(hasUnknownKeys ? ["The pack's own copy of the trust document names keys that yours does not."] : []),
    ...(stale !== null ? [stale] : []),
    ...(subject.length > 0 ? [`Not disclosed: ${subject.map((name) => name.slice("subject.".length)).join(", ")}.`] : []),
    ...(evidence.length > 0 ? [`Left out on purpose: ${evidence.join(", ")}.`] : []),
    ...(certificate?.environment === "sandbox" ? ["This is a sandbox certificate. It proves nothing."] : []),
    ...(certificate?.status === "active" ? [activeStatusNote] : []),
    "Only the issuer's signature covers README.txt, views.json, and the business details, view counts and URLs in certificate.json.",
  ];
};

/** Checks a pack from its bytes, without network access. Never throws for malformed packs. */
export const verifyPack = async (zip: Uint8Array, options: VerificationOptions, noteCrypto: NoteCrypto = webCrypto): Promise<Report> => {
  const crypto = memoizeNoteCrypto(noteCrypto);
  const findings: Findings = new Map();
  const opened = parseZip(zip, maxZipBytes);
  const structure = opened.ok ? findLayoutFault([...opened.files.keys()]) : opened.fault;
  if (!opened.ok || structure !== null) {
    findings.set("zip.structure", fail(structure ?? "not_a_zip"));
    return buildReport(findings, { cert_id: null, fingerprint: null, trust: options.trust === null ? "none" : "given", notes: [] });
  }
  const { files } = opened;
  findings.set("zip.structure", pass(`${files.size} files`));

  const bundled = trustOf(parseCanonical(decodeText(files.get("trust/trust.json"))));
  const hasEd25519 = await canVerifyEd25519(crypto);
  const trust = hasEd25519 ? (options.trust ?? bundled) : null;
  findings.set("manifest.files", checkFiles(files));
  findings.set("manifest.signature", await checkSignature(crypto, files, trust));
  findings.set("trust.copies", checkTrustCopies(files));

  const certificate = asObject(parseCanonical(decodeText(files.get("certificate.json"))));
  const canonical = decodeText(files.get("fingerprint/preimage.json"));
  const preimage = record.parsePreimage(canonical);
  const pack: OpenedPack = { crypto, files, trust, findings, certificate, canonical, preimage };
  await checkRecord(pack, options);
  if (certificate !== null && preimage !== null && canonical !== null) {
    const loadEvidence = (event: "issued" | "revoked", published: JsonObject | null): AnchorEvidence =>
      loadAnchorEvidence(files, event, published);
    const fingerprint = sha256Hex(canonical);
    const context = createAnchorContext(crypto, trust, options);
    await checkAnchors(findings, certificate, preimage, fingerprint, loadEvidence, context);
    const loadWithdrawal = (number: number): EntityWithdrawalEvidence => loadEntityWithdrawalEvidence(files, number);
    await checkEntityWithdrawals(
      findings,
      certificate,
      { preimage, fingerprint },
      listEntityWithdrawalNumbers(files),
      loadWithdrawal,
      context,
    );
  }
  await checkAudit(pack);
  if (certificate !== null) {
    const redacted = parseManifest(files)?.redacted ?? [];
    const fault = findPageFault({ files, certificate, redacted, loggedCaptureMethod: findLoggedCaptureMethod(files) });
    // If the certificate contains a false claim, the page usually differs too. The report must then name the check that found the claim, so
    // this check does not fail as well.
    const hasFailed = [...findings.values()].some(({ outcome }) => outcome === "fail");
    if (fault !== null && !hasFailed) findings.set("cert.consistency", fail(fault));
  }
  return buildReport(findings, {
    cert_id: preimage?.cert_id ?? asString(certificate?.cert_id),
    fingerprint: canonical === null ? null : sha256Hex(canonical),
    trust: options.trust !== null ? "given" : bundled !== null ? "bundled" : "none",
    notes: [...(hasEd25519 ? [] : [ed25519UnsupportedNote]), ...buildNotes(files, certificate, options.trust, bundled)],
  });
};
