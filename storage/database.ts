// A home's database as the storage layer speaks to it, and how the statements of a change become one transaction.
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";

export type Database = DrizzleD1Database & { readonly $client: D1Database };

/** Once per isolate and home: it holds no connection and no state. */
export const databaseOf = (binding: D1Database): Database => drizzle(binding);

/** What was just committed is seen, wherever the replicas are. */
export const onPrimary = (db: Database): DrizzleD1Database => drizzle(db.$client.withSession("first-primary"));

/** A query that has not run yet, for the batch of a change. */
export type Statement = BatchItem<"sqlite">;

/**
 * One transaction and one round trip; throws D1's own error, with nothing written, when any of them fails. Rows come back by the
 * names of their columns, so a join that is read here names every column of its own (`column.as`).
 */
export const batch = async <const Statements extends readonly Statement[]>(
  db: Database,
  statements: Statements,
): Promise<BatchResponse<Statements>> => {
  const [first, ...rest] = statements;
  return (first === undefined ? [] : await db.batch([first, ...rest])) as BatchResponse<Statements>;
};
