// Deletes a shard's expired rows: rows that can no longer be used and no longer count toward a limit.
import { inArray, isNull, lt, lte, sql, type SQL } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { emailCodeRetentionMs, failedAttemptRetentionMs } from "../core/access/email-code.ts";
import { dayMs, type Instant, toDayNumber } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isExpiredClaim } from "./domains.ts";
import { isExpiredDocument } from "./oauth-clients.ts";
import { allOf, query } from "./query.ts";
import { usageRetentionDays } from "./record-usage.ts";
import {
  agentTokens,
  shareCodes,
  billingCustomers,
  billingEvents,
  clientDailyUsage,
  domains,
  idempotentResponses,
  idempotencyClaims,
  invitations,
  emailCodeFailures,
  emailCodes,
  failedMail,
  matchMisses,
  oauthClients,
  oauthCodes,
  recordUsage,
  sessions,
  signups,
  webauthnChallenges,
} from "./schema.ts";

// How long used codes are kept, so that a second use is detected.
const usedCodeRetentionMs = dayMs;
// Longer than the payment provider retries an event: three days, or up to thirty days on request.
const billingEventRetentionMs = 90 * dayMs;
// The payment provider reports a checkout within three days. A customer who is not linked to an account after a week does not belong to any
// of our accounts.
const unlinkedCustomerRetentionMs = 7 * dayMs;

const expiryConditions = (now: Instant): readonly (readonly [table: SQLiteTable, condition: SQL])[] => [
  [idempotentResponses, lte(idempotentResponses.expiresAt, now)],
  [idempotencyClaims, lte(idempotencyClaims.expiresAt, now)],
  [sessions, lte(sessions.expiresAt, now)],
  [agentTokens, lte(agentTokens.expiresAt, now)],
  [emailCodes, lte(emailCodes.createdAt, now - emailCodeRetentionMs)],
  [emailCodeFailures, lte(emailCodeFailures.updatedAt, now - failedAttemptRetentionMs)],
  [shareCodes, lte(shareCodes.createdAt, now - usedCodeRetentionMs)],
  [oauthCodes, lte(oauthCodes.expiresAt, now - usedCodeRetentionMs)],
  [oauthClients, isExpiredDocument(now)],
  [webauthnChallenges, lte(webauthnChallenges.expiresAt, now)],
  [signups, lte(signups.expiresAt, now)],
  [invitations, lte(invitations.expiresAt, now)],
  [domains, isExpiredClaim(now)],
  [billingEvents, lte(billingEvents.receivedAt, now - billingEventRetentionMs)],
  [billingCustomers, allOf(isNull(billingCustomers.accountId), lte(billingCustomers.updatedAt, now - unlinkedCustomerRetentionMs))],
  [recordUsage, lte(recordUsage.day, toDayNumber(now) - usageRetentionDays)],
  [matchMisses, lt(matchMisses.day, toDayNumber(now))],
  [failedMail, lte(failedMail.expiresAt, now)],
  [clientDailyUsage, lt(clientDailyUsage.day, toDayNumber(now))],
];

/** Returns one statement per table, which deletes at most 1,000 rows. Repeat each statement until it deletes nothing. */
export const deleteExpiredRows = (db: Database, now: Instant) =>
  expiryConditions(now).map(([table, condition]) => {
    const rowid = sql`rowid`;
    return db.delete(table).where(inArray(rowid, query.select({ rowid }).from(table).where(condition).limit(1_000)));
  });
