// Businesses as the other operations need them: what a client id or an API key opens. One query each.
import type { BusinessStatus, Environment, Plan } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { AuditChain } from "../core/facts.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";

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
  /** The look at this origin's policies that is young enough to share, if there is one. */
  readonly freshCaptureId: string | null;
  /** The stored answer under the caller's idempotency key, if there is one. */
  readonly answered: { readonly bodyHash: string; readonly status: number; readonly responseSealed: string } | null;
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
  domains: string;
  fresh_capture_id: string | null;
  answered_body_hash: string | null;
  answered_status: number | null;
  answered_response: string | null;
}

/** Everything POST /v1/consent has to read, in one query. Null for an unknown client. */
export const capturingClient = async (
  db: D1Database,
  asked: {
    readonly clientId: ClientId;
    readonly originHost: string;
    readonly captureNotBefore: Instant;
    /** Null when the caller sent no key. */
    readonly idempotencyKeyHash: string | null;
    readonly now: Instant;
  },
): Promise<CapturingClient | null> => {
  const row = await db
    .prepare(
      `SELECT b.id, b.name, b.status, b.plan, b.country, c.environment, b.audit_chain, b.audit_shard, b.retention_years,
         (SELECT json_group_array(json_array(d.id, d.domain, d.method)) FROM domains d
           WHERE d.business_id = b.id AND d.status = 'verified') AS domains,
         (SELECT p.id FROM policy_captures p WHERE p.domain = ?2 AND p.captured_at > ?3
           ORDER BY p.captured_at DESC LIMIT 1) AS fresh_capture_id,
         i.body_hash AS answered_body_hash, i.status AS answered_status, i.response_sealed AS answered_response
       FROM clients c JOIN businesses b ON b.id = c.business_id
       LEFT JOIN idempotency i ON i.key_hash = ?4 AND i.expires_at > ?5
       WHERE c.id = ?1`,
    )
    .bind(asked.clientId, asked.originHost, asked.captureNotBefore, asked.idempotencyKeyHash, asked.now)
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
    freshCaptureId: row.fresh_capture_id,
    answered:
      row.answered_body_hash === null
        ? null
        : { bodyHash: row.answered_body_hash, status: row.answered_status as number, responseSealed: row.answered_response as string },
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
