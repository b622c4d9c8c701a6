// The clock of a business's sandbox. A developer can move it ahead to see shares expire without waiting. Queries that compare a share's
// times with the current time use the fields in this file, which use the real time for live shares.
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

/** A field for queries on `shares`: the number of milliseconds that the share's clock is ahead of real time. */
export const shareClockOffsetField = offsetIfSandbox(shares.environment, selectClockOffset(shares.businessId));
/** Like `shareClockOffsetField`, for queries on `clients`. */
export const clientClockOffsetField = offsetIfSandbox(clients.environment, selectClockOffset(clients.businessId));

/** Selects the current time by the share's clock, for queries on `shares`. */
export const shareTime = (now: Instant): SQL<Instant> => sql<Instant>`(${now} + ${shareClockOffsetField})`;

/** Selects the current time for a business's shares in one environment. All of these shares use the same clock. */
export const ownerTime = (
  { businessId, environment }: { readonly businessId: BusinessId; readonly environment: Environment },
  now: Instant,
): SQL<Instant> => (environment === "live" ? sql<Instant>`${now}` : sql<Instant>`(${now} + ${selectClockOffset(businessId)})`);

/** Returns the clock of a business's sandbox. `movedAt` is null if the clock was never moved. */
export const getSandboxClock = async (db: Database, businessId: BusinessId) => {
  const { offsetMs, movedAt } = sandboxClocks;
  const row = await db.select({ offsetMs, movedAt }).from(sandboxClocks).where(eq(sandboxClocks.businessId, businessId)).get();
  return row ?? { offsetMs: 0, movedAt: null };
};

/**
 * Moves the clock to `offsetMs`. Without `fromMs`, does nothing if the clock is already further ahead. With `fromMs`, does nothing if the
 * clock is not at `fromMs`.
 */
export const updateSandboxClock = (db: Database, businessId: BusinessId, offsetMs: number, now: Instant, fromMs?: number) =>
  db
    .insert(sandboxClocks)
    .values({ businessId, offsetMs, movedAt: now })
    .onConflictDoUpdate({
      target: sandboxClocks.businessId,
      set: { offsetMs: excluded(sandboxClocks.offsetMs), movedAt: now },
      setWhere: fromMs === undefined ? lte(sandboxClocks.offsetMs, excluded(sandboxClocks.offsetMs)) : eq(sandboxClocks.offsetMs, fromMs),
    });

export const deleteSandboxClock = (db: Database, businessId: BusinessId) =>
  db.delete(sandboxClocks).where(eq(sandboxClocks.businessId, businessId));
