// The evidence for one certificate as one JSON object, for programs. It has the same content as the files in the pack, but only the pack is
// signed.
import { hashAuditEntry } from "../audit/chain.ts";
import { toBase64 } from "../bytes.ts";
import { sha256Hex } from "../hash.ts";
import { parseCheckpoint } from "../ledger/checkpoint.ts";
import { parseTlogProof, formatTlogProofFromLines } from "../ledger/tlog-proof.ts";
import { toIso } from "../time.ts";
import type { JsonObject } from "../canonical-json.ts";
import type { PackedAttestation } from "./attested-statement.ts";
import {
  listDisclosedFields,
  type EvidenceParts,
  type PackedEntityWithdrawal,
  type PackedAudit,
  type PackedStatement,
} from "./evidence-parts.ts";
import { parseVerifierRelease, type VerifierRelease } from "./evidence-readme.ts";
import { canonicalPreimageFromPublished, preimageFromPublished } from "./published-certificate.ts";
import { computeSubjectCommitments, deriveSubjectSalts } from "./subject.ts";
import { toPoliciesWithText } from "./public-json.ts";

const buildVerificationSteps = (verifier: VerifierRelease | null): string =>
  [
    "1. The SHA-256 hash of canonical_json (UTF-8) must equal fingerprint.",
    "2. The SHA-256 hash of disclosure.text (UTF-8) must equal disclosure.hash and disclosure_hash in the preimage.",
    "3. The SHA-256 hash of commitments, as canonical JSON, must equal subject_hash in the preimage. For each disclosed field, the SHA-256 hash of [salt, key, value], as canonical JSON, must equal the field's commitment.",
    "4. The Ed25519 signature of canonical_json must verify with the key in issuer_keys whose ID is signature.kid. You must trust this key.",
    "5. The SHA-256 hash of ledger.entry must equal ledger.entry_hash. ledger.tlog_proof (c2sp.org/tlog-proof@v1) must prove that ledger.checkpoint includes ledger.entry. The checkpoint must be signed by a ledger key that you trust.",
    "6. If ledger.timestamp_token is present, it must be a valid RFC 3161 response for ledger.checkpoint without the lines in ledger.cosignatures.",
    "7. For each item in audit.entries, hash must equal the SHA-256 hash of the canonical JSON of these eight members: at, chain (from audit.chain), entity_id, entity_type, payload_hash, prev_hash, seq (as a string) and type. Its tlog_proof must prove that a checkpoint of the audit log includes the 32 bytes of this hash.",
    "8. For each audit entry, payload_hash must equal the SHA-256 hash of [payload_salt, payload], as canonical JSON. The payload of certificate.issued must contain fingerprint and evidence_hash, and the payload of policy.linked must contain the hashes of the policies.",
    "9. A certificate.revoked entry must be present if and only if the certificate was withdrawn, and its time, method and deadline must match the withdrawal. The certificate.entities_withdrawn entries must list exactly the recipients in certificate.entities_withdrawn. Check the signature of each item in entity_withdrawal_receipts as in step 4 and its ledger proof as in step 5.",
    "The evidence is also available as files (?format=zip), which svc-verify checks in one run, and as an HTML page (?format=html), which checks itself in a browser.",
    ...(verifier === null ? [] : [`svc-verify: ${verifier.url}, SHA-256 ${verifier.sha256} at the time of this export.`]),
  ].join("\n");

const emptyLedgerPart = {
  leaf_hash: null,
  leaf_index: null,
  tree_size: null,
  inclusion_proof: [],
  checkpoint: null,
  cosignatures: [],
  timestamp_token: null,
  tlog_proof: null,
} as const;

/** Returns the ledger statement with its proof: for the attested checkpoint or, if there is none, for the checkpoint in the receipt. */
const buildLedgerPart = (anchor: PackedStatement | undefined, entryHash: string | null): JsonObject => {
  if (anchor === undefined) return { entry: null, entry_hash: null, ...emptyLedgerPart };
  const { statement, receipt, attested } = anchor;
  if (receipt === null) return { entry: statement, entry_hash: entryHash, ...emptyLedgerPart };
  const { leaf_hash, leaf_index, leaf_body = null, signed_root: note, inclusion_proof: inclusionProof } = receipt;
  const proven: PackedAttestation = attested ?? { note, inclusionProof, cosignatures: [], tsr: null };
  const checkpoint = proven.note + proven.cosignatures.join("");
  return {
    entry: statement,
    entry_hash: entryHash,
    leaf_hash,
    leaf_index,
    leaf_body,
    tree_size: parseCheckpoint(proven.note)?.size.toString() ?? null,
    inclusion_proof: proven.inclusionProof,
    checkpoint,
    cosignatures: proven.cosignatures,
    timestamp_token: proven.tsr === null ? null : toBase64(proven.tsr),
    tlog_proof: formatTlogProofFromLines(leaf_index, proven.inclusionProof, checkpoint),
  };
};

