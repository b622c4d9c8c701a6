// A certificate as everybody sees it, in the form that is answered, packed as certificate.json, shown by the page and checked by
// svc-verify (CONTRACT 8). Built from the published certificate only: nothing decrypted can enter.
import { toIso, toIsoOrNull, type Instant } from "../time.ts";
import { isOverdue } from "../withdrawals/cease-acknowledgment.ts";
import { parseWithdrawalReceipt } from "../withdrawals/receipt.ts";
import { formatReceiptProof, type Receipt } from "../ledger/receipt.ts";
import { toAttestedView } from "./attested-statement.ts";
import { fingerprintVersion } from "./fingerprint.ts";
import {
  hasVerifiedDomain,
  getPoliciesStatus,
  canonicalPreimageFromPublished,
  preimageFromPublished,
  type PublishedAnchor,
  type PublishedCertificate,
  type PublishedPolicy,
  type PublishedWithdrawal,
  type WithdrawalWithProof,
  type WithdrawalProof,
} from "./published-certificate.ts";

/** Where the service answers by its settings (a request never says where it is), and when it is asked: a view says what is overdue. */
export interface ViewContext {
  readonly verifyBase: string;
  /** With its version. */
  readonly apiBase: string;
  readonly now: Instant;
}

export const buildReceiptUrl = (apiBase: string, certId: string): string => `${apiBase}/certs/${certId}/receipt`;

/** Of a withdrawal from single recipients. */
export const buildEntityReceiptUrl = (apiBase: string, certId: string, number: number): string =>
  `${buildReceiptUrl(apiBase, certId)}?withdrawal=${number}`;

export const buildVerifyUrl = (verifyBase: string, certId: string): string => `${verifyBase}/c/${certId}`;

/** Both lists or neither: "asked and declined nobody" is not "never asked". */
export const toAnswersView = (answered: PublishedCertificate["answered"] | undefined) =>
  answered ? { entities_accepted: answered.accepted, entities_rejected: answered.rejected } : {};

/**
 * Absent while the person has withdrawn from no single recipient. Where the business has acknowledged the withdrawal of the whole
 * certificate, nobody on it is late.
 */
export const toWithdrawnEntitiesView = (
  {
    id,
    entitiesWithdrawn,
    withdrawal,
  }: Pick<PublishedCertificate, "id" | "entitiesWithdrawn"> & { readonly withdrawal: Pick<PublishedWithdrawal, "acknowledgedAt"> | null },
  { apiBase, now }: Pick<ViewContext, "apiBase" | "now">,
) =>
  entitiesWithdrawn.length === 0
    ? {}
    : {
        entities_withdrawn: entitiesWithdrawn.map(({ entity, number, withdrawnAt, ceaseBy, method, receivedAt, acknowledgedAt }) => ({
          entity,
          withdrawn_at: toIso(withdrawnAt),
          cease_by: toIso(ceaseBy),
          method,
          received_at: toIsoOrNull(receivedAt),
          receipt_url: buildEntityReceiptUrl(apiBase, id, number),
          cease_acknowledged_at: toIsoOrNull(acknowledgedAt),
          overdue: isOverdue(ceaseBy, acknowledgedAt ?? withdrawal?.acknowledgedAt ?? null, now),
        })),
      };

const toPolicyView = (policy: PublishedPolicy) => ({
  id: policy.id,
  kind: policy.kind,
  source_url: policy.sourceUrl,
  content_hash: policy.contentHash,
  captured_at: toIso(policy.capturedAt),
});

/** While pending, what will be anchored; once anchored, the verified receipt with it. */
export const toAnchorView = (anchor: PublishedAnchor | null) => {
  if (anchor === null) return null;
  const { event, entryHash, statement, ledgerId } = anchor;
  // stored only after every check of core/ledger/receipt.ts, so reading it needs none
  const receipt = anchor.status === "anchored" && anchor.receipt !== null ? (JSON.parse(anchor.receipt) as Receipt) : null;
  if (receipt === null) return { status: "pending" as const, event, entry_hash: entryHash, statement, ledger: ledgerId };
  return {
    status: "anchored" as const,
    event,
    ledger: ledgerId,
    tx_ref: receipt.tx_ref,
    entry_hash: entryHash,
    statement,
    leaf_index: receipt.leaf_index,
    tree_size: receipt.tree_size,
    inclusion_proof: receipt.inclusion_proof,
    signed_root: receipt.signed_root,
    anchored_at: toIsoOrNull(anchor.anchoredAt),
    // our clock: nobody else vouches for this time
    anchored_at_source: "service" as const,
    tlog_proof: formatReceiptProof(receipt),
    ...(anchor.attested && { attested: toAttestedView(anchor.attested) }),
  };
};

