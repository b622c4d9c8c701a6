// What every committed change is followed by: its audit entry joins the chain, its statement goes to the ledger. One kick
// serves all the changes of a moment (`gatherMs`, two seconds) in this isolate; without any kick the minute cron does the same work.
import { secondMs, type Instant } from "../../core/time.ts";
import { kindOfError } from "../log.ts";
import type { Platform, Services } from "../services.ts";
import { kickAudit } from "./checkpoints.ts";

const abandonedMs = 30 * secondMs; // the platform ended the request that was to kick before it could

const kicksDueAt = new WeakMap<Platform, Instant>();

const kick = async (platform: Platform): Promise<void> => {
  await kickAudit(platform);
  try {
    await platform.kickAnchors();
  } catch (error) {
    platform.log.fault({ at: "queue", error: kindOfError(error) }); // the cron finds the rows
  }
};

/** Costs nothing before the answer, and after it only the first caller of each moment anything. */
export const followUpSoon = (services: Services): void => {
  const { platform } = services;
  const { gatherMs } = platform.config;
  const now = platform.clock();
  const dueAt = kicksDueAt.get(platform);
  if (dueAt !== undefined && now < dueAt + abandonedMs) return;
  kicksDueAt.set(platform, now + gatherMs);
  services.afterAnswer(async () => {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    kicksDueAt.delete(platform); // from here on a new change needs a new kick
    await kick(platform);
  });
};
