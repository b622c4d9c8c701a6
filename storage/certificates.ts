// Certificates: the rows an issuance writes, and the reads behind verify, list and detail. Each read is one query.
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { Issued } from "../core/certificates/issue.ts";
import type {
  IssuerSignature,
  OpenedCertificate,
  PublishedAnchor,
  PublishedCertificate,
  PublishedPolicy,
} from "../core/certificates/published.ts";
import { maskedSubject } from "../core/certificates/subject.ts";
import { base64UrlOf, bytesOfBase64Url } from "../core/bytes.ts";
import { canonicalJson, type Json } from "../core/canonical-json.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { insertInto } from "./sql.ts";
import type { SealedPlace, Vault } from "./vault.ts";
import { openedWithdrawal, provenWithdrawal, withdrawalProofColumns, type SealedWithdrawalRow } from "./withdrawals.ts";

const place = (certId: string, businessId: string, field: "subject" | "evidence"): SealedPlace => ({
  table: "certificates",
  record: certId,
  field,
  owner: businessId,
});

/** What the insert says when the account changed since the revision that was decided on. */
export const isOutdatedRevision = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("NOT NULL constraint failed: certificates.business_id");

/** Case-insensitive search compares this form; SQLite's own lower() knows ASCII only. */
export const foldedPurpose = (purpose: string): string => purpose.normalize("NFC").toLowerCase();

/**
 * Says of an issuance whether it asks for a look at the policies. A hint: read inside the insert, which SQLite promises to nobody,
 * so what is asked for is done within a minute whatever this says.
 */
const asksForPolicies = "(SELECT c.policy_capture_id IS NULL FROM certificates c WHERE c.id = issuances.id) AS asks";

export const hasAskedForPolicies = (issuance: D1Result | undefined): boolean =>
  (issuance?.results[0] as { asks?: number } | undefined)?.asks === 1;

/**
 * The rows of an issuance: the certificate, its purpose and disclosure where they are new, and a request for a look at the
 * origin's policies where there is no fresh one to share (0010_issuances.sql). The certificate's business_id is looked up inside the insert under the revision that was decided on: if the account, a domain or
 * a client changed since, it is NULL, the NOT NULL fails, and the whole batch is undone. So no certificate is ever committed
 * after the change that forbids it, and the account may be remembered between requests for as long as one likes.
 */
export const insertIssuance = async (
  db: D1Database,
  vault: Vault,
  issued: Issued,
  stored: {
    readonly revision: number;
    readonly signature: IssuerSignature;
    readonly manageTokenHash: string;
    readonly emailIndex: string | null;
    readonly phoneIndex: string | null;
    /** A look at the origin's policies younger than this is shared. */
    readonly policiesNotBefore: Instant;
    /** Where to begin looking: the form's page without query and fragment, for an outbox holds no personal data. */
    readonly policyPage: string;
  },
): Promise<D1PreparedStatement> => {
  const { certificate } = issued;
  const { id, business } = certificate;
  const { answered } = certificate.recipients;
  const subject = canonicalJson({ root_salt: base64UrlOf(certificate.rootSalt), fields: [...certificate.fields] });
  const [subjectSealed, evidenceSealed] = await Promise.all([
    vault.seal(place(id, business.id, "subject"), subject),
    vault.seal(place(id, business.id, "evidence"), certificate.evidenceText),
  ]);
  const row = {
    id,
    business_id: business.id,
    business_revision: stored.revision,
    business_name: business.name,
    client_id: certificate.clientId,
    environment: certificate.environment,
    purpose: certificate.purpose,
    purpose_folded: foldedPurpose(certificate.purpose),
    disclosure_hash: certificate.disclosureHash,
    disclosure_text: certificate.disclosureText,
    entities: JSON.stringify(certificate.recipients.entities),
    entities_accepted: answered === undefined ? null : JSON.stringify(answered.accepted),
    entities_rejected: answered === undefined ? null : JSON.stringify(answered.rejected),
    origin_domain: certificate.originDomain,
    issued_at: certificate.issuedAt,
    fingerprint: certificate.fingerprint,
    subject_hash: certificate.subjectHash,
    subject_masked: JSON.stringify(maskedSubject(certificate.fields)),
    subject_sealed: subjectSealed,
    email_index: stored.emailIndex,
    phone_index: stored.phoneIndex,
    evidence_sealed: evidenceSealed,
    evidence_hash: certificate.evidenceHash,
    gpc: certificate.circumstances.gpc ? 1 : 0,
    captured_via: certificate.circumstances.capturedVia,
    signature: stored.signature.value,
    signature_kid: stored.signature.kid,
    manage_token_hash: stored.manageTokenHash,
    policies_not_before: stored.policiesNotBefore,
    policy_page: stored.policyPage,
    retention_until: certificate.retentionUntil,
  };
  return insertInto(db, "issuances", row, asksForPolicies);
};

