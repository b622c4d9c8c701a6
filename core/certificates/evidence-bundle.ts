// The evidence of one certificate as one JSON object, for programs that want the parts (CONTRACT 8). It says what the files of
// the pack say; the pack is what gets signed.
import { auditEntryHash } from "../audit/chain.ts";
import { base64Of } from "../bytes.ts";
import { sha256, sha256Hex } from "../hash.ts";
import { parseCheckpoint } from "../ledger/checkpoint.ts";
import { parseTlogProof, tlogProofTextOfLines } from "../ledger/tlog-proof.ts";
import { isoOf } from "../time.ts";
import type { JsonObject } from "../canonical-json.ts";
import {
  disclosedFields,
  type EvidenceParts,
  type PackedAct,
  type PackedAttestation,
  type PackedAudit,
  type PackedStatement,
} from "./evidence-parts.ts";
import { namedVerifier, type NamedVerifier } from "./evidence-readme.ts";
import { publishedCanonical, publishedPreimage } from "./published.ts";
import { subjectCommitments, subjectSalts } from "./subject.ts";
import { policiesWithText } from "./views.ts";

const howToVerify = (verifier: NamedVerifier | null): string =>
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

const nothingAnchored = {
  leaf_hash: null,
  leaf_index: null,
  tree_size: null,
  inclusion_proof: [],
  checkpoint: null,
  cosignatures: [],
  timestamp_token: null,
  tlog_proof: null,
} as const;

/** The proof against the checkpoint that others attested, where one was; else against the one of the receipt. */
const ledgerPart = (anchor: PackedStatement | undefined, entryHash: string | null): JsonObject => {
  if (anchor === undefined) return { entry: null, entry_hash: null, ...nothingAnchored };
  const { statement, receipt, attested } = anchor;
  if (receipt === null) return { entry: statement, entry_hash: entryHash, ...nothingAnchored };
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
    timestamp_token: proven.tsr === null ? null : base64Of(proven.tsr),
    tlog_proof: tlogProofTextOfLines(leaf_index, proven.inclusionProof, checkpoint),
  };
};

/** A withdrawal from single recipients: what was signed, and its statement for the ledger. */
const actPart = ({ number, receipt, signature, anchor }: PackedAct): JsonObject => ({
  number,
  receipt: JSON.parse(receipt) as JsonObject,
  canonical: receipt,
  signature: { ...signature },
  ledger: ledgerPart(anchor ?? undefined, anchor === null ? null : sha256Hex(anchor.statement)),
});

const auditPart = (audit: PackedAudit | null): JsonObject => {
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
        hash: auditEntryHash(sha256, entry),
        log_index: proof === null ? null : (parseTlogProof(proof)?.index.toString() ?? null),
        tlog_proof: proof,
      };
    }),
    head: { seq: Number(audit.head.seq), hash: audit.head.hash },
    heads: audit.heads === null ? null : { ...audit.heads, path: [...audit.heads.path] },
  };
};

/** GET /v1/certs/{id}/evidence-pack?format=json: everything needed to check the certificate without us. */
export const evidenceBundle = (parts: EvidenceParts): JsonObject => {
  const { opened, redacted, verifyView } = parts;
  const { certificate, subject } = opened;
  const fields = subject?.fields ?? new Map<string, string>();
  const salts = subject === null ? {} : subjectSalts(fields, subject.rootSalt);
  return {
    bundle_version: "1.0",
    generated_at: isoOf(parts.createdAt),
    certificate: verifyView,
    preimage: publishedPreimage(certificate) as unknown as JsonObject,
    canonical_json: publishedCanonical(certificate),
    fingerprint: certificate.fingerprint,
    subject_disclosures: disclosedFields(parts).map(([key, value]) => ({ key, salt: salts[key] as string, value })),
    commitments: subject === null ? {} : subjectCommitments(fields, subject.rootSalt),
    disclosure: { text: certificate.disclosureText, hash: certificate.disclosureHash },
    policies: policiesWithText(certificate, parts.policyTexts),
    evidence: redacted ? null : opened.evidence,
    evidence_hash: opened.evidenceHash,
    audit: auditPart(parts.audit),
    ledger: ledgerPart(
      parts.anchors.find(({ event }) => event === "issued"),
      certificate.anchor?.entryHash ?? null,
    ),
    withdrawal: verifyView.withdrawal ?? null,
    withdrawal_receipt: parts.withdrawalReceipt ?? null,
    ...(parts.acts.length > 0 && { entity_withdrawal_receipts: parts.acts.map(actPart) }),
    views: parts.views.map((view) => ({
      at: isoOf(view.at),
      os: view.os,
      bot: view.bot,
      ip: redacted ? null : view.ip,
      user_agent: redacted ? null : view.userAgent,
    })),
    issuer_keys: parts.trust.issuer_keys ?? null,
    signature: { ...certificate.signature },
    identity: { legal_name: parts.identity.legalName, mailing_address: parts.identity.mailingAddress, contact: parts.identity.contact },
    how_to_verify: howToVerify(namedVerifier(parts.trust)),
  };
};
