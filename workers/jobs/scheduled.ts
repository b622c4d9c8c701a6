// What each cron tick does. Every job is driven by what is due, not by the tick: a missed tick is late work, a doubled
// tick is no work.
import { deleteExpiredAnswers } from "../../storage/idempotency.ts";
import { relayOutbox } from "../operations/outbox.ts";
import type { Platform } from "../services.ts";

export const everyMinute = "* * * * *";

export const scheduled = async (platform: Platform, cron: string, _waitUntil: (work: Promise<unknown>) => void): Promise<void> => {
  if (cron !== everyMinute) return;
  await relayOutbox(platform);
  for (const [, db] of platform.homes.all()) await deleteExpiredAnswers(db, platform.clock()).run();
};
