// Emails about shares that must be sent at a certain time. A row is kept until its email is in the outbox or is no longer needed.
import { eq, inArray, sql } from "drizzle-orm";
import type { ShareId } from "../core/ids.ts";
import { getShareStatus } from "../core/shares/share.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { jsonTable, jsonList } from "./query.ts";
import { businesses, shareNotices, shares } from "./schema.ts";

export type ShareNotice = Pick<typeof shareNotices.$inferSelect, "shareId" | "kind">;

/**
 * Schedules an email to the person, in case the business does not acknowledge the revocation by the deadline. Must be in the batch that
 * revokes the share.
 */
export const insertOverdueNotice = (db: Database, shareId: ShareId, ceaseBy: Instant) =>
  db.insert(shareNotices).values({ shareId, kind: "overdue", nextAt: ceaseBy + 1 });

const leaseMs = minuteMs; // longer than one page of notices takes

/** Claims up to `max` due notices for one minute, longest overdue first. */
export const claimShareNotices = (db: Database, now: Instant, max: number): Promise<readonly ShareNotice[]> =>
  claimDueRows(db, shareNotices, { now, leaseMs, max });

/**
 * Lists the shares of these notices. Computes their status from the real time, because only live shares have notices. `consumerId` is null
 * if the account is erased.
 */
export const listNoticedShares = async (db: Database, notices: readonly ShareNotice[], now: Instant) => {
  const { id, consumerId, state, businessName, scope, expiresAt, revokedAt, ceaseBy, language } = shares;
  const { contactEmail: contact } = businesses;
  const rows = await db
    .select({ id, consumerId, state, businessName, contact, scope, expiresAt, revokedAt, ceaseBy, language })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .where(inArray(shares.id, jsonList(notices.map(({ shareId }) => shareId))));
  return rows.map((row) => ({ ...row, status: getShareStatus(row.state, row.expiresAt, now) }));
};

export type NoticedShare = Found<typeof listNoticedShares>[number];

export const deleteShareNotices = (db: Database, notices: readonly ShareNotice[]) => {
  const { each, cell } = jsonTable(notices);
  return db
    .delete(shareNotices)
    .where(sql`(${shareNotices.shareId}, ${shareNotices.kind}) in (select ${cell("shareId")}, ${cell("kind")} from ${each})`);
};
