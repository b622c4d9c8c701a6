// Three views of a certificate as JSON (CONTRACT 8): public, list row, owner's detail. Public and list views are built from
// the published certificate only; decrypted values can enter through the detail alone (and through the evidence, which is
// evidence-bundle.ts and evidence-pack.ts).
import type { Json } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import { isoOf, isoOrNull, type Instant } from "../time.ts";
import { isOverdue } from "../withdrawals/acknowledge.ts";
import { receiptProofText, type Receipt } from "../ledger/receipt.ts";
import { attestedView } from "./attested.ts";
import { fingerprintVersion } from "./fingerprint.ts";
import {
  policiesStatus,
  publishedCanonical,
  publishedPreimage,
  type OpenedCertificate,
  type PublishedAnchor,
  type PublishedCertificate,
  type PublishedPolicy,
  type PublishedWithdrawal,
  type ProvenWithdrawal,
  type View,
} from "./published.ts";
import { subjectSalts } from "./subject.ts";

type JsonObject = { readonly [key: string]: Json };

/** Where the service answers, and when it is asked: a view names addresses and says what is overdue. */
export interface ViewContext {
  readonly verifyBase: string;
  /** With its version. */
  readonly apiBase: string;
  readonly now: Instant;
}

export const receiptUrlOf = (apiBase: string, certId: string): string => `${apiBase}/certs/${certId}/receipt`;

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
export const anchorView = (anchor: PublishedAnchor | null): JsonObject | null => {
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
    ...(anchor.attested && { attested: attestedView(anchor.attested) }),
  };
};

/** How it stands with the duty to cease contact. */
export const withdrawalView = (certId: string, withdrawal: PublishedWithdrawal, { apiBase, now }: ViewContext): JsonObject => ({
  withdrawn_at: isoOf(withdrawal.withdrawnAt),
  cease_by: isoOf(withdrawal.ceaseBy),
  method: withdrawal.method,
  scope: withdrawal.scope,
  received_at: isoOrNull(withdrawal.receivedAt),
  receipt_url: receiptUrlOf(apiBase, certId),
  cease_acknowledged_at: isoOrNull(withdrawal.acknowledgedAt),
  overdue: isOverdue(withdrawal.ceaseBy, withdrawal.acknowledgedAt, now),
});

const provenWithdrawalView = (certId: string, withdrawal: ProvenWithdrawal, context: ViewContext): JsonObject => ({
  ...withdrawalView(certId, withdrawal, context),
  anchor: anchorView(withdrawal.anchor),
});

/** GET /v1/certs/{id}/receipt: everything to check a withdrawal without us. */
export const withdrawalReceiptView = (withdrawal: ProvenWithdrawal): JsonObject => ({
  receipt: JSON.parse(withdrawal.receipt) as JsonObject,
  canonical: withdrawal.receipt,
  signature: { ...withdrawal.signature },
  anchor: anchorView(withdrawal.anchor),
});

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
export const verifyView = (certificate: PublishedCertificate, context: ViewContext): JsonObject => ({
  cert_id: certificate.id,
  status: certificate.status,
  environment: certificate.environment,
  fingerprint: certificate.fingerprint,
  fingerprint_version: fingerprintVersion,
  issued_at: isoOf(certificate.issuedAt),
  verify_url: verifyUrlOf(context.verifyBase, certificate.id),
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
  withdrawal: certificate.withdrawal === null ? null : provenWithdrawalView(certificate.id, certificate.withdrawal, context),
  cease_by: isoOrNull(certificate.withdrawal?.ceaseBy ?? null),
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
  /** The issuance in its business's audit chain; null until it is there. */
  readonly entry: { readonly seq: string; readonly hash: string; readonly prev_hash: string } | null;
  readonly context: ViewContext;
}

export const policiesWithText = (parts: Pick<DetailParts, "opened" | "policyTexts">): readonly JsonObject[] =>
  parts.opened.certificate.policies.map((policy) => ({ ...policyView(policy), text: parts.policyTexts.get(policy.contentHash) ?? null }));

/** With what the business itself told us about it. */
const ownWithdrawalView = (view: JsonObject | null, opened: OpenedCertificate["withdrawal"]): JsonObject | null =>
  view === null
    ? null
    : {
        ...view,
        recorded: opened?.recorded ? { method: opened.recorded.channel, note: opened.recorded.note } : null,
        acknowledgement: opened?.acknowledgement
          ? {
              note: opened.acknowledgement.note,
              acknowledged_by: opened.acknowledgement.acknowledgedBy,
              actions: opened.acknowledgement.actions,
            }
          : null,
      };

/** GET /v1/certs/{id} with the owner's key: personal data. */
export const detailView = (parts: DetailParts): JsonObject => {
  const { opened } = parts;
  const verified = verifyView(opened.certificate, parts.context);
  return {
    ...verified,
    withdrawal: ownWithdrawalView(verified.withdrawal as JsonObject | null, opened.withdrawal),
    subject: opened.subject === null ? {} : Object.fromEntries(opened.subject.fields),
    subject_salts: opened.subject === null ? {} : subjectSalts(opened.subject.fields, opened.subject.rootSalt),
    evidence: opened.evidence,
    evidence_hash: opened.evidenceHash,
    policies: policiesWithText(parts),
    view_trail: viewTrailView(parts.views),
    audit: parts.entry === null ? null : { seq: Number(parts.entry.seq), hash: parts.entry.hash, prev_hash: parts.entry.prev_hash },
    retention_until: isoOf(opened.retentionUntil),
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
  readonly withdrawal: PublishedWithdrawal | null;
}

export const listRowView = (row: ListedCertificate, context: ViewContext): JsonObject => ({
  cert_id: row.id,
  status: row.status,
  fingerprint: row.fingerprint,
  issued_at: isoOf(row.issuedAt),
  verify_url: verifyUrlOf(context.verifyBase, row.id),
  purpose: row.purpose,
  origin_domain: row.originDomain,
  entities: row.entities,
  ...answeredView(row.answered),
  subject: row.subjectMasked,
  view_count: row.viewCount,
  withdrawal: row.withdrawal === null ? null : withdrawalView(row.id, row.withdrawal, context),
  environment: row.environment,
});

/** A strong validator of a view as it is sent: any change of status, count or anchor changes it. */
export const entityTag = (text: string): string => `"${sha256Hex(text).slice(0, 32)}"`;
