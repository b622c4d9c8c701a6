// The four views of a certificate as JSON (CONTRACT 8): public, list row, owner's detail, evidence bundle. Public and
// list views are built from the published certificate only; decrypted values can enter through the detail and the
// bundle alone.
import type { Json } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import { isoOf, isoOrNull, type Instant } from "../time.ts";
import { receiptProofText, type Receipt } from "../ledger/receipt.ts";
import { fingerprintVersion } from "./fingerprint.ts";
import {
  policiesStatus,
  publishedCanonical,
  publishedPreimage,
  type OpenedCertificate,
  type PublishedAnchor,
  type PublishedCertificate,
  type PublishedPolicy,
  type View,
} from "./published.ts";
import { subjectCommitments, subjectSalts } from "./subject.ts";

type JsonObject = { readonly [key: string]: Json };

export const verifyUrlOf = (verifyBase: string, certId: string): string => `${verifyBase}/c/${certId}`;

/** Both lists or neither: "asked and declined nobody" is not "never asked". */
const answeredView = (answered: PublishedCertificate["answered"] | undefined): JsonObject =>
  answered ? { entities_accepted: answered.accepted, entities_rejected: answered.rejected } : {};

const policyView = (policy: PublishedPolicy): JsonObject => ({
  id: policy.id,
  kind: policy.kind,
  source_url: policy.sourceUrl,
  content_hash: policy.contentHash,
  captured_at: isoOf(policy.capturedAt),
});

/** While pending, what will be anchored; once anchored, the verified receipt with it. */
const anchorView = (anchor: PublishedAnchor | null): JsonObject | null => {
  if (anchor === null) return null;
  const { event, entryHash, statement, ledgerId } = anchor;
  // stored only after every check of core/ledger/receipt.ts, so reading it needs none
  const receipt = anchor.status === "anchored" && anchor.receipt !== null ? (JSON.parse(anchor.receipt) as Receipt) : null;
  if (receipt === null) return { status: "pending", event, entry_hash: entryHash, statement, ledger: ledgerId };
  return {
    status: "anchored",
    event,
    ledger: ledgerId,
    tx_ref: receipt.tx_ref,
    entry_hash: entryHash,
    statement,
    leaf_index: receipt.leaf_index,
    tree_size: receipt.tree_size,
    inclusion_proof: receipt.inclusion_proof,
    signed_root: receipt.signed_root,
    anchored_at: isoOrNull(anchor.anchoredAt),
    // our clock: nobody else vouches for this time
    anchored_at_source: "service",
    tlog_proof: receiptProofText(receipt),
  };
};

/** What this service checked at the moment of issuance, and what it could not know. */
const checksOf = (certificate: PublishedCertificate): readonly JsonObject[] => [
  {
    id: "origin",
    result: "reported",
    note:
      certificate.capturedVia === "browser"
        ? "The request named this origin, which was on a verified domain of the business. A browser sets that name itself; other programs can choose it."
        : "The request came from a server that named this origin, which was on a verified domain of the business.",
  },
  { id: "domain", result: "verified", note: "The business had proved control of the domain before this certificate was issued." },
  { id: "subject", result: "as_submitted", note: "The person's details are as they were typed into the form; nobody checked them." },
];

/** GET /v1/certs/{id}/verify: no personal data but the masked subject. */
export const verifyView = (certificate: PublishedCertificate, verifyBase: string): JsonObject => ({
  cert_id: certificate.id,
  status: certificate.status,
  environment: certificate.environment,
  fingerprint: certificate.fingerprint,
  fingerprint_version: fingerprintVersion,
  issued_at: isoOf(certificate.issuedAt),
  verify_url: verifyUrlOf(verifyBase, certificate.id),
  business_id: certificate.businessId,
  business_name: certificate.businessName,
  entities: certificate.entities,
  ...answeredView(certificate.answered),
  disclosure_text: certificate.disclosureText,
  disclosure_hash: certificate.disclosureHash,
  purpose: certificate.purpose,
  origin_domain: certificate.originDomain,
  subject: certificate.subjectMasked,
  subject_hash: certificate.subjectHash,
  subject_erased_at: isoOrNull(certificate.subjectErasedAt),
  policies: certificate.policies.map(policyView),
  policies_status: policiesStatus(certificate),
  preimage: publishedPreimage(certificate) as unknown as JsonObject,
  canonical: publishedCanonical(certificate),
  signature: { ...certificate.signature },
  anchor: anchorView(certificate.anchor),
  withdrawal: null,
  cease_by: null,
  signals: { gpc: certificate.gpc },
  checks: checksOf(certificate),
  view_count: certificate.viewCount,
  status_list: null,
});

const viewTrailView = (views: readonly View[]): readonly JsonObject[] =>
  views.map((view) => ({ at: isoOf(view.at), ip: view.ip, user_agent: view.userAgent, os: view.os, bot: view.bot }));

export interface DetailParts {
  readonly opened: OpenedCertificate;
  readonly views: readonly View[];
  /** Text of each linked policy by its content hash; null where the text could not be read. */
  readonly policyTexts: ReadonlyMap<string, string | null>;
  readonly verifyBase: string;
}

