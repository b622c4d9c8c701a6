// The clock of a business's sandbox: as far ahead as a developer moved it, so that warnings and ends can be seen without waiting. Every
// statement that compares a share with the time takes it from here; for a live share that is the time itself.
import { eq, lte, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { excluded } from "./inserts.ts";
import { query } from "./query.ts";
import { clients, sandboxClocks, shares } from "./schema.ts";

const selectClockOffset = (businessId: typeof shares.businessId | typeof clients.businessId | BusinessId): SQL =>
  sql`coalesce(${query.select({ offsetMs: sandboxClocks.offsetMs }).from(sandboxClocks).where(eq(sandboxClocks.businessId, businessId))}, 0)`;

const offsetIfSandbox = (environment: typeof shares.environment | typeof clients.environment, offset: SQL): SQL<number> =>
  sql<number>`${sql`iif(${environment} = 'sandbox', ${offset}, 0)`}`;

/** For selections from shares: how far the clock of the share is ahead. */
export const shareClockOffsetField = offsetIfSandbox(shares.environment, selectClockOffset(shares.businessId));
/** Likewise for selections from clients. */
export const clientClockOffsetField = offsetIfSandbox(clients.environment, selectClockOffset(clients.businessId));

/** The time by the clock of the share of a row. */
export const shareTime = (now: Instant): SQL<Instant> => sql<Instant>`(${now} + ${shareClockOffsetField})`;

/** The time by the clock of all shares of one owner. */
export const ownerTime = (
  { businessId, environment }: { readonly businessId: BusinessId; readonly environment: Environment },
  now: Instant,
): SQL<Instant> => (environment === "live" ? sql<Instant>`${now}` : sql<Instant>`(${now} + ${selectClockOffset(businessId)})`);

/** It has no time while it was never moved. */
export const getSandboxClock = async (db: Database, businessId: BusinessId) => {
  const { offsetMs, movedAt } = sandboxClocks;
  const row = await db.select({ offsetMs, movedAt }).from(sandboxClocks).where(eq(sandboxClocks.businessId, businessId)).get();
  return row ?? { offsetMs: 0, movedAt: null };
};

/** Ahead to `offsetMs`; a clock that is further already stays where it is. */
export const updateSandboxClock = (db: Database, businessId: BusinessId, offsetMs: number, now: Instant) =>
  db
    .insert(sandboxClocks)
    .values({ businessId, offsetMs, movedAt: now })
    .onConflictDoUpdate({
      target: sandboxClocks.businessId,
      set: { offsetMs: excluded(sandboxClocks.offsetMs), movedAt: now },
      setWhere: lte(sandboxClocks.offsetMs, excluded(sandboxClocks.offsetMs)),
    });

export const deleteSandboxClock = (db: Database, businessId: BusinessId) =>
  db.delete(sandboxClocks).where(eq(sandboxClocks.businessId, businessId));
