// Businesses as the other operations need them: what a client id or an API key opens. One query each.
import { eq, isNull, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { GrantingClient } from "../core/shares/grant.ts";
import type { Database, Found } from "./database.ts";
import { clientClockOffsetField } from "./sandbox-clocks.ts";
import { prepareOnce } from "./prepared.ts";
import { apiKeys, businesses, clients, domains, shares } from "./schema.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, countIn, existsIn, query } from "./query.ts";

/** For selections from businesses. */
export const businessChainFields = { tag: businesses.auditChain, auditLog: businesses.auditLog };

const isVerifiedDomain = allOf(eq(domains.businessId, businesses.id), eq(domains.status, "verified"));

/** Sub-select for a query over businesses. A CHECK gives every verified domain its method. */
export const verifiedDomainsField = jsonRows({ id: domains.id, domain: domains.domain, method: domains.method }, (rows) =>
  query.select({ rows }).from(domains).where(isVerifiedDomain),
) as SQL<readonly VerifiedDomain[]>;

/** Everything POST /v1/consent decides on, in one query. Null for an unknown client. */
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
      // whether it asked to hear of each issuance
      emitsIssued: businesses.emitCertificateIssued,
      revision: businesses.revision,
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get()) ?? null;

/** An account as issuing needs it. Two readings with equal revision are equal in everything here. */
export type IssuingClient = Found<typeof findIssuingClient>;

/** Whoever acts for a business acts as this, with its chain. */
const actingBusinessFields = { id: businesses.id, name: businesses.name, status: businesses.status, country: businesses.country };

/** Counted for test clients alone: nothing bounds what people share. */
const isActiveTestShare = allOf(eq(shares.businessId, clients.businessId), eq(shares.environment, "sandbox"), eq(shares.state, "active"));
const activeTestShareCountField = sql<number>`${sql`iif(${clients.environment} = 'sandbox', ${countIn(shares, isActiveTestShare)}, 0)`}`;

/** Null for an unknown client. */
export const findBusinessIdByClient = async (db: Database, clientId: ClientId): Promise<BusinessId | null> => {
  const row = await db.select({ id: clients.businessId }).from(clients).where(eq(clients.id, clientId)).get();
  return row?.id ?? null;
};

/** A client and its business as the share protocol decides on them, in one query. Null for an unknown client. */
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

/** The business's id, to be read inside the change that depends on it: NULL where the account was changed since. */
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
      // the day it was last used before
      lastUsedAt: apiKeys.lastUsedAt,
      business: actingBusinessFields,
      chain: businessChainFields,
    })
    .from(apiKeys)
    .innerJoin(businesses, eq(businesses.id, apiKeys.businessId))
    .where(allOf(eq(apiKeys.keyHash, keyHash), isNull(apiKeys.revokedAt)))
    .prepare(),
);

/** The holder of a live API key, by the SHA-256 of the key. Unknown and revoked keys take the same path to null. */
export const findApiKeyHolder = async (db: Database, keyHash: string) => {
  const row = await selectKeyHolderByHash(db, { keyHash }).get();
  if (row === undefined) return null;
  const { business, chain, ...key } = row;
  return { ...key, business: { ...business, chain } };
};

export type ApiKeyHolder = Found<typeof findApiKeyHolder>;

/** The first client of a business in an environment; null where it has none. */
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

/** What a page of a business is looked at with: its domains, and the client its script tag names. */
export const findIntegrationBusiness = async (db: Database, businessId: BusinessId, environment: Environment) =>
  (await db
    .select({ domains: verifiedDomainsField, clientId: clients.id })
    .from(businesses)
    .innerJoin(clients, allOf(eq(clients.businessId, businesses.id), eq(clients.environment, environment)))
    .where(eq(businesses.id, businessId))
    .orderBy(clients.createdAt, clients.id)
    .get()) ?? null;

/** How a business names itself to courts and letters. */
export const getBusinessIdentity = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({ legalName: businesses.legalName, mailingAddress: businesses.mailingAddress, contact: businesses.contactEmail })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? { legalName: null, mailingAddress: null, contact: null };

/** ISO 3166-1 alpha-2; null for a business that is not here. */
export const findBusinessCountry = async (db: Database, businessId: BusinessId): Promise<string | null> => {
  const row = await db.select({ country: businesses.country }).from(businesses).where(eq(businesses.id, businessId)).get();
  return row?.country ?? null;
};

/** The names a certificate may call a business by, and whether it has proved any domain. */
export const findBusinessNames = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({
      name: businesses.name,
      legalName: businesses.legalName,
      hasVerifiedDomain: existsIn(domains, isVerifiedDomain).mapWith(Boolean),
    })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? null;
