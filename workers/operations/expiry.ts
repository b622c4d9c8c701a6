// What is dropped because its time has passed.
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import { deleteOldLoginCodes } from "../../storage/login-codes.ts";
import { deleteEndedSessions } from "../../storage/sessions.ts";
import type { Platform } from "../services.ts";

/** Stored answers of idempotency keys, codes that nobody can use, sessions that have ended: in every home. */
export const dropExpired = async (platform: Platform): Promise<void> => {
  const now = platform.clock();
  for (const [, db] of platform.homes.all()) {
    await db.batch([deleteExpiredAnswers(db, now), deleteOldLoginCodes(db, now), deleteEndedSessions(db, now)]);
  }
};
