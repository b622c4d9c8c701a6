// Authorization codes that an OAuth client exchanges for a token (RFC 6749 section 4.1), stored as hashes. A single UPDATE checks all
// conditions and redeems the code. Therefore, only one of several concurrent redemptions succeeds, and a request that fails a check changes
// nothing.
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

/** Inserts an authorization code. Fails if the same authorization page was already submitted (`isDuplicateAuthorization`). */
export const insertOAuthCode = (db: Database, code: Omit<OAuthCode, "usedAt" | "tokenId">) => db.insert(oauthCodes).values(code);

export const isDuplicateAuthorization = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", oauthCodes.nonceHash);

/**
 * Finds a code and the person who approved it. Returns null if the code is unknown, or if the consumer or the member's business does not
 * exist.
 */
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

/**
 * Builds a condition that is true if the person is still active. A consumer's account must not be erased. A member's membership must exist,
 * and the business must be active or past due.
 */
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
  /** The tokens that the new token will replace. */
  readonly replaced: readonly string[];
  readonly now: Instant;
}

/** Counts the person's live tokens, without those that will be replaced. */
const countRemainingTokens = (replaced: readonly string[], now: Instant): SQL =>
  countIn(
    agentTokens,
    eq(agentTokens.principalId, oauthCodes.principalId),
    isLiveToken(now),
    notInArray(agentTokens.id, jsonList(replaced)),
  );

/**
 * Redeems a code. Does nothing in any of these cases:
 * - The client, redirect URI or PKCE challenge does not match.
 * - The code is unknown, used or expired.
 * - The person is no longer active (`isPrincipalActive`).
 * - The token limit is reached.
 */
export const redeemOAuthCode = (db: Database, realm: OAuthCode["realm"], redemption: OAuthCodeRedemption) => {
  const { codeHash, clientId, redirectUri, challenge, tokenId, replaced, now } = redemption;
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

/** Builds a condition for later statements in the batch. It is true if the code was redeemed for this token. */
export const isRedeemedAsToken = (codeHash: string, tokenId: string): SQL =>
  existsIn(oauthCodes, eq(oauthCodes.codeHash, codeHash), eq(oauthCodes.tokenId, tokenId));

export const revokeReplacedTokens = (db: Database, replaced: readonly string[], isRedeemed: SQL, now: Instant) =>
  db
    .update(agentTokens)
    .set({ revokedAt: now })
    .where(allOf(inArray(agentTokens.id, jsonList(replaced)), isNull(agentTokens.revokedAt), isRedeemed));
