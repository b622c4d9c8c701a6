// Loads business accounts by client ID, API key or business ID, with the data that each operation needs.
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

/** Fields for queries on `businesses`: the audit chain of a business. */
export const businessChainFields = { tag: businesses.auditChain, auditLog: auditLogOf(businesses.id) };

const isVerifiedDomain = allOf(eq(domains.businessId, businesses.id), eq(domains.status, "verified"));

/**
 * A field for queries on `businesses`: the verified domains of a business. A CHECK constraint guarantees that each verified domain has a
 * `method`.
 */
export const verifiedDomainsField = jsonRows({ id: domains.id, domain: domains.domain, method: domains.method }, (rows) =>
  query.select({ rows }).from(domains).where(isVerifiedDomain),
) as SQL<readonly VerifiedDomain[]>;

/** Loads the account data that `POST /v1/consent` needs, in one query. Returns null if the client is unknown. */
export const findIssuingClient = async (db: Database, clientId: ClientId) =>
  (await db
    .select({
      id: businesses.id,
      name: businesses.name,
      status: businesses.status,
      plan: businesses.plan,
      country: businesses.country,
      environment: clients.environment,
      // The daily limits that are set for this client. Null if the limits of the deployment apply.
      dailySubmissionLimit: clients.dailySubmissionLimit,
      dailyByteLimit: clients.dailyByteLimit,
      domains: verifiedDomainsField,
      chain: businessChainFields,
      retentionYears: businesses.retentionYears,
      // True if the business receives the event `certificate.issued`.
      emitsIssued: businesses.emitCertificateIssued,
      revision: businesses.revision,
      issuingShards: issuingShardsField,
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get()) ?? null;

/** The account data for issuing a certificate. `revision` increases with every change to this data. */
export type IssuingClient = Found<typeof findIssuingClient>;

const actingBusinessFields = {
  id: businesses.id,
  name: businesses.name,
  status: businesses.status,
  country: businesses.country,
  otherShards: otherShardsField,
};

/**
 * Matches active test shares of the client's business. For a live client, the count is 0, because the limit on test shares does not apply
 * to it.
 */
const isActiveTestShare = allOf(eq(shares.businessId, clients.businessId), eq(shares.environment, "sandbox"), eq(shares.state, "active"));
const activeTestShareCountField = sql<number>`${sql`iif(${clients.environment} = 'sandbox', ${countIn(shares, isActiveTestShare)}, 0)`}`;

/** Returns the business that owns a client, or null if the client is unknown. */
export const findBusinessIdByClient = async (db: Database, clientId: ClientId): Promise<BusinessId | null> => {
  const row = await db.select({ id: clients.businessId }).from(clients).where(eq(clients.id, clientId)).get();
  return row?.id ?? null;
};

/** Loads a client and its business for the share protocol, in one query. Returns null if the client is unknown. SPEC Share. */
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

/**
 * Selects the business ID for a row to insert. If the account has changed since it was read, the ID is NULL, which makes the insert fail.
 */
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
      // The start of the day (UTC) on which the key was last used.
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
 * Finds an active API key and its business by the SHA-256 hash of the key. Returns null if the key is unknown or revoked. Response times do
 * not reveal which, because the same query runs in both cases. SPEC Authentication.
 */
export const findApiKeyHolder = async (db: Database, keyHash: string) => {
  const row = await selectKeyHolderByHash(db, { keyHash }).get();
  if (row === undefined) return null;
  const { business, chain, ...key } = row;
  return { ...key, business: { ...business, chain } };
};

export type ApiKeyHolder = Found<typeof findApiKeyHolder>;

/** Returns the business's oldest client in an environment, or null if it has none. */
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
 * Loads a business's verified domains and its oldest client in an environment, for checking how svc.js is integrated in a page. Returns
 * null if the business has no client in that environment.
 */
export const findIntegrationBusiness = async (db: Database, businessId: BusinessId, environment: Environment) =>
  (await db
    .select({ domains: verifiedDomainsField, clientId: clients.id })
    .from(businesses)
    .innerJoin(clients, allOf(eq(clients.businessId, businesses.id), eq(clients.environment, environment)))
    .where(eq(businesses.id, businessId))
    .orderBy(clients.createdAt, clients.id)
    .get()) ?? null;

/** Returns the name, legal name, mailing address and contact of a business. All fields are null if the business is unknown. */
export const getBusinessIdentity = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({
      name: businesses.name,
      legalName: businesses.legalName,
      mailingAddress: businesses.mailingAddress,
      contact: businesses.contactEmail,
    })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? { name: null, legalName: null, mailingAddress: null, contact: null };

/** Returns the two-letter ISO 3166-1 code of the business's country, or null if the business is not in this shard. */
export const findBusinessCountry = async (db: Database, businessId: BusinessId): Promise<string | null> => {
  const row = await db.select({ country: businesses.country }).from(businesses).where(eq(businesses.id, businessId)).get();
  return row?.country ?? null;
};

/** Returns the business's name and legal name, or null if the business is unknown. */
export const findBusinessNames = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({ name: businesses.name, legalName: businesses.legalName })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? null;

/** Lists up to `max` IDs of businesses whose account is in this shard, in ascending order, starting after the ID `after`. */
export const listBusinessIdsAfter = async (db: Database, after: string, max: number): Promise<readonly BusinessId[]> => {
  const rows = await db
    .select({ id: businesses.id })
    .from(businesses)
    // A row in `issuers` means that the row in `businesses` is a copy of an account in another shard.
    .where(allOf(sql`${businesses.id} > ${after}`, notExistsIn(issuers, eq(issuers.businessId, businesses.id))))
    .orderBy(businesses.id)
    .limit(max);
  return rows.map(({ id }) => id);
};