interface CertificateRow {
  id: string;
  business_id: string;
  business_name: string;
  environment: Environment;
  status: CertificateStatus;
  purpose: string;
  disclosure_text: string;
  disclosure_hash: string;
  entities: string;
  entities_accepted: string | null;
  entities_rejected: string | null;
  origin_domain: string;
  issued_at: Instant;
  fingerprint: string;
  subject_hash: string;
  subject_masked: string;
  subject_erased_at: Instant | null;
  evidence_hash: string;
  gpc: number;
  captured_via: "browser" | "server";
  signature: string;
  signature_kid: string;
  view_count: number;
  retention_until: Instant;
  policy_capture_id: string | null;
  policies: string;
  anchor_event: string | null;
  anchor_ledger: string;
  anchor_entry: string;
  anchor_statement: string;
  anchor_status: PublishedAnchor["status"];
  anchor_receipt: string | null;
  anchored_at: Instant | null;
  withdrawal: string | null;
  revocation_anchor: string | null;
}

const publishedColumns = `c.id, c.business_id, c.business_name, c.environment, c.status, p.purpose, d.text AS disclosure_text,
  c.disclosure_hash, c.entities, c.entities_accepted, c.entities_rejected, c.origin_domain, c.issued_at, c.fingerprint,
  c.subject_hash, c.subject_masked, c.subject_erased_at, c.evidence_hash, c.gpc, c.captured_via, c.signature, c.signature_kid,
  c.view_count, c.retention_until, c.policy_capture_id,
  (SELECT json_group_array(json_array(s.id, s.kind, s.source_url, s.content_hash, s.captured_at))
     FROM policy_captures q JOIN policy_snapshots s ON s.id IN (q.privacy_id, q.terms_id)
    WHERE q.id = c.policy_capture_id) AS policies,
  a.event AS anchor_event, a.ledger_id AS anchor_ledger, a.entry_hash AS anchor_entry, a.statement AS anchor_statement,
  a.status AS anchor_status, a.receipt AS anchor_receipt, a.anchored_at,
  ${withdrawalProofColumns} AS withdrawal,
  CASE c.status WHEN 'revoked' THEN (
    SELECT json_array(r.event, r.ledger_id, r.entry_hash, r.statement, r.status, r.receipt, r.anchored_at)
      FROM anchors r WHERE r.entity_id = c.id AND r.event = 'certificate.revoked' ORDER BY r.ord LIMIT 1) END AS revocation_anchor`;

/** Every certificate has an anchor and few are withdrawn: the first is joined, so that its receipt is not quoted within a quotation. */
const publishedFrom = `certificates c JOIN purposes p ON p.id = c.purpose_id JOIN disclosures d ON d.hash = c.disclosure_hash
  LEFT JOIN anchors a ON a.ord = (
    SELECT i.ord FROM anchors i WHERE i.entity_id = c.id AND i.event = 'certificate.issued' ORDER BY i.ord LIMIT 1)`;

const policiesOf = (json: string): PublishedPolicy[] =>
  (JSON.parse(json) as [string, "privacy" | "terms", string, string, Instant][])
    .map(([id, kind, sourceUrl, contentHash, capturedAt]) => ({ id, kind, sourceUrl, contentHash, capturedAt }))
    .sort((a, b) => (a.kind < b.kind ? -1 : 1));

const issuedAnchor = (row: CertificateRow): PublishedAnchor | null =>
  row.anchor_event === null
    ? null
    : {
        event: row.anchor_event,
        ledgerId: row.anchor_ledger,
        entryHash: row.anchor_entry,
        statement: row.anchor_statement,
        status: row.anchor_status,
        receipt: row.anchor_receipt,
        anchoredAt: row.anchored_at,
      };

const anchorOf = (json: string | null): PublishedAnchor | null => {
  if (json === null) return null;
  const [event, ledgerId, entryHash, statement, status, receipt, anchoredAt] = JSON.parse(json) as [
    string,
    string,
    string,
    string,
    PublishedAnchor["status"],
    string | null,
    Instant | null,
  ];
  return { event, ledgerId, entryHash, statement, status, receipt, anchoredAt };
};

const fromRow = (row: CertificateRow): PublishedCertificate => ({
  id: row.id as CertId,
  businessId: row.business_id as BusinessId,
  businessName: row.business_name,
  environment: row.environment,
  status: row.status,
  purpose: row.purpose,
  disclosureText: row.disclosure_text,
  disclosureHash: row.disclosure_hash,
  entities: JSON.parse(row.entities) as string[],
  answered:
    row.entities_accepted === null
      ? null
      : { accepted: JSON.parse(row.entities_accepted) as string[], rejected: JSON.parse(row.entities_rejected as string) as string[] },
  originDomain: row.origin_domain,
  issuedAt: row.issued_at,
  fingerprint: row.fingerprint,
  subjectHash: row.subject_hash,
  subjectMasked: JSON.parse(row.subject_masked) as Record<string, string>,
  subjectErasedAt: row.subject_erased_at,
  gpc: row.gpc === 1,
  capturedVia: row.captured_via,
  signature: { kid: row.signature_kid, alg: "Ed25519", value: row.signature },
  viewCount: row.view_count,
  policiesLooked: row.policy_capture_id !== null,
  policies: policiesOf(row.policies),
  anchor: issuedAnchor(row),
  withdrawal: provenWithdrawal(row.withdrawal, anchorOf(row.revocation_anchor)),
});

