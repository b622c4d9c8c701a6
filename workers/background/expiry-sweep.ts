// Drops what has had its time, in every home.
import { dayMs, type Instant } from "../../core/time.ts";
import { deleteEndedTokens } from "../../storage/agents.ts";
import { deleteOldBillingEvents, deleteUnlinkedCustomers } from "../../storage/billing.ts";
import { deleteOldDays } from "../../storage/client-days.ts";
import { deleteOldMisses } from "../../storage/contact.ts";
import { batch, type Database } from "../../storage/database.ts";
import { deleteExpiredClaimsOfDomains } from "../../storage/domains.ts";
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import { deleteExpiredClaims } from "../../storage/idempotency-claims.ts";
import { deleteOldAuthCodes } from "../../storage/auth-codes.ts";
import { deleteOldCodes, deleteOldFailures } from "../../storage/mailed-codes.ts";
import { deleteOldOAuthClients } from "../../storage/oauth-clients.ts";
import { deleteOldOAuthCodes } from "../../storage/oauth-codes.ts";
import { deleteEndedInvitations } from "../../storage/members.ts";
import { deleteEndedSessions } from "../../storage/sessions.ts";
import { deleteOldChallenges } from "../../storage/webauthn-challenges.ts";
import { deleteEndedSignups } from "../../storage/signups.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

/** Each deletes at most 1,000 rows a call. A hundred certificates a second leave 6,000 answers a minute to drop: six calls. */
const sweeps = [
  deleteExpiredAnswers,
  deleteExpiredClaims,
  deleteEndedSessions,
  deleteEndedTokens,
  deleteOldCodes,
  deleteOldFailures,
  deleteOldAuthCodes,
  deleteOldOAuthCodes,
  deleteOldOAuthClients,
  deleteOldChallenges,
  deleteEndedSignups,
  deleteEndedInvitations,
  deleteExpiredClaimsOfDomains,
  deleteOldBillingEvents,
  deleteUnlinkedCustomers,
  (db: Database, now: Instant) => deleteOldMisses(db, Math.floor(now / dayMs)),
  (db: Database, now: Instant) => deleteOldDays(db, Math.floor(now / dayMs)),
];

/** Until nothing is left or its allowance is used up; the next minute goes on. */
const sweepHome = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  for (let left = sweeps; left.length > 0 && (await platform.goesOn()); ) {
    const deleted = await batch(
      db,
      left.map((sweep) => sweep(db, now)),
    );
    left = left.filter((_, at) => (deleted[at]?.meta.changes ?? 0) > 0);
  }
};

/** Answers, claims, codes and challenges that nobody can use, counts of past days, sessions, tokens, sign-ups and invitations that have ended. */
export const dropExpired = (platform: Platform): Promise<void> => inEachHome(platform, "expiry", (db) => sweepHome(platform, db));
