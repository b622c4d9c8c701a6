// Businesses as the other operations need them: what a client id or an API key opens. One query each.
import type { BusinessStatus, Environment, Plan } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { AuditChain } from "../core/facts.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";

/** An account as issuing needs it. Two readings with equal revision are equal in everything here. */
export interface CapturingClient {
  readonly id: BusinessId;
  readonly name: string;
  readonly status: BusinessStatus;
  readonly plan: Plan;
  readonly country: string;
  readonly environment: Environment;
  readonly domains: readonly VerifiedDomain[];
  readonly chain: AuditChain;
  readonly retentionYears: number;
  /** Whether it asked to hear of each issuance. */
  readonly emitsIssued: boolean;
  readonly revision: number;
}

interface CapturingClientRow {
  id: string;
  name: string;
  status: BusinessStatus;
  plan: Plan;
  country: string;
  environment: Environment;
  audit_chain: string;
  audit_shard: number;
  retention_years: number;
  emit_certificate_issued: number;
  revision: number;
  domains: string;
}

/** Everything POST /v1/consent decides on, in one query. Null for an unknown client. */
export const capturingClient = async (db: D1Database, clientId: ClientId): Promise<CapturingClient | null> => {
  const row = await db
    .prepare(
      `SELECT b.id, b.name, b.status, b.plan, b.country, c.environment, b.audit_chain, b.audit_shard, b.retention_years, b.emit_certificate_issued, b.revision,
         (SELECT json_group_array(json_array(d.id, d.domain, d.method)) FROM domains d
           WHERE d.business_id = b.id AND d.status = 'verified') AS domains
       FROM clients c JOIN businesses b ON b.id = c.business_id WHERE c.id = ?`,
    )
    .bind(clientId)
    .first<CapturingClientRow>();
  if (row === null) return null;
  return {
    id: row.id as BusinessId,
    name: row.name,
    status: row.status,
    plan: row.plan,
    country: row.country,
    environment: row.environment,
    domains: (JSON.parse(row.domains) as [string, string, VerifiedDomain["method"]][]).map(([id, domain, method]) => ({
      id,
      domain,
      method,
    })),
    chain: { tag: row.audit_chain, shard: row.audit_shard },
    retentionYears: row.retention_years,
    emitsIssued: row.emit_certificate_issued === 1,
    revision: row.revision,
  };
};

export interface KeyHolder {
  readonly keyId: string;
  readonly environment: Environment;
  readonly business: {
    readonly id: BusinessId;
    readonly name: string;
    readonly status: BusinessStatus;
    readonly country: string;
    readonly chain: AuditChain;
  };
}

/** The holder of a live API key, by the SHA-256 of the key. Unknown and revoked keys take the same path to null. */
export const keyHolder = async (db: D1Database, keyHash: string): Promise<KeyHolder | null> => {
  const row = await db
    .prepare(
      `SELECT k.id AS key_id, k.environment, b.id, b.name, b.status, b.country, b.audit_chain, b.audit_shard
       FROM api_keys k JOIN businesses b ON b.id = k.business_id
       WHERE k.key_hash = ? AND k.revoked_at IS NULL`,
    )
    .bind(keyHash)
    .first<{
      key_id: string;
      environment: Environment;
      id: string;
      name: string;
      status: BusinessStatus;
      country: string;
      audit_chain: string;
      audit_shard: number;
    }>();
  if (row === null) return null;
  return {
    keyId: row.key_id,
    environment: row.environment,
    business: {
      id: row.id as BusinessId,
      name: row.name,
      status: row.status,
      country: row.country,
      chain: { tag: row.audit_chain, shard: row.audit_shard },
    },
  };
};

/** How a business names itself to courts and letters. */
export const businessIdentity = async (
  db: D1Database,
  businessId: BusinessId,
): Promise<{ readonly legalName: string | null; readonly mailingAddress: string | null; readonly contact: string | null }> => {
  const row = await db
    .prepare("SELECT legal_name, mailing_address, contact_email FROM businesses WHERE id = ?")
    .bind(businessId)
    .first<{ legal_name: string | null; mailing_address: string | null; contact_email: string | null }>();
  return { legalName: row?.legal_name ?? null, mailingAddress: row?.mailing_address ?? null, contact: row?.contact_email ?? null };
};

/** ISO 3166-1 alpha-2; null for a business that is not here. */
export const businessCountry = (db: D1Database, businessId: BusinessId): Promise<string | null> =>
  db.prepare("SELECT country FROM businesses WHERE id = ?").bind(businessId).first<string>("country");

/** The names a certificate may call a business by, and whether it has proved any domain. */
export const businessNames = async (
  db: D1Database,
  businessId: BusinessId,
): Promise<{ readonly name: string; readonly legalName: string | null; readonly hasVerifiedDomain: boolean } | null> => {
  const row = await db
    .prepare(
      `SELECT b.name, b.legal_name, EXISTS (SELECT 1 FROM domains d WHERE d.business_id = b.id AND d.status = 'verified') AS proved
       FROM businesses b WHERE b.id = ?`,
    )
    .bind(businessId)
    .first<{ name: string; legal_name: string | null; proved: number }>();
  return row === null ? null : { name: row.name, legalName: row.legal_name, hasVerifiedDomain: row.proved === 1 };
};
