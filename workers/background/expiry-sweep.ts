// Drops what has had its time, in every home.
import { dayMs, secondMs, type Instant } from "../../core/time.ts";
import { deleteOldBillingEvents, deleteUnlinkedCustomers } from "../../storage/billing.ts";
import { deleteOldDays } from "../../storage/client-days.ts";
import { deleteOldMisses } from "../../storage/contact.ts";
import { batch, type Database } from "../../storage/database.ts";
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import { deleteExpiredClaims } from "../../storage/idempotency-claims.ts";
import { deleteOldCodes, deleteOldFailures } from "../../storage/mailed-codes.ts";
import { deleteEndedSessions } from "../../storage/sessions.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

// A hundred certificates a second leave 6,000 answers a minute to drop: six of a sweep's thousands.
const maxRunMs = 20 * secondMs;

/** Each deletes at most 1,000 rows a call. */
const sweeps = [
  deleteExpiredAnswers,
  deleteExpiredClaims,
  deleteEndedSessions,
  deleteOldCodes,
  deleteOldFailures,
  deleteOldBillingEvents,
  deleteUnlinkedCustomers,
  (db: Database, now: Instant) => deleteOldMisses(db, Math.floor(now / dayMs)),
  (db: Database, now: Instant) => deleteOldDays(db, Math.floor(now / dayMs)),
];

/** Until nothing is left or the time is up; the next minute goes on. */
const sweepHome = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  for (let left = sweeps; left.length > 0 && platform.clock() < now + maxRunMs; ) {
    const deleted = await batch(
      db,
      left.map((sweep) => sweep(db, now)),
    );
    left = left.filter((_, at) => (deleted[at]?.meta.changes ?? 0) > 0);
  }
};

/** Stored answers and claims of idempotency keys, codes that nobody can use, counts of past days, sessions that have ended. */
export const dropExpired = (platform: Platform): Promise<void> => inEachHome(platform, "expiry", (db) => sweepHome(platform, db));
