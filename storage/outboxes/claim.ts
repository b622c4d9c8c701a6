// Claims rows of a work table by setting their due time to the end of a lease. Concurrent workers get different rows. If a worker dies, its
// rows are due again after the lease.
import { and, getColumns, inArray, lte, sql, type InferSelectModel, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Instant } from "../../core/time.ts";
import type { Database } from "../database.ts";
import { query } from "../query.ts";

/** Claims up to `max` due rows that match `only`, longest overdue first. If the table has a column `attempts`, increments it. */
export const claimDueRows = <Table extends SQLiteTable & { readonly nextAt: SQLiteColumn }>(
  db: Database,
  table: Table,
  { now, leaseMs, max, only }: { readonly now: Instant; readonly leaseMs: number; readonly max: number; readonly only?: SQL },
): Promise<readonly InferSelectModel<Table>[]> => {
  const { attempts } = getColumns<SQLiteTable>(table);
  const rowid = sql`rowid`;
  const due = query
    .select({ rowid })
    .from(table as SQLiteTable)
    .where(and(only, lte(table.nextAt, now)))
    .orderBy(table.nextAt, rowid)
    .limit(max);
  return db
    .update(table as SQLiteTable)
    .set({ nextAt: now + leaseMs, ...(attempts !== undefined && { attempts: sql`${attempts} + 1` }) })
    .where(inArray(rowid, due))
    .returning()
    .all() as Promise<InferSelectModel<Table>[]>;
};
