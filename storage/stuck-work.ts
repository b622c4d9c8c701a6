// Work that should have been done by now, counted: for the operator, who looks when something seems not to move.
import { count, eq, isNull, lte, min, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { allOf } from "./query.ts";
import { anchors, auditOutbox, eventOutbox, mailOutbox, outbox } from "./schema.ts";

export interface Stuck {
  readonly kind: "audit" | "anchors" | "parked_anchors" | "events" | "mail" | "policies" | "subscription_ends";
  readonly count: number;
  /** Since when the oldest waits. */
  readonly since: Instant | null;
}

const patienceMs = 10 * minuteMs; // every one of these is tried each minute

const waiting = (db: Database, table: SQLiteTable, since: SQLiteColumn, condition: SQL) =>
  db
    .select({ count: count().as("stuck"), since: sql<Instant | null>`${min(since)}`.as("since") })
    .from(table)
    .where(condition);

/** Kinds of which nothing waits are left out. */
export const stuckWork = async (db: Database, now: Instant): Promise<readonly Stuck[]> => {
  const before = now - patienceMs;
  const isOpen = sql`${anchors.status} in ('pending', 'prepared')`;
  const rows = await batch(db, [
    waiting(db, auditOutbox, auditOutbox.at, allOf(isNull(auditOutbox.drainedAt), lte(auditOutbox.at, before))),
    waiting(db, anchors, anchors.createdAt, allOf(isOpen, lte(anchors.createdAt, before))),
    waiting(db, anchors, anchors.createdAt, sql`${anchors.status} = 'parked'`),
    waiting(db, eventOutbox, eventOutbox.createdAt, lte(eventOutbox.createdAt, before)),
    waiting(db, mailOutbox, mailOutbox.createdAt, lte(mailOutbox.createdAt, before)),
    waiting(db, outbox, outbox.createdAt, allOf(eq(outbox.kind, "policy"), lte(outbox.createdAt, before))),
    waiting(db, outbox, outbox.createdAt, allOf(eq(outbox.kind, "subscription_end"), lte(outbox.createdAt, before))),
  ]);
  const kinds = ["audit", "anchors", "parked_anchors", "events", "mail", "policies", "subscription_ends"] as const;
  return kinds.flatMap((kind, at) => {
    const row = rows[at]?.[0];
    return row === undefined || row.count === 0 ? [] : [{ kind, count: row.count, since: row.since }];
  });
};
