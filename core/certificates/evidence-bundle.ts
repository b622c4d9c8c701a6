// The evidence for one certificate as one JSON object, for programs. It has the same content as the files in the pack, but only the pack is
// signed.
import { hashAuditEntry } from "../audit/chain.ts";
import { toBase64 } from "../bytes.ts";
import { sha256, sha256Hex } from "../hash.ts";
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
    "1. SHA-256 of canonical_json (UTF-8) must equal fingerprint.",
    "2. SHA-256 of disclosure.text (UTF-8) must equal disclosure.hash, which is disclosure_hash in the preimage.",
    "3. SHA-256 of the canonical JSON of commitments must equal subject_hash in the preimage; for each disclosed field, SHA-256 of the canonical JSON [salt, key, value] must equal its commitment.",
    "4. The Ed25519 signature must verify over canonical_json with the key named by signature.kid in issuer_keys, which must be a key you trust.",
    "5. SHA-256 of ledger.entry must equal ledger.entry_hash, and ledger.tlog_proof (c2sp.org/tlog-proof@v1) must lead from ledger.entry to ledger.checkpoint, signed by a ledger key you trust.",
    "6. ledger.timestamp_token, where there is one, is an RFC 3161 reply over ledger.checkpoint without the lines of ledger.cosignatures.",
    "7. Each of audit.entries, written as canonical JSON of its eight bound members, has its hash; its tlog_proof leads from the 32 bytes of that hash to a checkpoint of the audit log.",
    "8. payload_hash of an entry must equal the SHA-256 of the canonical JSON [payload_salt, payload]. The payload of certificate.issued must name fingerprint and evidence_hash, that of policy.linked the hashes of the policies; an entry certificate.revoked is there exactly when the certificate is withdrawn, with its time, method and deadline; those of certificate.entities_withdrawn must name exactly the recipients in certificate.entities_withdrawn. Each of entity_withdrawal_receipts is signed as in 4, and its ledger as in 5.",
    "The same as files, checked at once by svc-verify or by itself in a browser: ?format=zip and ?format=html.",
    ...(verifier === null ? [] : [`svc-verify: ${verifier.url}, SHA-256 ${verifier.sha256} when this was made.`]),
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

/** Returns the proof against the attested checkpoint if there is one, otherwise against the checkpoint in the receipt. */
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

/** Builds the part for a withdrawal of consent for individual recipients: the signed receipt and its ledger statement. */
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
        hash: hashAuditEntry(sha256, entry),
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
