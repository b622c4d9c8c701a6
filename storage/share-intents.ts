// Grants across homes that are not settled yet, in the home of the person: written before the share, deleted after it.
import { eq } from "drizzle-orm";
import type { ConsumerId, ShareId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { claimDue } from "./outboxes/claim.ts";
import { shareIntents } from "./schema.ts";

export interface ShareIntent {
  readonly shareId: ShareId;
  readonly consumerId: ConsumerId;
}

const patienceMs = minuteMs; // more than a grant takes: whoever grants settles their own

export const insertIntent = (db: Database, intent: ShareIntent, now: Instant) =>
  db.insert(shareIntents).values({ ...intent, nextAt: now + patienceMs });

export const claimIntent = async (db: Database, now: Instant): Promise<ShareIntent | null> =>
  (await claimDue(db, shareIntents, { now, leaseMs: patienceMs, max: 1 }))[0] ?? null;

export const deleteIntent = (db: Database, shareId: ShareId) => db.delete(shareIntents).where(eq(shareIntents.shareId, shareId));
