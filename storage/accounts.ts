// Businesses as the other operations need them: what a client id or an API key opens. One query each.
import { eq, isNull } from "drizzle-orm";
import type { BusinessStatus, Environment, Plan } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { ActingBusiness } from "../core/access/principal.ts";
import type { AuditChain } from "../core/facts.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { prepared } from "./prepared.ts";
import { apiKeys, businesses, clients, domains } from "./schema.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, existsIn, query } from "./query.ts";

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

/** For selections from businesses. */
export const chainOfBusiness = { tag: businesses.auditChain, shard: businesses.auditShard };

const isVerified = allOf(eq(domains.businessId, businesses.id), eq(domains.status, "verified"));

/** Sub-select for a query over businesses. A CHECK gives every verified domain its method. */
export const verifiedDomains = jsonRows({ id: domains.id, domain: domains.domain, method: domains.method }, (rows) =>
  query.select({ rows }).from(domains).where(isVerified),
);

/** Everything POST /v1/consent decides on, in one query. Null for an unknown client. */
export const capturingClient = async (db: Database, clientId: ClientId): Promise<CapturingClient | null> => {
  const row = await db
    .select({
      id: businesses.id,
      name: businesses.name,
      status: businesses.status,
      plan: businesses.plan,
      country: businesses.country,
      environment: clients.environment,
      domains: verifiedDomains,
      chain: chainOfBusiness,
      retentionYears: businesses.retentionYears,
      emitsIssued: businesses.emitCertificateIssued,
      revision: businesses.revision,
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get();
  return row === undefined ? null : { ...row, domains: row.domains as readonly VerifiedDomain[] };
};

export interface KeyHolder {
  readonly keyId: string;
  readonly environment: Environment;
  /** The day it was last used before; null for never. */
  readonly lastUsedAt: Instant | null;
  readonly business: ActingBusiness;
}

const holderByHash = prepared<{ keyHash: string }>()((db, { keyHash }) =>
  db
    .select({
      keyId: apiKeys.id,
      environment: apiKeys.environment,
      lastUsedAt: apiKeys.lastUsedAt,
      business: { id: businesses.id, name: businesses.name, status: businesses.status, country: businesses.country },
      chain: chainOfBusiness,
    })
    .from(apiKeys)
    .innerJoin(businesses, eq(businesses.id, apiKeys.businessId))
    .where(allOf(eq(apiKeys.keyHash, keyHash), isNull(apiKeys.revokedAt)))
    .prepare(),
);

/** The holder of a live API key, by the SHA-256 of the key. Unknown and revoked keys take the same path to null. */
export const keyHolder = async (db: Database, keyHash: string): Promise<KeyHolder | null> => {
  const row = await holderByHash(db, { keyHash }).get();
  if (row === undefined) return null;
  const { business, chain, ...key } = row;
  return { ...key, business: { ...business, chain } };
};

/** What a page of a business is looked at with: its domains, and the client its script tag names. */
export const integratingBusiness = async (
  db: Database,
  businessId: BusinessId,
  environment: Environment,
): Promise<{ readonly domains: readonly VerifiedDomain[]; readonly clientId: ClientId } | null> => {
  const row = await db
    .select({ domains: verifiedDomains, clientId: clients.id })
    .from(businesses)
    .innerJoin(clients, allOf(eq(clients.businessId, businesses.id), eq(clients.environment, environment)))
    .where(eq(businesses.id, businessId))
    .orderBy(clients.createdAt, clients.id)
    .get();
  return row === undefined ? null : { ...row, domains: row.domains as readonly VerifiedDomain[] };
};

/** How a business names itself to courts and letters. */
export const businessIdentity = async (
  db: Database,
  businessId: BusinessId,
): Promise<{ readonly legalName: string | null; readonly mailingAddress: string | null; readonly contact: string | null }> =>
  (await db
    .select({ legalName: businesses.legalName, mailingAddress: businesses.mailingAddress, contact: businesses.contactEmail })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? { legalName: null, mailingAddress: null, contact: null };

/** ISO 3166-1 alpha-2; null for a business that is not here. */
export const businessCountry = async (db: Database, businessId: BusinessId): Promise<string | null> => {
  const row = await db.select({ country: businesses.country }).from(businesses).where(eq(businesses.id, businessId)).get();
  return row?.country ?? null;
};

/** The names a certificate may call a business by, and whether it has proved any domain. */
export const businessNames = async (
  db: Database,
  businessId: BusinessId,
): Promise<{ readonly name: string; readonly legalName: string | null; readonly hasVerifiedDomain: boolean } | null> =>
  (await db
    .select({
      name: businesses.name,
      legalName: businesses.legalName,
      hasVerifiedDomain: existsIn(domains, isVerified).mapWith(Boolean),
    })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? null;
