// Withdrawals: what is read of them wherever a certificate is read, and the rows that make one. The primary key of a
// withdrawal is the certificate: of a thousand batches that withdraw the same one, the first commits and every other is
// undone whole, with its audit entry, its statement, its event and its mail.
import type { Environment } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type {
  IssuerSignature,
  OpenedWithdrawal,
  ProvenWithdrawal,
  PublishedAnchor,
  PublishedWithdrawal,
} from "../core/certificates/published.ts";
import type { CeaseDetails } from "../core/withdrawals/acknowledge.ts";
import type {
  RecordedChannel,
  WithdrawableCertificate,
  Withdrawal,
  WithdrawalMethod,
  WithdrawalScope,
} from "../core/withdrawals/withdrawal.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { insertInto } from "./sql.ts";
import type { SealedPlace, Vault } from "./vault.ts";

const notePlace = (certId: string, businessId: string): SealedPlace => ({
  table: "withdrawals",
  record: certId,
  field: "note",
  owner: businessId,
});
const detailsPlace = (certId: string, businessId: string): SealedPlace => ({
  table: "cease_acknowledgements",
  record: certId,
  field: "details",
  owner: businessId,
});

const published = "w.withdrawn_at, w.cease_by, w.method, w.scope, w.received_at, k.acknowledged_at";
const ofCertificate = "withdrawals w LEFT JOIN cease_acknowledgements k ON k.cert_id = w.cert_id WHERE w.cert_id = c.id";

/** Sub-selects for a query over `certificates c`; NULL while it is active. */
export const withdrawalColumns = `(SELECT json_array(${published}) FROM ${ofCertificate})`;
export const withdrawalProofColumns = `(SELECT json_array(${published}, w.receipt, w.signature, w.signature_kid) FROM ${ofCertificate})`;

type PublishedRow = [Instant, Instant, WithdrawalMethod, WithdrawalScope, Instant | null, Instant | null];

const fromRow = ([withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt]: PublishedRow): PublishedWithdrawal => ({
  withdrawnAt,
  ceaseBy,
  method,
  scope,
  receivedAt,
  acknowledgedAt,
});

export const publishedWithdrawal = (json: string | null): PublishedWithdrawal | null =>
  json === null ? null : fromRow(JSON.parse(json) as PublishedRow);

export const provenWithdrawal = (json: string | null, anchor: PublishedAnchor | null): ProvenWithdrawal | null => {
  if (json === null) return null;
  const row = JSON.parse(json) as [...PublishedRow, string, string, string];
  const [withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt, receipt, value, kid] = row;
  return {
    ...fromRow([withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt]),
    receipt,
    signature: { kid, alg: "Ed25519", value },
    anchor,
  };
};

export interface SealedWithdrawalRow {
  channel: RecordedChannel | null;
  note_sealed: string | null;
  details_sealed: string | null;
}

export const openedWithdrawal = async (
  vault: Vault,
  of: { readonly certId: CertId; readonly businessId: BusinessId },
  row: SealedWithdrawalRow,
): Promise<OpenedWithdrawal> => {
  const [note, details] = await Promise.all([
    row.note_sealed === null ? null : vault.open(notePlace(of.certId, of.businessId), row.note_sealed),
    row.details_sealed === null ? null : vault.open(detailsPlace(of.certId, of.businessId), row.details_sealed),
  ]);
  return {
    recorded: row.channel === null ? null : { channel: row.channel, note },
    acknowledgement: details === null ? null : (JSON.parse(details) as CeaseDetails),
  };
};

interface WithdrawableRow {
  id: string;
  business_id: string;
  business_name: string;
  environment: Environment;
  status: WithdrawableCertificate["status"];
  origin_domain: string;
  issued_at: Instant;
  fingerprint: string;
  audit_chain: string;
  audit_shard: number;
}

const withdrawableColumns = `c.id, c.business_id, c.business_name, c.environment, c.status, c.origin_domain, c.issued_at, c.fingerprint,
  b.audit_chain, b.audit_shard`;

const withdrawableOf = (row: WithdrawableRow): WithdrawableCertificate => ({
  id: row.id as CertId,
  businessId: row.business_id as BusinessId,
  businessName: row.business_name,
  environment: row.environment,
  status: row.status,
  originDomain: row.origin_domain,
  issuedAt: row.issued_at,
  fingerprint: row.fingerprint,
  chain: { tag: row.audit_chain, shard: row.audit_shard },
});

