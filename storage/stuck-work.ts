// Counts overdue background work, for operators.
import { count, eq, inArray, isNotNull, lte, min, or, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Found } from "./database.ts";
import { allOf, existsIn, notExistsIn, query } from "./query.ts";
import { hasUnrecordedEntry, isRecorded } from "./audit-entries.ts";
import { isUnplacedEvent } from "./public-events.ts";
import {
  accountErasures,
  accountWithdrawals,
  anchors,
  auditEntries,
  changeExceptions,
  changes,
  consumers,
  ledgerState,
  mailOutbox,
  outbox,
  policyPages,
  withdrawalWork,
} from "./schema.ts";

const stuckAfterMs = 10 * minuteMs; // a job attempts this work every minute

/**
 * The number of oldest changes that are searched for unrecorded audit entries. A single entry causes an alert, so it is not necessary to
 * count all of them.
 */
const maxJudgedChanges = 2_000;

const countWaiting = (db: Database, table: SQLiteTable, since: SQLiteColumn, condition: SQL) =>
  db
    .select({ count: count().as("stuck"), since: sql<Instant | null>`${min(since)}`.as("since") })
    .from(table)
    .where(condition);

/**
 * Counts overdue rows by kind. `since` is the time at which the oldest of them began to wait. Change exceptions and parked statements
 * always count as overdue. Omits kinds without overdue rows.
 */
export const listStuckWork = async (db: Database, now: Instant) => {
  const before = now - stuckAfterMs;
  const isOpen = sql`${anchors.status} in ('pending', 'prepared')`;
  const lowestOffset = sql`(select coalesce(min(${ledgerState.ord}), 0) from ${ledgerState})`;
  const unanchored = sql`(select ${anchors.ord} from ${anchors} where ${anchors.attempts} > 0 and ${anchors.status} <> 'anchored'
    union all select ${anchors.ord} from ${anchors} where ${anchors.ord} > ${lowestOffset})`;
  const open = allOf(inArray(anchors.ord, unanchored), isOpen, lte(anchors.createdAt, before));
  const unread = allOf(
    sql`${changes.ord} > ${lowestOffset}`,
    isNotNull(changes.statement),
    notExistsIn(anchors, eq(anchors.ord, changes.ord)),
    lte(changes.at, before),
  );
  const waiting = sql`(select ${anchors.createdAt} as since from ${anchors} where ${open} union all select ${changes.at} from ${changes} where ${unread})`;
  const unfinished = sql`(select ${withdrawalWork.withdrawnAt} as since from ${withdrawalWork} union all select ${accountWithdrawals.withdrawnAt} from ${accountWithdrawals})`;
  const oldestChanges = query.select({ ord: changes.ord }).from(changes).orderBy(changes.ord).limit(maxJudgedChanges);
  const counts = {
    audit: countWaiting(
      db,
      changes,
      changes.at,
      allOf(
        inArray(changes.ord, oldestChanges),
        lte(changes.at, before),
        or(existsIn(auditEntries, eq(auditEntries.ord, changes.ord), sql`not ${isRecorded}`), hasUnrecordedEntry) as SQL,
      ),
    ),
    change_exceptions: countWaiting(db, changeExceptions, changeExceptions.createdAt, sql`true`),
    anchors: db.select({ count: count().as("stuck"), since: sql<Instant | null>`min(since)`.as("since") }).from(waiting),
    parked_anchors: countWaiting(db, anchors, anchors.createdAt, sql`${anchors.attempts} > 0 and ${anchors.status} = 'parked'`),
    events: countWaiting(db, changes, changes.at, allOf(isUnplacedEvent, lte(changes.at, before))),
    mail: countWaiting(db, mailOutbox, mailOutbox.createdAt, lte(mailOutbox.createdAt, before)),
    policies: countWaiting(db, policyPages, policyPages.createdAt, lte(policyPages.createdAt, before)),
    withdrawals: db
      .select({ count: count().as("stuck"), since: sql<Instant | null>`min(since)`.as("since") })
      .from(unfinished)
      .where(sql`since <= ${before}`),
    account_erasures: countWaiting(
      db,
      consumers,
      consumers.erasedAt,
      allOf(lte(consumers.erasedAt, before), inArray(consumers.id, query.select({ id: accountErasures.consumerId }).from(accountErasures))),
    ),
    subscription_ends: countWaiting(
      db,
      outbox,
      outbox.createdAt,
      allOf(eq(outbox.kind, "subscription_end"), lte(outbox.createdAt, before)),
    ),
  };
  const found = await batch(db, counts);
  const kinds = Object.keys(counts) as (keyof typeof counts)[];
  return kinds.map((kind) => ({ kind, ...(found[kind][0] ?? { count: 0, since: null }) })).filter(({ count }) => count > 0);
};

export type StuckWork = Found<typeof listStuckWork>[number];
