// Loads the business account for a client ID or an API key, with the data that each operation needs. Each read is one query.
import { auditLogOf } from "./audit-entries.ts";
import { eq, isNull, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { GrantingClient } from "../core/shares/grant.ts";
import type { Database, Found } from "./database.ts";
import { issuingShardsField, otherShardsField } from "./issuing-shards.ts";
import { clientClockOffsetField } from "./sandbox-clocks.ts";
import { prepareOnce } from "./prepared.ts";
import { apiKeys, businesses, clients, domains, issuers, shares } from "./schema.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, countIn, notExistsIn, query } from "./query.ts";

/** The audit chain of a business, for selections from `businesses`. */
export const businessChainFields = { tag: businesses.auditChain, auditLog: auditLogOf(businesses.id) };

const isVerifiedDomain = allOf(eq(domains.businessId, businesses.id), eq(domains.status, "verified"));

/**
 * The verified domains of a business, for a query over `businesses`. A CHECK constraint guarantees that each of them has a verification
 * method.
 */
export const verifiedDomainsField = jsonRows({ id: domains.id, domain: domains.domain, method: domains.method }, (rows) =>
  query.select({ rows }).from(domains).where(isVerifiedDomain),
) as SQL<readonly VerifiedDomain[]>;

/** Loads everything that `POST /v1/consent` needs for its decision, in one query. Returns null if the client is unknown. */
export const findIssuingClient = async (db: Database, clientId: ClientId) =>
  (await db
    .select({
      id: businesses.id,
      name: businesses.name,
      status: businesses.status,
      plan: businesses.plan,
      country: businesses.country,
      environment: clients.environment,
      domains: verifiedDomainsField,
      chain: businessChainFields,
      retentionYears: businesses.retentionYears,
      // Whether endpoints can subscribe to `certificate.issued`.
      emitsIssued: businesses.emitCertificateIssued,
      revision: businesses.revision,
      // The shards that the business uses in addition to its account's shard.
      issuingShards: issuingShardsField,
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get()) ?? null;

/** The parts of a business account needed to issue a certificate. Two reads with the same `revision` are equal in every field. */
export type IssuingClient = Found<typeof findIssuingClient>;

/** The business that a caller acts for, with its audit chain. */
const actingBusinessFields = {
  id: businesses.id,
  name: businesses.name,
  status: businesses.status,
  country: businesses.country,
  otherShards: otherShardsField,
};

/** Counts the active shares of sandbox clients only, because the number of live shares is unlimited. */
const isActiveTestShare = allOf(eq(shares.businessId, clients.businessId), eq(shares.environment, "sandbox"), eq(shares.state, "active"));
const activeTestShareCountField = sql<number>`${sql`iif(${clients.environment} = 'sandbox', ${countIn(shares, isActiveTestShare)}, 0)`}`;

/** Returns the business that a client belongs to, or null if the client is unknown. */
export const findBusinessIdByClient = async (db: Database, clientId: ClientId): Promise<BusinessId | null> => {
  const row = await db.select({ id: clients.businessId }).from(clients).where(eq(clients.id, clientId)).get();
  return row?.id ?? null;
};

/**
 * Loads what the share protocol needs to know about the client and its business, in one query. Returns null if the client is unknown. SPEC
 * Share.
 */
export const findGrantingClient = async (db: Database, clientId: ClientId): Promise<GrantingClient | null> => {
  const row = await db
    .select({
      clientId: clients.id,
      environment: clients.environment,
      requireOrigin: clients.requireOrigin,
      returnUrls: clients.returnUrls,
      business: actingBusinessFields,
      logoUrl: businesses.logoUrl,
      revision: businesses.revision,
      domains: verifiedDomainsField,
      chain: businessChainFields,
      clockOffsetMs: clientClockOffsetField.as("clock_offset_ms"),
      activeTestShares: activeTestShareCountField.as("active_test_shares"),
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get();
  if (row === undefined) return null;
  const { business, chain, ...client } = row;
  return { ...client, business: { ...business, chain } };
};

/** Returns a sub-select for the business ID in a dependent insert. It is NULL if the account has changed since it was read. */
export const unchangedBusinessId = ({ business, revision }: Pick<GrantingClient, "business" | "revision">): SQL<BusinessId> =>
  sql`${query
    .select({ id: businesses.id })
    .from(businesses)
    .where(allOf(eq(businesses.id, business.id), eq(businesses.revision, revision)))}`;

const selectKeyHolderByHash = prepareOnce<{ keyHash: string }>()((db, { keyHash }) =>
  db
    .select({
      keyId: apiKeys.id,
      environment: apiKeys.environment,
      // Midnight (UTC) at the start of the day of the previous use.
      lastUsedAt: apiKeys.lastUsedAt,
      business: actingBusinessFields,
      chain: businessChainFields,
    })
    .from(apiKeys)
    .innerJoin(businesses, eq(businesses.id, apiKeys.businessId))
    .where(allOf(eq(apiKeys.keyHash, keyHash), isNull(apiKeys.revokedAt)))
    .prepare(),
);

/**
 * Finds the business for an active API key by the key's SHA-256. Returns null for unknown and revoked keys. Both take the same path, so
 * timing does not distinguish them. SPEC Authentication.
 */
export const findApiKeyHolder = async (db: Database, keyHash: string) => {
  const row = await selectKeyHolderByHash(db, { keyHash }).get();
  if (row === undefined) return null;
  const { business, chain, ...key } = row;
  return { ...key, business: { ...business, chain } };
};

export type ApiKeyHolder = Found<typeof findApiKeyHolder>;

/** Returns a business's oldest client in an environment, or null if it has no client there. */
export const findFirstClientId = async (db: Database, businessId: BusinessId, environment: Environment): Promise<ClientId | null> => {
  const row = await db
    .select({ id: clients.id })
    .from(clients)
    .where(allOf(eq(clients.businessId, businessId), eq(clients.environment, environment)))
    .orderBy(clients.createdAt, clients.id)
    .limit(1)
    .get();
  return row?.id ?? null;
};

/**
 * Loads the verified domains and the client ID used to check one of the business's pages. Returns null if the business is unknown or has no
 * client.
 */
export const findIntegrationBusiness = async (db: Database, businessId: BusinessId, environment: Environment) =>
  (await db
    .select({ domains: verifiedDomainsField, clientId: clients.id })
    .from(businesses)
    .innerJoin(clients, allOf(eq(clients.businessId, businesses.id), eq(clients.environment, environment)))
    .where(eq(businesses.id, businessId))
    .orderBy(clients.createdAt, clients.id)
    .get()) ?? null;

/** Returns a business's legal identity for formal documents. All fields are null if the business is unknown. */
export const getBusinessIdentity = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({ legalName: businesses.legalName, mailingAddress: businesses.mailingAddress, contact: businesses.contactEmail })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? { legalName: null, mailingAddress: null, contact: null };

/** Returns the ISO 3166-1 alpha-2 country, or null if the business is not in this shard. */
export const findBusinessCountry = async (db: Database, businessId: BusinessId): Promise<string | null> => {
  const row = await db.select({ country: businesses.country }).from(businesses).where(eq(businesses.id, businessId)).get();
  return row?.country ?? null;
};

/** Returns the names that a certificate may use for a business, or null if the business is unknown. */
export const findBusinessNames = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({ name: businesses.name, legalName: businesses.legalName })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? null;

/** Lists up to `max` IDs of businesses whose account is in this shard, in ascending order, starting after `after`. */
export const listBusinessIdsAfter = async (db: Database, after: string, max: number): Promise<readonly BusinessId[]> => {
  const rows = await db
    .select({ id: businesses.id })
    .from(businesses)
    .where(allOf(sql`${businesses.id} > ${after}`, notExistsIn(issuers, eq(issuers.businessId, businesses.id)))) // leaves out copies of accounts
    .orderBy(businesses.id)
    .limit(max);
  return rows.map(({ id }) => id);
};
