// What is dropped because its time has passed.
import { dayMs } from "../../core/time.ts";
import { batch } from "../../storage/database.ts";
import { deleteOldMisses } from "../../storage/contact.ts";
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import { deleteExpiredClaims } from "../../storage/idempotency-claims.ts";
import { deleteOldLoginCodes } from "../../storage/login-codes.ts";
import { deleteEndedSessions } from "../../storage/sessions.ts";
import { deleteOldCodes } from "../../storage/withdrawal-codes.ts";
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";

/**
 * Stored answers and claims of idempotency keys, codes that nobody can use, counts of past days, sessions that have ended: in every home.
 * Never throws: a sweep that fails is done a minute later, and what the minute does besides does not wait for it.
 */
export const dropExpired = async (platform: Platform): Promise<void> => {
  const now = platform.clock();
  for (const [, db] of platform.homes.all()) {
    try {
      await batch(db, [
        deleteExpiredAnswers(db, now),
        deleteExpiredClaims(db, now),
        deleteOldLoginCodes(db, now),
        deleteEndedSessions(db, now),
        ...deleteOldCodes(db, now),
        deleteOldMisses(db, Math.floor(now / dayMs)),
      ]);
    } catch (error) {
      platform.log.fault({ at: "expiry", error: kindOfError(error) });
    }
  }
};
