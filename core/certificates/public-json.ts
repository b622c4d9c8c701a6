// A certificate's published JSON. GET /v1/certs/{id}/verify returns it, certificate.json in packs contains it, and svc-verify checks it.
// This code reads only `PublishedCertificate`, so decrypted values cannot get into the JSON.
import { toIso, toIsoOrNull, type Instant } from "../time.ts";
import { isOverdue } from "../withdrawals/cease-acknowledgment.ts";
import { parseWithdrawalReceipt } from "../withdrawals/receipt.ts";
import { parseCheckpoint } from "../ledger/checkpoint.ts";
import { formatReceiptProof } from "../ledger/receipt.ts";
import { findEarliestTimestamp, listCosignatureLines, type AttestedStatement } from "./attested-statement.ts";
import { fingerprintVersion } from "./fingerprint.ts";
import { buildEntityReceiptUrl, buildReceiptUrl, buildVerifyUrl } from "./certificate-urls.ts";
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

/** Values that a view needs in addition to the certificate. */
export interface ViewContext {
  readonly verifyBase: string;
  /** The base URL of the API, including the version. */
  readonly apiBase: string;
  readonly now: Instant;
}

/** Returns both answer lists, which may be empty. Returns no properties if the person was not asked about each recipient. */
export const toAnswersView = (answered: PublishedCertificate["answered"] | undefined) =>
  answered ? { entities_accepted: answered.accepted, entities_rejected: answered.rejected } : {};

/**
 * Returns the `entities_withdrawn` property, or no property if consent was not withdrawn for individual recipients. No recipient counts as
 * overdue once the business has acknowledged the withdrawal of the whole certificate.
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

/**
 * Returns the published `attested` property of an anchor. Its time comes from a timestamp authority if there is one, and otherwise from a
 * witness.
 */
const toAttestedView = (attested: AttestedStatement) => {
  const stamp = findEarliestTimestamp(attested);
  return {
    tree_size: parseCheckpoint(attested.note)?.size.toString() ?? null,
    signed_root: attested.note + listCosignatureLines(attested).join(""),
    inclusion_proof: attested.inclusionProof,
    time: stamp?.time ?? attested.attestations.map(({ time }) => time).sort()[0] ?? null,
    time_source: stamp === null ? ("cosignature" as const) : ("rfc3161" as const),
    attestations: attested.attestations.map((attestation) =>
      attestation.kind === "rfc3161"
        ? { kind: attestation.kind, tsa: attestation.tsa, time: attestation.time, token: attestation.token }
        : { kind: attestation.kind, name: attestation.name, time: attestation.time },
    ),
  };
};

/**
 * Returns the published form of an anchor. While the anchor is pending, the result contains the statement that will be anchored. Afterward,
 * it also contains the proof from the verified receipt.
 */
export const toAnchorView = (anchor: PublishedAnchor | null) => {
  if (anchor === null) return null;
  // Receipts are stored only after they have passed every check in core/ledger/receipt.ts, so they are not checked again when they are
  // read.
  const { event, entryHash, statement, ledgerId, receipt } = anchor;
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
    // This time comes from the service's own clock. No third party attests it.
    anchored_at_source: "service" as const,
    tlog_proof: formatReceiptProof(receipt),
    ...(anchor.attested && { attested: toAttestedView(anchor.attested) }),
  };
};

/** Returns the published form of a withdrawal, with the deadline to cease contact and whether the business is overdue. */
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

/** Builds the response of GET /v1/certs/{id}/receipt: everything that is needed to check a withdrawal without the service. */
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
        ? "The request named this origin, which was on one of the business's verified domains. Browsers set the origin themselves, but other programs can send any origin."
        : "The request came from a server that named this origin, which was on one of the business's verified domains.",
  },
  { id: "domain", result: "verified", note: "The business had verified this domain before the certificate was issued." },
];

const unverifiedOriginChecks = [
  {
    id: "origin",
    result: "reported",
    note: "The request named this origin and came from a developer's machine. The origin was not verified.",
  },
  { id: "domain", result: "not_verified", note: "Control of this domain was not verified. A sandbox certificate does not require it." },
];

/** Lists what was checked at issuance, and what could not be checked. */
const listChecks = (certificate: PublishedCertificate) => [
  ...(hasVerifiedDomain(certificate) ? verifiedOriginChecks(certificate) : unverifiedOriginChecks),
  { id: "subject", result: "as_submitted", note: "The person's details are as typed into the form. They were not verified." },
];

/** Returns the `duplicates` property, or no property if there are none. */
const toDuplicatesView = (duplicates: PublishedCertificate["duplicates"] = []) =>
  duplicates.length === 0
    ? {}
    : {
        duplicates: duplicates.map(({ fingerprint, issuedAt, canonical, signature }) => ({
          fingerprint,
          issued_at: toIso(issuedAt),
          canonical,
          signature: { ...signature },
        })),
      };

/** Builds the response of GET /v1/certs/{id}/verify. It contains no personal data except the masked subject. */
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
  ...certificate.notes,
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
  ...toDuplicatesView(certificate.duplicates),
});

/** Returns a certificate's policies, with their text if it could be read. */
export const toPoliciesWithText = (certificate: PublishedCertificate, texts: ReadonlyMap<string, string | null>) =>
  certificate.policies.map((policy) => ({ ...toPolicyView(policy), text: texts.get(policy.contentHash) ?? null }));