/** How it stands with the duty to cease contact. */
export const toWithdrawalView = (certId: string, withdrawal: PublishedWithdrawal, { apiBase, now }: ViewContext) => ({
  withdrawn_at: toIso(withdrawal.withdrawnAt),
  cease_by: toIso(withdrawal.ceaseBy),
  method: withdrawal.method,
  scope: withdrawal.scope,
  received_at: toIsoOrNull(withdrawal.receivedAt),
  receipt_url: buildReceiptUrl(apiBase, certId),
  cease_acknowledged_at: toIsoOrNull(withdrawal.acknowledgedAt),
  overdue: isOverdue(withdrawal.ceaseBy, withdrawal.acknowledgedAt, now),
});

const toWithdrawalWithProofView = (certId: string, withdrawal: WithdrawalWithProof, context: ViewContext) => ({
  ...toWithdrawalView(certId, withdrawal, context),
  anchor: toAnchorView(withdrawal.anchor),
});

/** GET /v1/certs/{id}/receipt: everything to check a withdrawal without us. */
export const toWithdrawalReceiptView = (withdrawal: WithdrawalProof) => ({
  receipt: parseWithdrawalReceipt(withdrawal.receipt),
  canonical: withdrawal.receipt,
  signature: { ...withdrawal.signature },
  anchor: toAnchorView(withdrawal.anchor),
});

const verifiedOriginChecks = (certificate: PublishedCertificate) => [
  {
    id: "origin",
    result: "reported",
    note:
      certificate.capturedVia === "browser"
        ? "The request named this origin, which was on a verified domain of the business. A browser sets that name itself; other programs can choose it."
        : "The request came from a server that named this origin, which was on a verified domain of the business.",
  },
  { id: "domain", result: "verified", note: "The business had proved control of the domain before this certificate was issued." },
];

const unverifiedOriginChecks = [
  { id: "origin", result: "reported", note: "The request named this origin, on the machine of a developer. Nobody checked it." },
  { id: "domain", result: "not_verified", note: "Nobody proved control of this domain: a sandbox certificate may name it without." },
];

/** What this service checked at the moment of issuance, and what it could not know. */
const listChecks = (certificate: PublishedCertificate) => [
  ...(hasVerifiedDomain(certificate) ? verifiedOriginChecks(certificate) : unverifiedOriginChecks),
  { id: "subject", result: "as_submitted", note: "The person's details are as they were typed into the form; nobody checked them." },
];

/** GET /v1/certs/{id}/verify: no personal data but the masked subject. */
export const toPublicView = (certificate: PublishedCertificate, context: ViewContext) => ({
  cert_id: certificate.id,
  status: certificate.status,
  environment: certificate.environment,
  fingerprint: certificate.fingerprint,
  fingerprint_version: fingerprintVersion,
  issued_at: toIso(certificate.issuedAt),
  verify_url: buildVerifyUrl(context.verifyBase, certificate.id),
  business_id: certificate.businessId,
  business_name: certificate.businessName,
  entities: certificate.entities,
  ...toAnswersView(certificate.answered),
  ...toWithdrawnEntitiesView(certificate, context),
  disclosure_text: certificate.disclosureText,
  disclosure_hash: certificate.disclosureHash,
  purpose: certificate.purpose,
  origin_domain: certificate.originDomain,
  subject: certificate.subjectMasked,
  subject_hash: certificate.subjectHash,
  subject_erased_at: toIsoOrNull(certificate.subjectErasedAt),
  policies: certificate.policies.map(toPolicyView),
  policies_status: getPoliciesStatus(certificate),
  preimage: { ...preimageFromPublished(certificate) },
  canonical: canonicalPreimageFromPublished(certificate),
  signature: { ...certificate.signature },
  anchor: toAnchorView(certificate.anchor),
  withdrawal: certificate.withdrawal === null ? null : toWithdrawalWithProofView(certificate.id, certificate.withdrawal, context),
  cease_by: toIsoOrNull(certificate.withdrawal?.ceaseBy ?? null),
  signals: { gpc: certificate.gpc },
  checks: listChecks(certificate),
  view_count: certificate.viewCount,
  status_list: null,
});

export const toPoliciesWithText = (certificate: PublishedCertificate, texts: ReadonlyMap<string, string | null>) =>
  certificate.policies.map((policy) => ({ ...toPolicyView(policy), text: texts.get(policy.contentHash) ?? null }));