const policiesWithText = (parts: DetailParts): readonly JsonObject[] =>
  parts.opened.certificate.policies.map((policy) => ({ ...policyView(policy), text: parts.policyTexts.get(policy.contentHash) ?? null }));

/** GET /v1/certs/{id} with the owner's key: personal data. */
export const detailView = (parts: DetailParts): JsonObject => {
  const { opened } = parts;
  return {
    ...verifyView(opened.certificate, parts.verifyBase),
    subject: opened.subject === null ? {} : Object.fromEntries(opened.subject.fields),
    subject_salts: opened.subject === null ? {} : subjectSalts(opened.subject.fields, opened.subject.rootSalt),
    evidence: opened.evidence,
    evidence_hash: opened.evidenceHash,
    policies: policiesWithText(parts),
    view_trail: viewTrailView(parts.views),
    audit: null,
    retention_until: isoOf(opened.retentionUntil),
  };
};

export interface BundleParts extends DetailParts {
  readonly generatedAt: Instant;
  /** Field keys whose value and salt are disclosed; null discloses every field. */
  readonly disclose: ReadonlySet<string> | null;
  /** Leaves out the subject and everything in the evidence that points to a person. */
  readonly redacted: boolean;
  readonly identity: { readonly legalName: string | null; readonly mailingAddress: string | null; readonly contact: string | null };
  readonly issuerKeys: readonly JsonObject[];
}

const howToVerify = [
  "1. SHA-256 of canonical_json (UTF-8) must equal fingerprint.",
  "2. SHA-256 of disclosure.text (UTF-8) must equal disclosure.hash, which is disclosure_hash in the preimage.",
  "3. SHA-256 of the canonical JSON of commitments must equal subject_hash in the preimage; for each disclosed field, SHA-256 of the canonical JSON [salt, key, value] must equal its commitment.",
  "4. The Ed25519 signature must verify over canonical_json with the key named by signature.kid in issuer_keys, which must be a key you trust.",
  "5. SHA-256 of ledger.entry must equal ledger.entry_hash.",
].join("\n");

/** GET /v1/certs/{id}/evidence-pack?format=json: everything needed to check the certificate without us. */
export const evidenceBundle = (parts: BundleParts): JsonObject => {
  const { opened, redacted } = parts;
  const { certificate, subject } = opened;
  const fields = subject?.fields ?? new Map<string, string>();
  const salts = subject === null ? {} : subjectSalts(fields, subject.rootSalt);
  const disclosed = redacted ? [] : [...fields].filter(([key]) => parts.disclose?.has(key) ?? true);
  return {
    bundle_version: "1.0",
    generated_at: isoOf(parts.generatedAt),
    certificate: verifyView(certificate, parts.verifyBase),
    preimage: publishedPreimage(certificate) as unknown as JsonObject,
    canonical_json: publishedCanonical(certificate),
    fingerprint: certificate.fingerprint,
    subject_disclosures: disclosed.map(([key, value]) => ({ key, salt: salts[key] as string, value })),
    commitments: subject === null ? {} : subjectCommitments(fields, subject.rootSalt),
    disclosure: { text: certificate.disclosureText, hash: certificate.disclosureHash },
    policies: policiesWithText(parts),
    evidence: redacted ? null : opened.evidence,
    evidence_hash: opened.evidenceHash,
    audit: { entries: [], head: null },
    ledger: {
      entry: certificate.anchor?.statement ?? null,
      entry_hash: certificate.anchor?.entryHash ?? null,
      leaf_hash: null,
      leaf_index: null,
      tree_size: null,
      inclusion_proof: [],
      checkpoint: null,
      cosignatures: [],
      timestamp_token: null,
      tlog_proof: null,
    },
    withdrawal: null,
    withdrawal_receipt: null,
    views: parts.views.map((view) => ({
      at: isoOf(view.at),
      os: view.os,
      bot: view.bot,
      ip: redacted ? null : view.ip,
      user_agent: redacted ? null : view.userAgent,
    })),
    issuer_keys: { keys: parts.issuerKeys },
    signature: { ...certificate.signature },
    identity: { legal_name: parts.identity.legalName, mailing_address: parts.identity.mailingAddress, contact: parts.identity.contact },
    how_to_verify: howToVerify,
  };
};

export interface ListedCertificate {
  readonly id: string;
  readonly status: PublishedCertificate["status"];
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  readonly purpose: string;
  readonly originDomain: string;
  readonly entities: readonly string[];
  readonly answered: PublishedCertificate["answered"];
  readonly subjectMasked: Readonly<Record<string, string>>;
  readonly viewCount: number;
  readonly environment: PublishedCertificate["environment"];
}

export const listRowView = (row: ListedCertificate, verifyBase: string): JsonObject => ({
  cert_id: row.id,
  status: row.status,
  fingerprint: row.fingerprint,
  issued_at: isoOf(row.issuedAt),
  verify_url: verifyUrlOf(verifyBase, row.id),
  purpose: row.purpose,
  origin_domain: row.originDomain,
  entities: row.entities,
  ...answeredView(row.answered),
  subject: row.subjectMasked,
  view_count: row.viewCount,
  withdrawal: null,
  environment: row.environment,
});

/** A strong validator of a view as it is sent: any change of status, count or anchor changes it. */
export const entityTag = (text: string): string => `"${sha256Hex(text).slice(0, 32)}"`;
