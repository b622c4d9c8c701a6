// Reads the emails that a development deployment captures instead of sending.
import { listCapturedMail, type CapturedMail } from "../../storage/captured-mail.ts";
import type { Database } from "../../storage/database.ts";
import { hasMailInProgress } from "../../storage/outboxes/mail.ts";
import { waitUntilBudget, withBudget } from "../operations/work-budget.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { relayMail } from "./mail-relay.ts";

const maxPolls = 400;
const pollEveryMs = 25;

/**
 * Returns the captured emails in `store`, newest first. First sends due emails, and waits up to about ten seconds per shard for emails that
 * another run is sending. Callers therefore find the emails that their request caused.
 */
export const loadCapturedMail = async (platform: Platform, store: Database, to: string | null): Promise<readonly CapturedMail[]> => {
  await relayMail(withBudget(platform, waitUntilBudget));
  await forEachShard(platform, "captured mail", async (db) => {
    for (let polls = 0; polls < maxPolls && (await hasMailInProgress(db, platform.clock())); polls += 1)
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  });
  return listCapturedMail(store, platform.vault, to);
};
