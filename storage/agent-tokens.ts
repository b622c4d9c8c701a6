// Agent tokens. A token is read in one query with its person and business, so it stops working as soon as the account is erased, the member
// is removed or the business is suspended. SPEC Agent server.
import { shardOfId } from "../core/ids.ts";
import { desc, eq, gt, isNull, lte, or, sql, type SQL } from "drizzle-orm";
import { maxActiveTokens, type Agent, type AgentToken, type ConnectedClient, type TokenOwner } from "../core/agents/agent-token.ts";
import type { AuditChain } from "../core/domain-events.ts";
import { hourMs, type Instant, toDayNumber } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { otherShardsField } from "./issuing-shards.ts";
import { businessChainFields } from "./accounts.ts";
import { consumerChainFields, isExistingPrincipal } from "./people.ts";
import { isConstraintViolation } from "./faults.ts";
import { insertIf } from "./inserts.ts";
import { allOf, countIn, existsIn, inRandomOrder } from "./query.ts";
import { agentTokens, businesses, consumers, members } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

const tokenNameContext = columnContext("agent_tokens", "name");

/** Decrypts a token's name. Returns null if decryption fails, so that the person can still see and end this connection and all others. */
const openName = async (vault: Vault, { id, principalId }: Pick<AgentToken, "id" | "principalId">, sealed: string | null) =>
  sealed === null ? null : await vault.open(tokenNameContext(id, principalId), sealed).catch(() => null);

/** Builds a condition that is true if the token is neither revoked nor expired. */
export const isLiveToken = (now: Instant): SQL => allOf(isNull(agentTokens.revokedAt), gt(agentTokens.expiresAt, now));

type ColumnsSetLater = "nameSealed" | "lastUsedDay" | "notifiedAt" | "expiryNotifiedAt" | "revokedAt";
type NewAgentToken = Omit<typeof agentTokens.$inferInsert, ColumnsSetLater> & { readonly name: string | null };

/** Inserts a token if `onlyIf` is true and the person still exists and has fewer than `maxActiveTokens` live tokens. */
export const insertAgentToken = async (db: Database, vault: Vault, { name, ...token }: NewAgentToken, onlyIf: SQL = sql`true`) => {
  const { id, principalId, createdAt } = token;
  const live = countIn(agentTokens, eq(agentTokens.principalId, principalId), isLiveToken(createdAt));
  const nameSealed = name === null ? null : await vault.seal(tokenNameContext(id, principalId), name);
  return [
    insertIf(db, agentTokens, { ...token, nameSealed }, allOf(onlyIf, isExistingPrincipal(principalId), sql`${live} < ${maxActiveTokens}`)),
  ] as const;
};

/** Returns true if the batch failed because a token with this ID already exists. This happens if the form was submitted twice. */
export const isDuplicateToken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", agentTokens.id);

/** Builds a condition for statements after `insertAgentToken` in the batch. It is true if the token was inserted. */
export const hasAgentToken = (id: string): SQL => existsIn(agentTokens, eq(agentTokens.id, id));

const selectAgentByTokenHash = (db: Database, tokenHash: string, now: Instant) => {
  const { id, name, status, country, auditChain } = businesses;
  return db
    .select({
      id: agentTokens.id,
      lastUsedDay: agentTokens.lastUsedDay,
      language: agentTokens.language,
      memberId: members.id,
      business: { id, name, status, country, auditChain, otherShards: otherShardsField },
      consumer: { id: consumers.id, auditChain: consumers.auditChain },
    })
    .from(agentTokens)
    .leftJoin(
      members,
      allOf(eq(agentTokens.realm, "business"), eq(members.id, agentTokens.principalId), eq(members.businessId, agentTokens.businessId)),
    )
    .leftJoin(businesses, eq(businesses.id, members.businessId))
    .leftJoin(
      consumers,
      allOf(eq(agentTokens.realm, "consumer"), eq(consumers.id, agentTokens.principalId as never), isNull(consumers.erasedAt)),
    )
    .where(allOf(eq(agentTokens.tokenHash, tokenHash), isLiveToken(now)));
};

/**
 * Finds the consumer, or the member and business, that a live token belongs to. Returns null if the token is unknown, expired or revoked,
 * or if the account or membership no longer exists. The same query runs in all of these cases, so response times do not reveal which one
 * applies.
 */
