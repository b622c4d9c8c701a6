// Agent tokens: found by their hash together with who they are and the business as it stands at that moment, so that a person who
// is gone, a seat that is lost and an account that is suspended count from the next request on.
import { desc, eq, gt, isNull, lte, or, sql, type SQL } from "drizzle-orm";
import { maxActiveTokens, type Agent, type AgentToken, type TokenOwner } from "../core/agents/agent-token.ts";
import type { AuditChain } from "../core/domain-events.ts";
import { dayMs, hourMs, type Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { businessChainFields } from "./accounts.ts";
import { consumerChainFields } from "./people.ts";
import { isConstraintViolation } from "./faults.ts";
import { insertIf } from "./inserts.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, countIn, existsIn } from "./query.ts";
import { agentTokens, businesses, consumers, members } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

const tokenNameContext = columnContext("agent_tokens", "name");

export const isLiveToken = (now: Instant): SQL => allOf(isNull(agentTokens.revokedAt), gt(agentTokens.expiresAt, now));

type ColumnsSetLater = "nameSealed" | "lastUsedDay" | "toldAt" | "endToldAt" | "revokedAt";
type NewAgentToken = Omit<typeof agentTokens.$inferInsert, ColumnsSetLater> & { readonly name: string | null };

/** Written only where the person has fewer live ones than there may be. */
export const insertAgentToken = async (db: Database, vault: Vault, { name, ...token }: NewAgentToken, onlyIf: SQL = sql`true`) => {
  const { id, principalId, createdAt } = token;
  const live = countIn(agentTokens, eq(agentTokens.principalId, principalId), isLiveToken(createdAt));
  const nameSealed = name === null ? null : await vault.seal(tokenNameContext(id, principalId), name);
  return [insertIf(db, agentTokens, { ...token, nameSealed }, sql`${onlyIf} and ${live} < ${maxActiveTokens}`)] as const;
};

/** A batch failed because there is a token of that id: the form that made it was sent again. */
export const isDuplicateToken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", agentTokens.id);

/** For what follows in the batch of an insert. */
export const hasAgentToken = (id: string): SQL => existsIn(agentTokens, eq(agentTokens.id, id));

const selectAgentByTokenHash = prepareOnce<{ tokenHash: string; now: number }>()((db, { tokenHash, now }) => {
  const { id, name, status, country, auditChain, auditLog } = businesses;
  return db
    .select({
      id: agentTokens.id,
      lastUsedDay: agentTokens.lastUsedDay,
      memberId: members.id,
      business: { id, name, status, country, auditChain, auditShard: auditLog },
      consumer: { id: consumers.id, auditChain: consumers.auditChain, auditShard: consumers.auditLog },
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
    .where(allOf(eq(agentTokens.tokenHash, tokenHash), isNull(agentTokens.revokedAt), gt(agentTokens.expiresAt, now)))
    .prepare();
});

/** Null for a token that is unknown, has ended, or whose person is gone: all the same path. */
export const findAgentByTokenHash = async (db: Database, tokenHash: string, now: Instant): Promise<Agent | null> => {
  const row = await selectAgentByTokenHash(db, { tokenHash, now }).get();
  if (row === undefined) return null;
  const { id: tokenId, lastUsedDay, memberId, business, consumer } = row;
  const known = { tokenId, tokenHash, lastUsedDay };
  if (consumer !== null) {
    const chain = { tag: consumer.auditChain, auditLog: consumer.auditShard };
    return { ...known, realm: "consumer", ownerId: consumer.id, chain };
  }
  if (memberId === null || business === null) return null;
  const { auditChain: tag, auditShard: auditLog, ...account } = business;
  const chain = { tag, auditLog };
  return { ...known, realm: "business", ownerId: account.id, chain, memberId, business: { ...account, chain } };
};

/** A consumer's own, or those of everybody in a business. */
export type AgentTokenScope = { readonly principalId: string } | { readonly businessId: string };

const isInTokenScope = (scope: AgentTokenScope): SQL =>
  "businessId" in scope
    ? eq(agentTokens.businessId, scope.businessId as never)
    : allOf(eq(agentTokens.principalId, scope.principalId), eq(agentTokens.realm, "consumer"));

/** The live ones, newest first. */
export const listLiveTokens = async (db: Database, vault: Vault, scope: AgentTokenScope, now: Instant): Promise<AgentToken[]> => {
  const { id, realm, principalId, nameSealed, createdAt, expiresAt, lastUsedDay, clientHost, redirectHost } = agentTokens;
  const rows = await db
    .select({ id, realm, principalId, nameSealed, createdAt, expiresAt, lastUsedDay, clientHost, redirectHost })
    .from(agentTokens)
    .where(allOf(isInTokenScope(scope), isLiveToken(now)))
    .orderBy(desc(createdAt), desc(id));
  return Promise.all(
    rows.map(async ({ nameSealed: sealed, clientHost: host, redirectHost: answersTo, ...token }) => ({
      ...token,
      client: answersTo === null ? null : { host, redirectHost: answersTo },
      name: sealed === null ? null : await vault.open(tokenNameContext(token.id, token.principalId), sealed),
    })),
  );
};

/** Whose a live token is; null where there is none of that id. */
export const findTokenPrincipalId = async (db: Database, scope: AgentTokenScope, id: string, now: Instant): Promise<string | null> => {
  const { principalId } = agentTokens;
  const row = await db
    .select({ principalId })
    .from(agentTokens)
    .where(allOf(eq(agentTokens.id, id), isInTokenScope(scope), isLiveToken(now)))
    .get();
  return row?.principalId ?? null;
};

/** From here on it opens nothing. */
export const markTokenRevoked = (db: Database, id: string, now: Instant) =>
  db
    .update(agentTokens)
    .set({ revokedAt: now })
    .where(allOf(eq(agentTokens.id, id), isLiveToken(now)));

/** Live tokens of a person for one program, by where its answers go: what another connection may take the place of. */
export const listTokenIdsByClient = async (
  db: Database,
  of: { readonly principalId: string; readonly clientId: string; readonly redirectHost: string },
  now: Instant,
): Promise<readonly string[]> => {
  const { id, principalId, clientId, redirectHost } = agentTokens;
  const rows = await db
    .select({ id })
    .from(agentTokens)
    .where(allOf(eq(principalId, of.principalId), eq(clientId, of.clientId), eq(redirectHost, of.redirectHost), isLiveToken(now)));
  return rows.map((row) => row.id);
};

/** Whose a live token is, by its id alone or by its hash: for whoever proves otherwise that they may end it. */
export const findTokenHolder = async (
  db: Database,
  by: { readonly id: string } | { readonly tokenHash: string },
  now: Instant,
): Promise<{ readonly id: string; readonly holder: TokenOwner } | null> => {
  const { id, realm, principalId, businessId } = agentTokens;
  const row = await db
    .select({ id, realm, principalId, businessId, consumer: consumerChainFields, business: businessChainFields })
    .from(agentTokens)
    .leftJoin(consumers, allOf(eq(realm, "consumer"), eq(consumers.id, principalId as never)))
    .leftJoin(businesses, eq(businesses.id, businessId))
    .where(allOf("id" in by ? eq(id, by.id) : eq(agentTokens.tokenHash, by.tokenHash), isLiveToken(now)))
    .get();
  const chain = row?.consumer ?? row?.business ?? null;
  return row === undefined || chain === null ? null : { id: row.id, holder: toTokenHolder(row, chain) };
};

/** Whoever is told of what becomes of a token or code. */
export const toTokenHolder = (
  { realm, principalId, businessId }: Pick<TokenOwner, "realm" | "principalId" | "businessId">,
  chain: AuditChain,
): TokenOwner => {
  const kind = realm === "consumer" ? "consumer" : "member";
  return { realm, principalId, businessId, chain, actor: { kind, id: principalId } };
};

/** One write a day and token, however often it is used; none where today is noted already. */
export const recordTokenUse = (db: Database, { tokenId, lastUsedDay }: Agent, now: Instant) => {
  const day = Math.floor(now / dayMs);
  return lastUsedDay === day ? [] : [db.update(agentTokens).set({ lastUsedDay: day }).where(eq(agentTokens.id, tokenId))];
};

const isTokenNoticeDue = (id: string, now: Instant): SQL =>
  allOf(eq(agentTokens.id, id), or(isNull(agentTokens.notifiedAt), lte(agentTokens.notifiedAt, now - hourMs)) as SQL);

/** Whether its person was mailed of no change by it within the hour. For the mail, which stands before `noteTold` in one batch. */
export const hasTokenNoticeDue = (id: string, now: Instant): SQL => existsIn(agentTokens, isTokenNoticeDue(id, now));

export const markTokenNotified = (db: Database, id: string, now: Instant) =>
  db.update(agentTokens).set({ notifiedAt: now }).where(isTokenNoticeDue(id, now));

const isUnnotifiedConnection: SQL = allOf(
  eq(agentTokens.source, "oauth"),
  isNull(agentTokens.revokedAt),
  isNull(agentTokens.expiryNotifiedAt),
);

/** Connections whose persons have not heard yet that they end; those that end first. */
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
    .orderBy(expiresAt)
    .limit(max);
  return Promise.all(
    rows.map(async ({ nameSealed: sealed, redirectHost: host, language: words, ...row }) => ({
      ...row,
      redirectHost: host ?? "",
      language: words ?? "en",
      name: sealed === null ? null : await vault.open(tokenNameContext(row.id, row.principalId), sealed),
    })),
  );
};

export type ExpiringConnection = Found<typeof listExpiringConnections>[number];

/** For the mail, which stands before `noteEndTold` in one batch. */
export const hasExpiryNoticeDue = (id: string): SQL => existsIn(agentTokens, eq(agentTokens.id, id), isUnnotifiedConnection);

export const markExpiryNotified = (db: Database, id: string, now: Instant) =>
  db
    .update(agentTokens)
    .set({ expiryNotifiedAt: now })
    .where(allOf(eq(agentTokens.id, id), isUnnotifiedConnection));
