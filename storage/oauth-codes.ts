// Codes that a connected program turns into its token (RFC 6749 4.1). A code is stored by its hash. Spending it is one UPDATE that names
// everything that must hold, stamped with the token it becomes, so that of any number at once one is told apart by its stamp, and a
// request that fails any check changes nothing.
import { and, eq, exists, gt, inArray, isNull, notInArray, sql, type SQL } from "drizzle-orm";
import { maxActiveTokens } from "../core/agents/agent-token.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { toTokenHolder, isLiveToken } from "./agent-tokens.ts";
import { consumerChainFields } from "./people.ts";
import { onPrimary, type Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { allOf, countIn, existsIn, jsonList, query } from "./query.ts";
import { agentTokens, businesses, consumers, members, oauthCodes } from "./schema.ts";

export type OAuthCode = typeof oauthCodes.$inferSelect;

export const insertOAuthCode = (db: Database, code: Omit<OAuthCode, "usedAt" | "tokenId">) => db.insert(oauthCodes).values(code);

/** The insert failed because the page was answered before. */
export const isDuplicateAuthorization = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", oauthCodes.nonceHash);

/** A code with whose it is; null for an unknown one, and where its person is gone or the business may not be read. */
export const findOAuthCode = async (db: Database, codeHash: string) => {
  const row = await onPrimary(db)
    .select({ code: oauthCodes, consumer: consumerChainFields, business: businessChainFields })
    .from(oauthCodes)
    .leftJoin(consumers, allOf(eq(oauthCodes.realm, "consumer"), eq(consumers.id, oauthCodes.principalId as never)))
    .leftJoin(businesses, eq(businesses.id, oauthCodes.businessId))
    .where(eq(oauthCodes.codeHash, codeHash))
    .get();
  const chain = row?.consumer ?? row?.business ?? null;
  return row === undefined || chain === null ? null : { code: row.code, holder: toTokenHolder(row.code, chain) };
};

/** The person is there, and for a member the seat and an account that may be read. */
const isPrincipalActive = (realm: OAuthCode["realm"]): SQL =>
  realm === "consumer"
    ? existsIn(consumers, eq(consumers.id, oauthCodes.principalId), isNull(consumers.erasedAt))
    : exists(
        query
          .select({ id: members.id })
          .from(members)
          .innerJoin(businesses, allOf(eq(businesses.id, members.businessId), inArray(businesses.status, ["active", "past_due"])))
          .where(allOf(eq(members.id, oauthCodes.principalId), eq(members.businessId, oauthCodes.businessId as never))),
      );

export interface OAuthCodeRedemption {
  readonly codeHash: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly tokenId: string;
  /** Tokens that end when this one is made. */
  readonly replaced: readonly string[];
  readonly now: Instant;
}

/** Live tokens of the code's person, without those that are to end. */
const countRemainingTokens = (replaced: readonly string[], now: Instant): SQL =>
  countIn(
    agentTokens,
    eq(agentTokens.principalId, oauthCodes.principalId),
    isLiveToken(now),
    notInArray(agentTokens.id, jsonList(replaced)),
  );

export const redeemOAuthCode = (db: Database, realm: OAuthCode["realm"], spending: OAuthCodeRedemption) => {
  const { codeHash, clientId, redirectUri, challenge, tokenId, replaced, now } = spending;
  return db
    .update(oauthCodes)
    .set({ usedAt: now, tokenId })
    .where(
      and(
        eq(oauthCodes.codeHash, codeHash),
        eq(oauthCodes.clientId, clientId),
        eq(oauthCodes.redirectUri, redirectUri),
        eq(oauthCodes.challenge, challenge),
        isNull(oauthCodes.usedAt),
        gt(oauthCodes.expiresAt, now),
        isPrincipalActive(realm),
        sql`${countRemainingTokens(replaced, now)} < ${maxActiveTokens}`,
      ),
    );
};

/** For what follows in the batch: the code became this token. */
export const isRedeemedAsToken = (codeHash: string, tokenId: string): SQL =>
  existsIn(oauthCodes, eq(oauthCodes.codeHash, codeHash), eq(oauthCodes.tokenId, tokenId));

/** The earlier tokens end with the statement that makes room for the new one. */
export const revokeReplacedTokens = (db: Database, replaced: readonly string[], made: SQL, now: Instant) =>
  db
    .update(agentTokens)
    .set({ revokedAt: now })
    .where(allOf(inArray(agentTokens.id, jsonList(replaced)), isNull(agentTokens.revokedAt), made));