export const findAgentByTokenHash = async (db: Database, tokenHash: string, now: Instant): Promise<Agent | null> => {
  const row = await selectAgentByTokenHash(db, tokenHash, now).get();
  if (row === undefined) return null;
  const { id: tokenId, lastUsedDay, language, memberId, business, consumer } = row;
  const known = { tokenId, tokenHash, lastUsedDay, language: language ?? "en" };
  if (consumer !== null) {
    const chain = { tag: consumer.auditChain, auditLog: shardOfId(consumer.id) };
    return { ...known, realm: "consumer", ownerId: consumer.id, chain };
  }
  if (memberId === null || business === null) return null;
  const { auditChain: tag, ...account } = business;
  const chain = { tag, auditLog: shardOfId(account.id) };
  return { ...known, realm: "business", ownerId: account.id, chain, memberId, business: { ...account, chain } };
};

/** The tokens of one consumer, or of all members of a business. */
export type AgentTokenScope = { readonly principalId: string } | { readonly businessId: string };

const isInTokenScope = (scope: AgentTokenScope): SQL =>
  "businessId" in scope
    ? eq(agentTokens.businessId, scope.businessId as never)
    : allOf(eq(agentTokens.principalId, scope.principalId), eq(agentTokens.realm, "consumer"));

export const listLiveTokens = async (db: Database, vault: Vault, scope: AgentTokenScope, now: Instant): Promise<AgentToken[]> => {
  const { id, realm, principalId, nameSealed, createdAt, expiresAt, lastUsedDay, clientHost, redirectHost } = agentTokens;
  const rows = await db
    .select({ id, realm, principalId, nameSealed, createdAt, expiresAt, lastUsedDay, clientHost, redirectHost })
    .from(agentTokens)
    .where(allOf(isInTokenScope(scope), isLiveToken(now)))
    .orderBy(desc(createdAt), desc(id));
  return Promise.all(
    rows.map(async ({ nameSealed: sealed, clientHost: host, redirectHost: redirect, ...token }) => ({
      ...token,
      client: redirect === null ? null : { host, redirectHost: redirect },
      name: await openName(vault, token, sealed),
    })),
  );
};

/** The data about a connection that a person sees after opening the link in an email about it. */
export interface ConnectionSummary {
  readonly name: string | null;
  readonly client: ConnectedClient | null;
  readonly createdAt: Instant;
  readonly isLive: boolean;
}

/** Finds a connection by its token's ID, even if it has ended. Does not check whether the caller may see the connection. */
export const findConnection = async (db: Database, vault: Vault, tokenId: string, now: Instant): Promise<ConnectionSummary | null> => {
  const { id, principalId, nameSealed, clientHost: host, redirectHost, createdAt, revokedAt, expiresAt } = agentTokens;
  const row = await db
    .select({ principalId, nameSealed, host, redirectHost, createdAt, revokedAt, expiresAt })
    .from(agentTokens)
    .where(eq(id, tokenId))
    .get();
  if (row === undefined) return null;
  return {
    name: await openName(vault, { id: tokenId, principalId: row.principalId }, row.nameSealed),
    client: row.redirectHost === null ? null : { host: row.host, redirectHost: row.redirectHost },
    createdAt: row.createdAt,
    isLive: row.revokedAt === null && row.expiresAt > now,
  };
};

/** Returns the ID of the person who owns a live token, or null if the scope has no live token with this ID. */
export const findTokenPrincipalId = async (db: Database, scope: AgentTokenScope, id: string, now: Instant): Promise<string | null> => {
  const { principalId } = agentTokens;
  const row = await db
    .select({ principalId })
    .from(agentTokens)
    .where(allOf(eq(agentTokens.id, id), isInTokenScope(scope), isLiveToken(now)))
    .get();
  return row?.principalId ?? null;
};

/** Revokes a token. Does nothing if the token has expired or is already revoked. */
export const markTokenRevoked = (db: Database, id: string, now: Instant) =>
  db
    .update(agentTokens)
    .set({ revokedAt: now })
    .where(allOf(eq(agentTokens.id, id), isLiveToken(now)));

/** Lists a person's live tokens for one client and redirect host. A new connection with the same client and host replaces these tokens. */
export const listTokenIdsByClient = async (
  db: Database,
  connection: { readonly principalId: string; readonly clientId: string; readonly redirectHost: string },
  now: Instant,
): Promise<readonly string[]> => {
  const { id, principalId, clientId, redirectHost } = agentTokens;
  const rows = await db
    .select({ id })
    .from(agentTokens)
    .where(
      allOf(
        eq(principalId, connection.principalId),
        eq(clientId, connection.clientId),
        eq(redirectHost, connection.redirectHost),
        isLiveToken(now),
      ),
    );
  return rows.map((row) => row.id);
};

