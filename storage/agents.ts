// Agent tokens: found by their hash together with who they are and the business as it stands at that moment, so that a person who
// is gone, a seat that is lost and an account that is suspended count from the next request on.
import { desc, eq, gt, isNull, lte, or, sql, type SQL } from "drizzle-orm";
import { maxLiveTokens, type Agent, type AgentToken, type TokenHolder } from "../core/agents/token.ts";
import type { AuditChain } from "../core/facts.ts";
import { dayMs, hourMs, type Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { chainOfBusiness } from "./accounts.ts";
import { chainOfConsumer } from "./people.ts";
import { violates } from "./faults.ts";
import { insertIf } from "./inserts.ts";
import { prepared } from "./prepared.ts";
import { allOf, countIn, existsIn } from "./query.ts";
import { agentTokens, businesses, consumers, members } from "./schema.ts";
import { contextIn, type Vault } from "./vault.ts";

const nameContext = contextIn("agent_tokens", "name");

export const isLive = (now: Instant): SQL => allOf(isNull(agentTokens.revokedAt), gt(agentTokens.expiresAt, now));

type NotedLater = "nameSealed" | "lastUsedDay" | "toldAt" | "endToldAt" | "revokedAt";
type NewToken = Omit<typeof agentTokens.$inferInsert, NotedLater> & { readonly name: string | null };

/** Written only where the person has fewer live ones than there may be. */
export const insertToken = async (db: Database, vault: Vault, { name, ...token }: NewToken, onlyIf: SQL = sql`true`) => {
  const { id, principalId, createdAt } = token;
  const live = countIn(agentTokens, eq(agentTokens.principalId, principalId), isLive(createdAt));
  const nameSealed = name === null ? null : await vault.seal(nameContext(id, principalId), name);
  return [insertIf(db, agentTokens, { ...token, nameSealed }, sql`${onlyIf} and ${live} < ${maxLiveTokens}`)] as const;
};

/** A batch failed because there is a token of that id: the form that made it was sent again. */
export const isMintedAlready = (error: unknown): boolean => violates(error, "UNIQUE", agentTokens.id);

/** For what follows in the batch of an insert. */
export const isMinted = (id: string): SQL => existsIn(agentTokens, eq(agentTokens.id, id));

const holderByHash = prepared<{ tokenHash: string; now: number }>()((db, { tokenHash, now }) => {
  const { id, name, status, country, auditChain, auditShard } = businesses;
  return db
    .select({
      id: agentTokens.id,
      lastUsedDay: agentTokens.lastUsedDay,
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
  const { id: tokenId, lastUsedDay, memberId, business, consumer } = row;
  const known = { tokenId, tokenHash, lastUsedDay };
  if (consumer !== null) {
    const chain = { tag: consumer.auditChain, shard: consumer.auditShard };
    return { ...known, realm: "consumer", ownerId: consumer.id, chain };
  }
  if (memberId === null || business === null) return null;
  const { auditChain: tag, auditShard: shard, ...account } = business;
  const chain = { tag, shard };
  return { ...known, realm: "business", ownerId: account.id, chain, memberId, business: { ...account, chain } };
};

/** A consumer's own, or those of everybody in a business. */
export type TokenScope = { readonly principalId: string } | { readonly businessId: string };

const inScope = (scope: TokenScope): SQL =>
  "businessId" in scope
    ? eq(agentTokens.businessId, scope.businessId as never)
    : allOf(eq(agentTokens.principalId, scope.principalId), eq(agentTokens.realm, "consumer"));

/** The live ones, newest first. */
export const liveTokens = async (db: Database, vault: Vault, scope: TokenScope, now: Instant): Promise<AgentToken[]> => {
  const { id, realm, principalId, nameSealed, createdAt, expiresAt, lastUsedDay, clientHost, redirectHost } = agentTokens;
  const rows = await db
    .select({ id, realm, principalId, nameSealed, createdAt, expiresAt, lastUsedDay, clientHost, redirectHost })
    .from(agentTokens)
    .where(allOf(inScope(scope), isLive(now)))
    .orderBy(desc(createdAt), desc(id));
  return Promise.all(
    rows.map(async ({ nameSealed: sealed, clientHost: host, redirectHost: answersTo, ...token }) => ({
      ...token,
      client: answersTo === null ? null : { host, redirectHost: answersTo },
      name: sealed === null ? null : await vault.open(nameContext(token.id, token.principalId), sealed),
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

/** Live tokens of a person for one program, by where its answers go: what another connection may take the place of. */
export const tokensOfClient = async (
  db: Database,
  of: { readonly principalId: string; readonly clientId: string; readonly redirectHost: string },
  now: Instant,
): Promise<readonly string[]> => {
  const { id, principalId, clientId, redirectHost } = agentTokens;
  const rows = await db
    .select({ id })
    .from(agentTokens)
    .where(allOf(eq(principalId, of.principalId), eq(clientId, of.clientId), eq(redirectHost, of.redirectHost), isLive(now)));
  return rows.map((row) => row.id);
};

/** Whose a live token is, by its id alone or by its hash: for whoever proves otherwise that they may end it. */
export const holderOfToken = async (
  db: Database,
  by: { readonly id: string } | { readonly tokenHash: string },
  now: Instant,
): Promise<{ readonly id: string; readonly holder: TokenHolder } | null> => {
  const { id, realm, principalId, businessId } = agentTokens;
  const row = await db
    .select({ id, realm, principalId, businessId, consumer: chainOfConsumer, business: chainOfBusiness })
    .from(agentTokens)
    .leftJoin(consumers, allOf(eq(realm, "consumer"), eq(consumers.id, principalId as never)))
    .leftJoin(businesses, eq(businesses.id, businessId))
    .where(allOf("id" in by ? eq(id, by.id) : eq(agentTokens.tokenHash, by.tokenHash), isLive(now)))
    .get();
  const chain = row?.consumer ?? row?.business ?? null;
  return row === undefined || chain === null ? null : { id: row.id, holder: holderOf(row, chain) };
};

/** Whoever is told of what becomes of a token or code. */
export const holderOf = (
  { realm, principalId, businessId }: Pick<TokenHolder, "realm" | "principalId" | "businessId">,
  chain: AuditChain,
): TokenHolder => {
  const kind = realm === "consumer" ? "consumer" : "member";
  return { realm, principalId, businessId, chain, actor: { kind, id: principalId } };
};

/** One write a day and token, however often it is used; none where today is noted already. */
export const noteUse = (db: Database, { tokenId, lastUsedDay }: Agent, now: Instant) => {
  const day = Math.floor(now / dayMs);
  return lastUsedDay === day ? [] : [db.update(agentTokens).set({ lastUsedDay: day }).where(eq(agentTokens.id, tokenId))];
};

const untold = (id: string, now: Instant): SQL =>
  allOf(eq(agentTokens.id, id), or(isNull(agentTokens.toldAt), lte(agentTokens.toldAt, now - hourMs)) as SQL);

/** Whether its person was mailed of no change by it within the hour. For the mail, which stands before `noteTold` in one batch. */
export const isUntold = (id: string, now: Instant): SQL => existsIn(agentTokens, untold(id, now));

export const noteTold = (db: Database, id: string, now: Instant) => db.update(agentTokens).set({ toldAt: now }).where(untold(id, now));

const isEndUntoldConnection: SQL = allOf(eq(agentTokens.source, "oauth"), isNull(agentTokens.revokedAt), isNull(agentTokens.endToldAt));

/** Connections whose persons have not heard yet that they end; those that end first. */
export const endingConnections = async (
  db: Database,
  vault: Vault,
  { from, until, max }: { readonly from: Instant; readonly until: Instant; readonly max: number },
) => {
  const { id, principalId, businessId, nameSealed, redirectHost, expiresAt, language } = agentTokens;
  const rows = await db
    .select({ id, principalId, businessId, nameSealed, redirectHost, expiresAt, language })
    .from(agentTokens)
    .where(allOf(isEndUntoldConnection.inlineParams(), gt(expiresAt, from), lte(expiresAt, until)))
    .orderBy(expiresAt)
    .limit(max);
  return Promise.all(
    rows.map(async ({ nameSealed: sealed, redirectHost: host, language: words, ...row }) => ({
      ...row,
      redirectHost: host ?? "",
      language: words ?? "en",
      name: sealed === null ? null : await vault.open(nameContext(row.id, row.principalId), sealed),
    })),
  );
};

export type EndingConnection = Found<typeof endingConnections>[number];

/** For the mail, which stands before `noteEndTold` in one batch. */
export const isEndUntold = (id: string): SQL => existsIn(agentTokens, eq(agentTokens.id, id), isEndUntoldConnection);

export const noteEndTold = (db: Database, id: string, now: Instant) =>
  db
    .update(agentTokens)
    .set({ endToldAt: now })
    .where(allOf(eq(agentTokens.id, id), isEndUntoldConnection));
