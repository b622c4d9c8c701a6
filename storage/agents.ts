// Agent tokens: found by their hash together with who they are and the business as it stands at that moment, so that a person who
// is gone, a seat that is lost and an account that is suspended count from the next request on.
import { desc, eq, gt, inArray, isNull, lte, ne, or, sql, type SQL } from "drizzle-orm";
import { maxLiveTokens, type Agent, type AgentToken } from "../core/agents/token.ts";
import { dayMs, hourMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { insertIf } from "./inserts.ts";
import { prepared } from "./prepared.ts";
import { allOf, query } from "./query.ts";
import { agentTokens, businesses, consumers, members } from "./schema.ts";
import type { EncryptionContext, Vault } from "./vault.ts";

const nameContext = (id: string, principalId: string): EncryptionContext => ({
  table: "agent_tokens",
  record: id,
  field: "name",
  owner: principalId,
});

const isLive = (now: Instant): SQL => allOf(isNull(agentTokens.revokedAt), gt(agentTokens.expiresAt, now));

/** Written only where the person has fewer live ones than there may be. */
export const insertToken = async (
  db: Database,
  vault: Vault,
  {
    name,
    ...token
  }: Omit<typeof agentTokens.$inferInsert, "nameSealed" | "lastUsedDay" | "toldAt" | "revokedAt"> & { readonly name: string | null },
) => {
  const { id, principalId, createdAt } = token;
  const live = query
    .select({ count: sql`count(*)` })
    .from(agentTokens)
    .where(allOf(eq(agentTokens.principalId, principalId), isLive(createdAt)));
  const nameSealed = name === null ? null : await vault.seal(nameContext(id, principalId), name);
  return [insertIf(db, agentTokens, { ...token, nameSealed }, sql`${live} < ${maxLiveTokens}`)] as const;
};

/** For what follows in the batch of an insert. */
export const isMinted = (id: string): SQL =>
  sql`exists ${query.select({ id: agentTokens.id }).from(agentTokens).where(eq(agentTokens.id, id))}`;

const holderByHash = prepared<{ tokenHash: string; now: number }>()((db, { tokenHash, now }) => {
  const { id, name, status, country, auditChain, auditShard } = businesses;
  return db
    .select({
      id: agentTokens.id,
      memberId: members.id,
      business: { id, name, status, country, auditChain, auditShard },
      consumer: { id: consumers.id, auditChain: consumers.auditChain, auditShard: consumers.auditShard },
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
export const agentByToken = async (db: Database, tokenHash: string, now: Instant): Promise<Agent | null> => {
  const row = await holderByHash(db, { tokenHash, now }).get();
  if (row === undefined) return null;
  const { id: tokenId, memberId, business, consumer } = row;
  if (consumer !== null) {
    const chain = { tag: consumer.auditChain, shard: consumer.auditShard };
    return { realm: "consumer", tokenId, tokenHash, ownerId: consumer.id, chain };
  }
  if (memberId === null || business === null) return null;
  const { auditChain: tag, auditShard: shard, ...account } = business;
  const chain = { tag, shard };
  return { realm: "business", tokenId, tokenHash, ownerId: account.id, chain, memberId, business: { ...account, chain } };
};

/** A consumer's own, or those of everybody in a business. */
export type TokenScope = { readonly principalId: string } | { readonly businessId: string };

const inScope = (scope: TokenScope): SQL =>
  "businessId" in scope
    ? eq(agentTokens.businessId, scope.businessId as never)
    : allOf(eq(agentTokens.principalId, scope.principalId), eq(agentTokens.realm, "consumer"));

const shown = {
  id: agentTokens.id,
  realm: agentTokens.realm,
  principalId: agentTokens.principalId,
  nameSealed: agentTokens.nameSealed,
  createdAt: agentTokens.createdAt,
  expiresAt: agentTokens.expiresAt,
  lastUsedDay: agentTokens.lastUsedDay,
};

/** The live ones, newest first. */
export const liveTokens = async (db: Database, vault: Vault, scope: TokenScope, now: Instant): Promise<AgentToken[]> => {
  const rows = await db
    .select(shown)
    .from(agentTokens)
    .where(allOf(inScope(scope), isLive(now)))
    .orderBy(desc(agentTokens.createdAt), desc(agentTokens.id));
  return Promise.all(
    rows.map(async ({ nameSealed, ...token }) => ({
      ...token,
      name: nameSealed === null ? null : await vault.open(nameContext(token.id, token.principalId), nameSealed),
    })),
  );
};

/** Whose a live token is; null where there is none of that id. */
export const principalOfToken = async (db: Database, scope: TokenScope, id: string, now: Instant): Promise<string | null> => {
  const { principalId } = agentTokens;
  const row = await db
    .select({ principalId })
    .from(agentTokens)
    .where(allOf(eq(agentTokens.id, id), inScope(scope), isLive(now)))
    .get();
  return row?.principalId ?? null;
};

/** From here on it opens nothing. */
export const revokeToken = (db: Database, id: string, now: Instant) =>
  db
    .update(agentTokens)
    .set({ revokedAt: now })
    .where(allOf(eq(agentTokens.id, id), isLive(now)));

/** For the audit entry right behind `revokeToken`: of two at once, one has changed the row. */
export const wasRevoked: SQL = sql`changes() = 1`;

/** One write a day and token, however often it is used. */
export const noteUse = (db: Database, id: string, now: Instant) => {
  const day = Math.floor(now / dayMs);
  const isOther = or(isNull(agentTokens.lastUsedDay), ne(agentTokens.lastUsedDay, day)) as SQL;
  return db
    .update(agentTokens)
    .set({ lastUsedDay: day })
    .where(allOf(eq(agentTokens.id, id), isOther));
};

const untold = (id: string, now: Instant): SQL =>
  allOf(eq(agentTokens.id, id), or(isNull(agentTokens.toldAt), lte(agentTokens.toldAt, now - hourMs)) as SQL);

/** Whether its person was mailed of no change by it within the hour. For the mail, which stands before `noteTold` in one batch. */
export const isUntold = (id: string, now: Instant): SQL =>
  sql`exists ${query.select({ id: agentTokens.id }).from(agentTokens).where(untold(id, now))}`;

export const noteTold = (db: Database, id: string, now: Instant) => db.update(agentTokens).set({ toldAt: now }).where(untold(id, now));

/** Tokens whose time has passed, revoked or not. At most 1,000 a call. */
export const deleteEndedTokens = (db: Database, now: Instant) => {
  const ended = query.select({ id: agentTokens.id }).from(agentTokens).where(lte(agentTokens.expiresAt, now)).limit(1_000);
  return db.delete(agentTokens).where(inArray(agentTokens.id, ended));
};
