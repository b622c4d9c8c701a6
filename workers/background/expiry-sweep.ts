// What is dropped because its time has passed.
import { dayMs } from "../../core/time.ts";
import { batch } from "../../storage/database.ts";
import { deleteOldMisses } from "../../storage/contact.ts";
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import { deleteExpiredClaims } from "../../storage/idempotency-claims.ts";
import { deleteOldLoginCodes } from "../../storage/login-codes.ts";
import { deleteEndedSessions } from "../../storage/sessions.ts";
import { deleteOldCodes } from "../../storage/withdrawal-codes.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

/** Stored answers and claims of idempotency keys, codes that nobody can use, counts of past days, sessions that have ended. */
export const dropExpired = (platform: Platform): Promise<void> => {
  const now = platform.clock();
  return inEachHome(platform, "expiry", (db) =>
    batch(db, [
      deleteExpiredAnswers(db, now),
      deleteExpiredClaims(db, now),
      deleteOldLoginCodes(db, now),
      deleteEndedSessions(db, now),
      ...deleteOldCodes(db, now),
      deleteOldMisses(db, Math.floor(now / dayMs)),
    ]),
  );
};
