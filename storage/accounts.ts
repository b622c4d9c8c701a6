// Businesses as the other operations need them: what a client id or an API key opens. One query each.
import { eq, isNull, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { GrantingClient } from "../core/shares/grant.ts";
import type { Database, Found } from "./database.ts";
import { clientClockOffset } from "./sandbox-clocks.ts";
import { prepared } from "./prepared.ts";
import { apiKeys, businesses, clients, domains, shares } from "./schema.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, countIn, existsIn, query } from "./query.ts";

/** For selections from businesses. */
export const chainOfBusiness = { tag: businesses.auditChain, shard: businesses.auditShard };

const isVerified = allOf(eq(domains.businessId, businesses.id), eq(domains.status, "verified"));

/** Sub-select for a query over businesses. A CHECK gives every verified domain its method. */
export const verifiedDomains = jsonRows({ id: domains.id, domain: domains.domain, method: domains.method }, (rows) =>
  query.select({ rows }).from(domains).where(isVerified),
) as SQL<readonly VerifiedDomain[]>;

/** Everything POST /v1/consent decides on, in one query. Null for an unknown client. */
export const capturingClient = async (db: Database, clientId: ClientId) =>
  (await db
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
      // whether it asked to hear of each issuance
      emitsIssued: businesses.emitCertificateIssued,
      revision: businesses.revision,
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get()) ?? null;

/** An account as issuing needs it. Two readings with equal revision are equal in everything here. */
export type CapturingClient = Found<typeof capturingClient>;

/** Whoever acts for a business acts as this, with its chain. */
const acting = { id: businesses.id, name: businesses.name, status: businesses.status, country: businesses.country };

/** Counted for test clients alone: nothing bounds what people share. */
const isActiveTest = allOf(eq(shares.businessId, clients.businessId), eq(shares.environment, "sandbox"), eq(shares.state, "active"));
const activeTestShares = sql<number>`${sql`iif(${clients.environment} = 'sandbox', ${countIn(shares, isActiveTest)}, 0)`}`;

/** Null for an unknown client. */
export const businessOfClient = async (db: Database, clientId: ClientId): Promise<BusinessId | null> => {
  const row = await db.select({ id: clients.businessId }).from(clients).where(eq(clients.id, clientId)).get();
  return row?.id ?? null;
};

/** A client and its business as the share protocol decides on them, in one query. Null for an unknown client. */
export const grantingClient = async (db: Database, clientId: ClientId): Promise<GrantingClient | null> => {
  const row = await db
    .select({
      clientId: clients.id,
      environment: clients.environment,
      requireOrigin: clients.requireOrigin,
      returnUrls: clients.returnUrls,
      business: acting,
      logoUrl: businesses.logoUrl,
      revision: businesses.revision,
      domains: verifiedDomains,
      chain: chainOfBusiness,
      clockOffsetMs: clientClockOffset.as("clock_offset_ms"),
      activeTestShares: activeTestShares.as("active_test_shares"),
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
export const businessIfStill = ({ business, revision }: Pick<GrantingClient, "business" | "revision">): SQL<BusinessId> =>
  sql`${query
    .select({ id: businesses.id })
    .from(businesses)
    .where(allOf(eq(businesses.id, business.id), eq(businesses.revision, revision)))}`;

const holderByHash = prepared<{ keyHash: string }>()((db, { keyHash }) =>
  db
    .select({
      keyId: apiKeys.id,
      environment: apiKeys.environment,
      // the day it was last used before
      lastUsedAt: apiKeys.lastUsedAt,
      business: acting,
      chain: chainOfBusiness,
    })
    .from(apiKeys)
    .innerJoin(businesses, eq(businesses.id, apiKeys.businessId))
    .where(allOf(eq(apiKeys.keyHash, keyHash), isNull(apiKeys.revokedAt)))
    .prepare(),
);

/** The holder of a live API key, by the SHA-256 of the key. Unknown and revoked keys take the same path to null. */
export const keyHolder = async (db: Database, keyHash: string) => {
  const row = await holderByHash(db, { keyHash }).get();
  if (row === undefined) return null;
  const { business, chain, ...key } = row;
  return { ...key, business: { ...business, chain } };
};

export type KeyHolder = Found<typeof keyHolder>;

/** The first client of a business in an environment; null where it has none. */
export const firstClientOf = async (db: Database, businessId: BusinessId, environment: Environment): Promise<ClientId | null> => {
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
export const integratingBusiness = async (db: Database, businessId: BusinessId, environment: Environment) =>
  (await db
    .select({ domains: verifiedDomains, clientId: clients.id })
    .from(businesses)
    .innerJoin(clients, allOf(eq(clients.businessId, businesses.id), eq(clients.environment, environment)))
    .where(eq(businesses.id, businessId))
    .orderBy(clients.createdAt, clients.id)
    .get()) ?? null;

/** How a business names itself to courts and letters. */
export const businessIdentity = async (db: Database, businessId: BusinessId) =>
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
export const businessNames = async (db: Database, businessId: BusinessId) =>
  (await db
    .select({
      name: businesses.name,
      legalName: businesses.legalName,
      hasVerifiedDomain: existsIn(domains, isVerified).mapWith(Boolean),
    })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get()) ?? null;