/** A certificate as a withdrawal needs it, with what proves who may. */
export interface WithdrawableRecord {
  readonly certificate: WithdrawableCertificate;
  readonly emailIndex: string | null;
  readonly subjectSealed: string | null;
  readonly manageTokenHash: string;
  /** Verified domains of the business. */
  readonly domains: readonly VerifiedDomain[];
  readonly withdrawal: PublishedWithdrawal | null;
}

export const withdrawableById = async (db: D1Database, certId: CertId): Promise<WithdrawableRecord | null> => {
  const row = await db
    .prepare(
      `SELECT ${withdrawableColumns}, c.email_index, c.subject_sealed, c.manage_token_hash, ${withdrawalColumns} AS withdrawal,
         (SELECT json_group_array(json_array(d.id, d.domain, d.method)) FROM domains d
           WHERE d.business_id = b.id AND d.status = 'verified') AS domains
       FROM certificates c JOIN businesses b ON b.id = c.business_id WHERE c.id = ?`,
    )
    .bind(certId)
    .first<
      WithdrawableRow & {
        email_index: string | null;
        subject_sealed: string | null;
        manage_token_hash: string;
        withdrawal: string | null;
        domains: string;
      }
    >();
  if (row === null) return null;
  return {
    certificate: withdrawableOf(row),
    emailIndex: row.email_index,
    subjectSealed: row.subject_sealed,
    manageTokenHash: row.manage_token_hash,
    domains: (JSON.parse(row.domains) as [string, string, VerifiedDomain["method"]][]).map(([id, domain, method]) => ({
      id,
      domain,
      method,
    })),
    withdrawal: publishedWithdrawal(row.withdrawal),
  };
};

/** What a withdrawal from everything covers: certificates of one business that carry one address and stood at that moment. */
export interface SameAddress {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly addressIndex: string;
  /** A certificate issued later is a new consent. */
  readonly issuedUntil: Instant;
}

/** Those that are still active, oldest first. */
export const activeWithAddress = async (db: D1Database, same: SameAddress, most: number): Promise<readonly WithdrawableCertificate[]> => {
  const { results } = await db
    .prepare(
      `SELECT ${withdrawableColumns} FROM certificates c JOIN businesses b ON b.id = c.business_id
       WHERE c.email_index = ? AND c.business_id = ? AND c.environment = ? AND c.issued_at <= ? AND c.status = 'active'
       ORDER BY c.issued_at, c.ord LIMIT ?`,
    )
    .bind(same.addressIndex, same.businessId, same.environment, same.issuedUntil, most)
    .all<WithdrawableRow>();
  return results.map(withdrawableOf);
};

/** The row of a withdrawal; the certificate and its counters follow by trigger. It fails when there is one already. */
export const insertWithdrawal = async (
  db: D1Database,
  vault: Vault,
  certificate: WithdrawableCertificate,
  withdrawal: Withdrawal,
  receipt: { readonly text: string; readonly signature: IssuerSignature },
): Promise<D1PreparedStatement> => {
  const { recorded } = withdrawal;
  const note = recorded?.note ?? null;
  return insertInto(db, "withdrawals", {
    cert_id: certificate.id,
    business_id: certificate.businessId,
    environment: certificate.environment,
    withdrawn_at: withdrawal.withdrawnAt,
    cease_by: withdrawal.ceaseBy,
    method: withdrawal.method,
    scope: withdrawal.scope,
    channel: recorded?.channel ?? null,
    received_at: recorded?.receivedAt ?? null,
    note_sealed: note === null ? null : await vault.seal(notePlace(certificate.id, certificate.businessId), note),
    receipt: receipt.text,
    signature: receipt.signature.value,
    signature_kid: receipt.signature.kid,
  });
};

/** True when the batch failed because the certificate had been withdrawn already. */
export const isWithdrawnAlready = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message.includes("UNIQUE constraint failed: withdrawals.cert_id") || error.message.includes("a certificate is revoked once"));

/** It fails when the business has acknowledged already. */
export const insertAcknowledgement = async (
  db: D1Database,
  vault: Vault,
  of: { readonly certId: CertId; readonly businessId: BusinessId },
  details: CeaseDetails,
  now: Instant,
): Promise<D1PreparedStatement> =>
  db
    .prepare("INSERT INTO cease_acknowledgements (cert_id, acknowledged_at, details_sealed) VALUES (?, ?, ?)")
    .bind(of.certId, now, await vault.seal(detailsPlace(of.certId, of.businessId), JSON.stringify(details)));

export const isAcknowledgedAlready = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("UNIQUE constraint failed: cease_acknowledgements.cert_id");