/** Builds the signed receipt of a withdrawal for individual recipients, with its ledger statement. */
const buildEntityWithdrawalPart = ({ number, receipt, signature, anchor }: PackedEntityWithdrawal): JsonObject => ({
  number,
  receipt: JSON.parse(receipt) as JsonObject,
  canonical: receipt,
  signature: { ...signature },
  ledger: buildLedgerPart(anchor ?? undefined, anchor === null ? null : sha256Hex(anchor.statement)),
});

const buildAuditPart = (audit: PackedAudit | null): JsonObject => {
  if (audit === null) return { chain: null, chain_index: null, entries: [], head: null, heads: null };
  return {
    chain: audit.entries[0]?.chain ?? null,
    chain_index: audit.chainIndex,
    entries: audit.entries.map((entry) => {
      const committed = audit.payloads.get(entry.seq);
      const proof = audit.proofs.get(entry.seq) ?? null;
      return {
        seq: Number(entry.seq),
        at: entry.at,
        type: entry.type,
        entity_type: entry.entity_type,
        entity_id: entry.entity_id,
        payload: committed?.payload ?? null,
        payload_salt: committed?.salt ?? null,
        payload_hash: entry.payload_hash,
        prev_hash: entry.prev_hash,
        hash: hashAuditEntry(entry),
        log_index: proof === null ? null : (parseTlogProof(proof)?.index.toString() ?? null),
        tlog_proof: proof,
      };
    }),
    head: { seq: Number(audit.head.seq), hash: audit.head.hash },
    heads: audit.heads === null ? null : { ...audit.heads, path: [...audit.heads.path] },
  };
};

/** Builds the response of GET /v1/certs/{id}/evidence-pack?format=json: everything needed to check the certificate without the service. */
export const buildEvidenceBundle = (parts: EvidenceParts): JsonObject => {
  const { opened, isRedacted, publicView } = parts;
  const { certificate, subject } = opened;
  const fields = subject?.fields ?? new Map<string, string>();
  const salts = subject === null ? {} : deriveSubjectSalts(fields, subject.rootSalt);
  return {
    bundle_version: "1.0",
    generated_at: toIso(parts.createdAt),
    certificate: publicView,
    preimage: preimageFromPublished(certificate) as unknown as JsonObject,
    canonical_json: canonicalPreimageFromPublished(certificate),
    fingerprint: certificate.fingerprint,
    subject_disclosures: listDisclosedFields(parts).map(([key, value]) => ({ key, salt: salts[key] as string, value })),
    commitments: subject === null ? {} : computeSubjectCommitments(fields, subject.rootSalt),
    disclosure: { text: certificate.disclosureText, hash: certificate.disclosureHash },
    policies: toPoliciesWithText(certificate, parts.policyTexts),
    evidence: isRedacted ? null : opened.evidence,
    evidence_hash: opened.evidenceHash,
    audit: buildAuditPart(parts.audit),
    ledger: buildLedgerPart(
      parts.anchors.find(({ event }) => event === "issued"),
      certificate.anchor?.entryHash ?? null,
    ),
    withdrawal: publicView.withdrawal ?? null,
    withdrawal_receipt: parts.withdrawalReceipt ?? null,
    ...(parts.entityWithdrawals.length > 0 && { entity_withdrawal_receipts: parts.entityWithdrawals.map(buildEntityWithdrawalPart) }),
    views: parts.views.map((view) => ({
      at: toIso(view.at),
      os: view.os,
      bot: view.bot,
      ip: isRedacted ? null : view.ip,
      user_agent: isRedacted ? null : view.userAgent,
    })),
    issuer_keys: parts.trust.issuer_keys ?? null,
    signature: { ...certificate.signature },
    identity: { legal_name: parts.identity.legalName, mailing_address: parts.identity.mailingAddress, contact: parts.identity.contact },
    how_to_verify: buildVerificationSteps(parseVerifierRelease(parts.trust)),
  };
};
