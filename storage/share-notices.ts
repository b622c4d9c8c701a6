// Mails about shares that the clock causes: rows that are due at a time, until the mail is in the outbox or is of no use any more.
import { eq, inArray, lte } from "drizzle-orm";
import type { ShareId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { allOf, query } from "./query.ts";
import { shareNotices } from "./schema.ts";

export interface ShareNotice {
  readonly shareId: ShareId;
  readonly kind: "expiring" | "overdue";
}

/** For the batch of a revocation: the person hears if the deadline passes without a word. */
export const insertOverdueNotice = (db: Database, shareId: ShareId, ceaseBy: Instant) =>
  db.insert(shareNotices).values({ shareId, kind: "overdue", nextAt: ceaseBy + 1 });

const leaseMs = minuteMs; // more than a page of them takes

/** Takes what has been due longest; of two workers at once, each gets its own. */
export const claimNotices = (db: Database, now: Instant, max: number): Promise<readonly ShareNotice[]> => {
  const { shareId, kind, nextAt } = shareNotices;
  const due = query.select({ shareId }).from(shareNotices).where(lte(nextAt, now)).orderBy(nextAt).limit(max);
  return db
    .update(shareNotices)
    .set({ nextAt: now + leaseMs })
    .where(allOf(inArray(shareId, due), lte(nextAt, now)))
    .returning({ shareId, kind })
    .all();
};

export const deleteNotice = (db: Database, { shareId, kind }: ShareNotice) =>
  db.delete(shareNotices).where(allOf(eq(shareNotices.shareId, shareId), eq(shareNotices.kind, kind)));
