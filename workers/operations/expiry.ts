// What is dropped because its time has passed.
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import type { Platform } from "../services.ts";

/** Stored answers of idempotency keys, in every home. */
export const dropExpiredAnswers = async (platform: Platform): Promise<void> => {
  for (const [, db] of platform.homes.all()) await deleteExpiredAnswers(db, platform.clock()).run();
};
