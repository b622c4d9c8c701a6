// Mails about shares that the clock causes: rows that are due at a time, until the mail is in the outbox or is of no use any more.
import { eq, inArray, sql } from "drizzle-orm";
import type { MailLanguage } from "../core/mail/templates.ts";
import type { ConsumerId, ShareId } from "../core/ids.ts";
import { scopeOfBits, type ContactKey } from "../core/shares/fields.ts";
import { statusAt, type ShareStatus } from "../core/shares/share.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { claimDue } from "./outboxes/claim.ts";
import { listed } from "./query.ts";
import { businesses, shareNotices, shares } from "./schema.ts";

export interface ShareNotice {
  readonly shareId: ShareId;
  readonly kind: "expiring" | "overdue";
}

/** For the batch of a revocation: the person hears if the deadline passes without a word. */
export const insertOverdueNotice = (db: Database, shareId: ShareId, ceaseBy: Instant) =>
  db.insert(shareNotices).values({ shareId, kind: "overdue", nextAt: ceaseBy + 1 });

const leaseMs = minuteMs; // more than a page of them takes

export const claimNotices = (db: Database, now: Instant, max: number): Promise<readonly ShareNotice[]> =>
  claimDue(db, shareNotices, { now, leaseMs, max });

/** What a mail says of the share. Only shares of persons have notices, whose clock is the time itself. */
export interface NoticedShare {
  readonly id: ShareId;
  /** Null once the account is erased. */
  readonly consumerId: ConsumerId | null;
  readonly status: ShareStatus;
  readonly businessName: string;
  /** Of the business. */
  readonly contact: string | null;
  readonly scope: readonly ContactKey[];
  readonly expiresAt: Instant;
  readonly revokedAt: Instant | null;
  readonly ceaseBy: Instant | null;
  readonly language: MailLanguage;
}

export const noticedShares = async (db: Database, notices: readonly ShareNotice[], now: Instant): Promise<readonly NoticedShare[]> => {
  const rows = await db
    .select({
      id: shares.id,
      consumerId: shares.consumerId,
      state: shares.state,
      businessName: shares.businessName,
      contact: businesses.contactEmail,
      bits: shares.scope,
      expiresAt: shares.expiresAt,
      revokedAt: shares.revokedAt,
      ceaseBy: shares.ceaseBy,
      language: shares.language,
    })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .where(inArray(shares.id, listed(notices.map(({ shareId }) => shareId))));
  return rows.map(({ bits, state, ...row }) => ({ ...row, scope: scopeOfBits(bits), status: statusAt(state, row.expiresAt, now) }));
};

export const deleteNotices = (db: Database, notices: readonly ShareNotice[]) =>
  db
    .delete(shareNotices)
    .where(
      sql`(${shareNotices.shareId}, ${shareNotices.kind}) in (select value ->> 'shareId', value ->> 'kind' from json_each(${JSON.stringify(notices)}))`,
    );