/** Finds a live token and its owner by the token's ID or hash. Does not check whether the caller may use the token. */
export const findTokenHolder = async (
  db: Database,
  selector: { readonly id: string } | { readonly tokenHash: string },
  now: Instant,
): Promise<{ readonly id: string; readonly holder: TokenOwner } | null> => {
  const { id, realm, principalId, businessId } = agentTokens;
  const row = await db
    .select({ id, realm, principalId, businessId, consumer: consumerChainFields, business: businessChainFields })
    .from(agentTokens)
    .leftJoin(consumers, allOf(eq(realm, "consumer"), eq(consumers.id, principalId as never)))
    .leftJoin(businesses, eq(businesses.id, businessId))
    .where(allOf("id" in selector ? eq(id, selector.id) : eq(agentTokens.tokenHash, selector.tokenHash), isLiveToken(now)))
    .get();
  const chain = row?.consumer ?? row?.business ?? null;
  return row === undefined || chain === null ? null : { id: row.id, holder: toTokenHolder(row, chain) };
};

export const toTokenHolder = (
  { realm, principalId, businessId }: Pick<TokenOwner, "realm" | "principalId" | "businessId">,
  chain: AuditChain,
): TokenOwner => {
  const kind = realm === "consumer" ? "consumer" : "member";
  return { realm, principalId, businessId, chain, actor: { kind, id: principalId } };
};

/** Returns the statement that records today as the token's last day of use, or no statement if that day is already recorded. */
export const recordTokenUse = (db: Database, { tokenId, lastUsedDay }: Agent, now: Instant) => {
  const day = toDayNumber(now);
  return lastUsedDay === day ? [] : [db.update(agentTokens).set({ lastUsedDay: day }).where(eq(agentTokens.id, tokenId))];
};

const isTokenNoticeDue = (id: string, now: Instant): SQL =>
  allOf(eq(agentTokens.id, id), or(isNull(agentTokens.notifiedAt), lte(agentTokens.notifiedAt, now - hourMs)) as SQL);

/**
 * Builds a condition that is true if the person has not been notified about this token in the last hour. Use it before `markTokenNotified`
 * in the batch.
 */
export const hasTokenNoticeDue = (id: string, now: Instant): SQL => existsIn(agentTokens, isTokenNoticeDue(id, now));

export const markTokenNotified = (db: Database, id: string, now: Instant) =>
  db.update(agentTokens).set({ notifiedAt: now }).where(isTokenNoticeDue(id, now));

const isUnnotifiedConnection: SQL = allOf(
  eq(agentTokens.source, "oauth"),
  isNull(agentTokens.revokedAt),
  isNull(agentTokens.expiryNotifiedAt),
);

/**
 * Lists up to `max` OAuth connections that expire after `from` and no later than `until`, in random order. Omits revoked connections, and
 * connections about whose expiration the person has already been notified.
 */
export const listExpiringConnections = async (
  db: Database,
  vault: Vault,
  { from, until, max }: { readonly from: Instant; readonly until: Instant; readonly max: number },
) => {
  const { id, principalId, businessId, nameSealed, redirectHost, expiresAt, language } = agentTokens;
  const rows = await db
    .select({ id, principalId, businessId, nameSealed, redirectHost, expiresAt, language })
    .from(agentTokens)
    .where(allOf(isUnnotifiedConnection.inlineParams(), gt(expiresAt, from), lte(expiresAt, until)))
    .orderBy(inRandomOrder)
    .limit(max);
  return Promise.all(
    rows.map(async ({ nameSealed: sealed, redirectHost: host, language: mailLanguage, ...row }) => ({
      ...row,
      redirectHost: host ?? "",
      language: mailLanguage ?? "en",
      name: await openName(vault, row, sealed),
    })),
  );
};

export type ExpiringConnection = Found<typeof listExpiringConnections>[number];

/**
 * Builds a condition that is true if the connection is not revoked and the person has not been notified of its expiration yet. Use it
 * before `markExpiryNotified` in the batch.
 */
export const hasExpiryNoticeDue = (id: string): SQL => existsIn(agentTokens, eq(agentTokens.id, id), isUnnotifiedConnection);

export const markExpiryNotified = (db: Database, id: string, now: Instant) =>
  db
    .update(agentTokens)
    .set({ expiryNotifiedAt: now })
    .where(allOf(eq(agentTokens.id, id), isUnnotifiedConnection));
