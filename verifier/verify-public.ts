// The checks that need only the public API response (GET /v1/certs/{id}/verify). A page can therefore run them in the visitor's browser.
import { toBase64, fromBase64, encodeUtf8 } from "../core/bytes.ts";
import { toCanonicalJson, isJsonObject, type JsonObject } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import { parseCheckpoint, stripCosignatures } from "../core/ledger/checkpoint.ts";
import { hashLeaf } from "../core/ledger/merkle.ts";
import { formatReceipt, type Receipt } from "../core/ledger/receipt.ts";
import { formatTlogProof } from "../core/ledger/tlog-proof.ts";
import type { AnchorEvidence } from "./anchor.ts";
import { anchorCheckIds, buildReport, revocationCheckIds, type CheckId, type Findings, type Report } from "./checks.ts";
import { canVerifyEd25519, ed25519UnsupportedNote, webCrypto } from "./crypto.ts";
import { asObject, asString, asStrings } from "./json.ts";
import { checkArrays, checkCanonical, checkCertificate, checkDisclosure, checkFingerprint, parsePreimage } from "./record.ts";
import { createAnchorContext, checkAnchors, type VerificationOptions } from "./verify-pack.ts";

const publicCheckIds: readonly CheckId[] = [
  "fp.canonical",
  "fp.hash",
  "fp.arrays",
  "disclosure.hash",
  "cert.consistency",
  ...anchorCheckIds,
  ...revocationCheckIds,
  "time.order",
];

const emptyAnchorEvidence: AnchorEvidence = {
  statement: null,
  published: null,
  receipt: null,
  entryProof: null,
  rekorBody: null,
  attestedProof: null,
  attestedNote: null,
  timestampReply: null,
};

/** Formats a published proof as a tlog-proof. Returns null if a part of the proof is malformed. */
const formatPublishedProof = (index: unknown, hashes: unknown, checkpoint: unknown): string | null => {
  const proof = asStrings(hashes)?.map(fromBase64);
  if (typeof index !== "string" || !/^[0-9]{1,19}$/.test(index) || typeof checkpoint !== "string" || !proof?.every((hash) => hash !== null))
    return null;
  return formatTlogProof({ index: BigInt(index), hashes: proof, checkpoint });
};

/**
 * Rebuilds the receipt from a published anchor. Returns null for a Rekor ledger, because the response does not contain the ledger's leaf.
 * If a member is missing, returns an empty string, which fails the checks.
 */
const formatPublishedReceipt = (anchor: JsonObject, statement: string): string | null => {
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
    verified_at: anchor.anchored_at,
  };
  return Object.values(receipt).every((value) => value !== undefined) ? formatReceipt(receipt as unknown as Receipt) : "";
};

export const anchorEvidenceFromWire = (anchor: JsonObject | null): AnchorEvidence => {
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
    timestampReply: isJsonObject(token) ? fromBase64(asString(token.token) ?? "") : null,
  };
};

/** Checks the public view of a certificate, as parsed JSON. */
export const verifyPublic = async (view: JsonObject, options: VerificationOptions): Promise<Report> => {
  const findings: Findings = new Map();
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
      checkDisclosure(asString(view.disclosure_text) ?? toCanonicalJson(view.disclosure_text ?? null), preimage),
    );
    findings.set("cert.consistency", await checkCertificate(webCrypto, view, preimage, canonical, trust));
    await checkAnchors(
      findings,
      view,
      preimage,
      sha256Hex(canonical),
      (_, published) => anchorEvidenceFromWire(published),
      createAnchorContext(webCrypto, trust, options),
    );
  }
  return buildReport(
    findings,
    {
      cert_id: preimage?.cert_id ?? null,
      fingerprint: canonical === null ? null : sha256Hex(canonical),
      trust: options.trust === null ? "none" : "given",
      notes: hasEd25519 ? [] : [ed25519UnsupportedNote],
    },
    publicCheckIds,
  );
};
