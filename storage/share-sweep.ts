// The sweep: records expiration warnings and expirations of due shares. One batch processes up to 2,000 shares. Its first statement marks
// each share with the ID of the run, unless the share has changed since it was read. The other statements process only marked shares.
import { and, eq, lte, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, ConsumerId } from "../core/ids.ts";
import { computeNextDueAt } from "../core/shares/due-dates.ts";
import { toIso, type Instant } from "../core/time.ts";
import { batch, type Database, type Found } from "./database.ts";
import { recordShareChanges, createUnsealedPayload, type UnsealedEventType } from "./audit-entries.ts";
import { eventSequenceOf } from "./public-events.ts";
import { allOf, jsonTable } from "./query.ts";
import { shareClockOffsetField, ownerTime } from "./sandbox-clocks.ts";
import { sandboxClocks, shareNotices, shares } from "./schema.ts";

export const maxSweptShares = 2_000; // the data of 2,000 shares is one bound value of 1.2 MB, and D1 allows 2 MB
/**
 * The limit in a request, where someone waits for the response: a developer who moves a sandbox clock, or a person who deletes an account.
 */
export const maxSweptInRequest = 1_000;

const dueFields = {
  id: shares.id,
  businessId: shares.businessId,
  createdAt: shares.createdAt,
  expiresAt: shares.expiresAt,
  dueAt: sql<Instant>`${shares.nextDueAt}`.as("due_at"),
  clockOffsetMs: shareClockOffsetField.as("clock_offset_ms"),
};

/** Lists due shares, at most as many as one batch can process. Shares that are due by the real time come first, longest overdue first. */
export const listDueShares = async (db: Database, environment: Environment, now: Instant) => {
  const due = db
    .select(dueFields)
    .from(shares)
    .where(allOf(eq(shares.environment, environment), lte(shares.nextDueAt, now)))
    .orderBy(shares.nextDueAt)
    .limit(maxSweptShares);
  if (environment === "live") return due;
  // If the clock of a sandbox was moved, its due shares are found with `sandbox_clocks`. All other shares use the real time.
  const moved = db
    .select(dueFields)
    .from(sandboxClocks)
    .crossJoin(shares)
    .where(allOf(eq(shares.businessId, sandboxClocks.businessId), isDueInSandbox(sql`${now} + ${sandboxClocks.offsetMs}`)))
    .limit(maxSweptShares);
  const [byTime, byClock] = await batch(db, [due, moved]);
  const found = new Map([...byTime, ...byClock].map((row) => [row.id, row]));
  return [...found.values()].slice(0, maxSweptShares);
};

export type DueShare = Found<typeof listDueShares>[number];

const isDueInSandbox = (time: SQL): SQL => allOf(eq(shares.environment, "sandbox"), sql`${shares.nextDueAt} <= ${time}`);

/** Lists a business's sandbox shares that are due by the sandbox clock. */
export const listDueSandboxShares = (db: Database, businessId: BusinessId, now: Instant): Promise<readonly DueShare[]> => {
  const time = ownerTime({ businessId, environment: "sandbox" }, now);
  return db
    .select(dueFields)
    .from(shares)
    .where(allOf(eq(shares.businessId, businessId), isDueInSandbox(time)))
    .orderBy(shares.nextDueAt)
    .limit(maxSweptInRequest)
    .all();
};

/** Lists a person's shares that have expired but have not been swept yet. */
export const listOverdueShares = (db: Database, consumerId: ConsumerId, now: Instant): Promise<readonly DueShare[]> =>
  db
    .select(dueFields)
    .from(shares)
    .where(allOf(eq(shares.consumerId, consumerId), eq(shares.state, "active"), lte(shares.expiresAt, now)))
    .orderBy(shares.nextDueAt)
    .limit(maxSweptInRequest)
    .all();

/** Builds the data of a warning or expiration. If the sandbox clock was moved past several of them, only the last one is recorded. */
const toSweepRow = (share: DueShare, realTime: Instant) => {
  const now = realTime + share.clockOffsetMs;
  const isOver = share.expiresAt <= now;
  const payload = { actor: "service", expires_at: toIso(share.expiresAt) };
  const type: UnsealedEventType = isOver ? "share.expired" : "share.expiring";
  const business = createUnsealedPayload(payload);
  const person = createUnsealedPayload(payload);
  return {
    id: share.id,
    due: share.dueAt,
    at: now,
    next: isOver ? null : computeNextDueAt(share, now),
    type,
    change: crypto.randomUUID(),
    businessHash: business.hash,
    businessText: business.text,
    personHash: person.hash,
    personText: person.text,
  };
};

/** Sweeps shares in one environment in one batch. Skips shares that have changed since they were read. */
export const sweepShares = async (db: Database, environment: Environment, due: readonly DueShare[], now: Instant): Promise<void> => {
  const run = `sweep ${crypto.randomUUID()}`;
  const { each, cell, order } = jsonTable(due.map((share) => toSweepRow(share, now)));
  const isOver = sql`${cell("next")} is null`;
  const swept = sql`${each} inner join ${shares} on ${shares.id} = ${cell("id")} and ${shares.changedBy} = ${run}`;
  await batch(db, [
    db
      .update(shares)
      .set({
        state: sql`iif(${isOver}, 'expired', 'active')`,
        keySealed: sql`iif(${isOver}, null, ${shares.keySealed})`,
        nextDueAt: cell("next"),
        changedBy: run,
      })
      .from(each)
      .where(and(eq(shares.id, cell("id")), eq(shares.state, "active"), eq(shares.nextDueAt, cell("due")))),
    ...Object.values(
      recordShareChanges(db, {
        from: swept,
        where: sql`true`,
        id: cell("change"),
        type: cell("type"),
        at: now,
        max: due.length,
        business: { hash: cell("businessHash"), text: cell("businessText") },
        person: { hash: cell("personHash"), text: cell("personText") },
        event: { sequence: eventSequenceOf(shares.businessId, environment), at: cell("at"), order },
      }),
    ),
    db
      .insert(shareNotices, "shareId", "kind", "nextAt")
      .select(sql`select ${shares.id}, 'expiring', ${now} from ${swept} where ${shares.consumerId} is not null and not (${isOver})`)
      .onConflictDoUpdate({ target: [shareNotices.shareId, shareNotices.kind], set: { nextAt: now } }),
  ]);
};
