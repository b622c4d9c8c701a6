// Grants across homes that are not settled yet, in the home of the person: written before the share, deleted after it.
import { eq, lte } from "drizzle-orm";
import type { ConsumerId, ShareId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { query } from "./query.ts";
import { shareIntents } from "./schema.ts";

export interface ShareIntent {
  readonly shareId: ShareId;
  readonly consumerId: ConsumerId;
}

const patienceMs = minuteMs; // more than a grant takes: whoever grants settles their own

export const insertIntent = (db: Database, intent: ShareIntent, now: Instant) =>
  db.insert(shareIntents).values({ ...intent, nextAt: now + patienceMs });

/** Takes what has been due longest; of two workers at once, each gets its own. */
export const claimIntent = async (db: Database, now: Instant): Promise<ShareIntent | null> => {
  const { shareId, consumerId, nextAt } = shareIntents;
  const due = query.select({ shareId }).from(shareIntents).where(lte(nextAt, now)).orderBy(nextAt).limit(1);
  const row = await db
    .update(shareIntents)
    .set({ nextAt: now + patienceMs })
    .where(eq(shareId, due))
    .returning({ shareId, consumerId })
    .get();
  return row ?? null;
};

export const deleteIntent = (db: Database, shareId: ShareId) => db.delete(shareIntents).where(eq(shareIntents.shareId, shareId));