const publishedStatement = (db: D1Database, certId: CertId): D1PreparedStatement =>
  db.prepare(`SELECT ${publishedColumns} FROM ${publishedFrom} WHERE c.id = ?`).bind(certId);

/** The published certificate, whoever asks. */
export const certificateById = async (db: D1Database, certId: CertId): Promise<PublishedCertificate | null> => {
  const row = await publishedStatement(db, certId).first<CertificateRow>();
  return row === null ? null : fromRow(row);
};

/**
 * What the public page shows: the published certificate, and when its issuance was entered in the audit log. Reads in the
 * same round trip that writes `noted`, the statements of the open; what they count is then in what is read.
 */
export const certificateForPage = async (
  db: D1Database,
  certId: CertId,
  noted: readonly D1PreparedStatement[] = [],
): Promise<{ readonly certificate: PublishedCertificate; readonly loggedAt: Instant | null } | null> => {
  const answers = await db.batch<CertificateRow & { logged_at: Instant | null }>([
    ...noted,
    db
      .prepare(
        `SELECT ${publishedColumns},
           (SELECT o.drained_at FROM audit_outbox o WHERE o.entity_id = c.id AND o.type = 'certificate.issued') AS logged_at
         FROM ${publishedFrom} WHERE c.id = ?`,
      )
      .bind(certId),
  ]);
  const row = answers.at(-1)?.results[0];
  return row === undefined ? null : { certificate: fromRow(row), loggedAt: row.logged_at };
};

interface OwnersColumns {
  subject_sealed: string | null;
  evidence_sealed: string;
  audit_chain: string;
  audit_shard: number;
  issued_entry: string | null;
}

/** The owner's view: subject and evidence opened. Null for an unknown certificate and for somebody else's, alike. */
export const openedCertificate = async (
  db: D1Database,
  vault: Vault,
  asked: { readonly certId: CertId; readonly businessId: BusinessId; readonly environment: Environment },
): Promise<OpenedCertificate | null> => {
  const row = await db
    .prepare(
      `SELECT ${publishedColumns}, c.subject_sealed, c.evidence_sealed, b.audit_chain, b.audit_shard,
         (SELECT o.id FROM audit_outbox o
           WHERE o.entity_id = c.id AND o.type = 'certificate.issued' AND o.drained_at IS NOT NULL) AS issued_entry,
         (SELECT w.channel FROM withdrawals w WHERE w.cert_id = c.id) AS channel,
         (SELECT w.note_sealed FROM withdrawals w WHERE w.cert_id = c.id) AS note_sealed,
         (SELECT k.details_sealed FROM cease_acknowledgements k WHERE k.cert_id = c.id) AS details_sealed
       FROM ${publishedFrom} JOIN businesses b ON b.id = c.business_id
       WHERE c.id = ? AND c.business_id = ? AND c.environment = ?`,
    )
    .bind(asked.certId, asked.businessId, asked.environment)
    .first<CertificateRow & SealedWithdrawalRow & OwnersColumns>();
  if (row === null) return null;
  const [subject, evidence, withdrawal] = await Promise.all([
    row.subject_sealed === null ? null : vault.open(place(row.id, row.business_id, "subject"), row.subject_sealed),
    vault.open(place(row.id, row.business_id, "evidence"), row.evidence_sealed),
    row.withdrawal === null ? null : openedWithdrawal(vault, asked, row),
  ]);
  return {
    certificate: fromRow(row),
    subject: subject === null ? null : openedSubject(subject),
    evidence: JSON.parse(evidence) as { readonly [key: string]: Json },
    evidenceHash: row.evidence_hash,
    retentionUntil: row.retention_until,
    chain: { tag: row.audit_chain, shard: row.audit_shard },
    issuedEntry: row.issued_entry,
    withdrawal,
  };
};

const openedSubject = (text: string): NonNullable<OpenedCertificate["subject"]> => {
  const parsed = JSON.parse(text) as { root_salt: string; fields: [string, string][] };
  const rootSalt = bytesOfBase64Url(parsed.root_salt);
  if (rootSalt === null) throw new Error("certificates: a sealed subject holds no root salt");
  return { fields: new Map(parsed.fields), rootSalt };
};

/** The address typed into the form, of a subject as it is sealed; null where there is none. */
export const sealedMailbox = async (
  vault: Vault,
  certId: string,
  businessId: string,
  subjectSealed: string | null,
): Promise<string | null> => {
  if (subjectSealed === null) return null;
  const { fields } = openedSubject(await vault.open(place(certId, businessId, "subject"), subjectSealed));
  return fields.get("email") || null;
};
