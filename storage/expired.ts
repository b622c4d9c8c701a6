// What has had its time in a home: rows of each table that nobody can use any more, and that no limit counts.
import { inArray, isNull, lt, lte, sql, type SQL } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { codesKeptMs, failuresKeptMs } from "../core/access/mailed-code.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isUnprovedClaim } from "./domains.ts";
import { isOutdatedDocument } from "./oauth-clients.ts";
import { allOf, query } from "./query.ts";
import {
  agentTokens,
  authCodes,
  billingCustomers,
  billingEvents,
  clientDays,
  domains,
  idempotency,
  idempotencyClaims,
  invitations,
  mailedCodeFailures,
  mailedCodes,
  matchMisses,
  oauthClients,
  oauthCodes,
  sessions,
  signups,
  webauthnChallenges,
} from "./schema.ts";

// So that a code that was used is known when it is shown again.
const usedCodesKeptMs = dayMs;
// The provider sends an event again for three days by itself, and for thirty when somebody asks it to.
const eventsKeptMs = 90 * dayMs;
// A checkout that is told of at all is told of within those three days. The provider's account may have customers that are not ours.
const unlinkedKeptMs = 7 * dayMs;

const expired = (now: Instant): readonly (readonly [table: SQLiteTable, condition: SQL])[] => [
  [idempotency, lte(idempotency.expiresAt, now)],
  [idempotencyClaims, lte(idempotencyClaims.expiresAt, now)],
  [sessions, lte(sessions.expiresAt, now)],
  [agentTokens, lte(agentTokens.expiresAt, now)],
  [mailedCodes, lte(mailedCodes.createdAt, now - codesKeptMs)],
  [mailedCodeFailures, lte(mailedCodeFailures.updatedAt, now - failuresKeptMs)],
  [authCodes, lte(authCodes.createdAt, now - usedCodesKeptMs)],
  [oauthCodes, lte(oauthCodes.expiresAt, now - usedCodesKeptMs)],
  [oauthClients, isOutdatedDocument(now)],
  [webauthnChallenges, lte(webauthnChallenges.expiresAt, now)],
  [signups, lte(signups.expiresAt, now)],
  [invitations, lte(invitations.expiresAt, now)],
  [domains, isUnprovedClaim(now)],
  [billingEvents, lte(billingEvents.receivedAt, now - eventsKeptMs)],
  [billingCustomers, allOf(isNull(billingCustomers.accountId), lte(billingCustomers.updatedAt, now - unlinkedKeptMs))],
  [matchMisses, lt(matchMisses.day, Math.floor(now / dayMs))],
  [clientDays, lt(clientDays.day, Math.floor(now / dayMs))],
];

/** One of each table, of at most 1,000 rows: a batch of them stays short however much has expired, and is run until nothing changes. */
export const deletionsOfExpired = (db: Database, now: Instant) =>
  expired(now).map(([table, condition]) => {
    const rowid = sql`rowid`;
    return db.delete(table).where(inArray(rowid, query.select({ rowid }).from(table).where(condition).limit(1_000)));
  });
