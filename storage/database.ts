// A home's database as the storage layer speaks to it, and how the statements of a change become one transaction.
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { translated } from "./faults.ts";

type Binding = Pick<D1Database, "prepare" | "batch" | "withSession">;

/** What drizzle asks of a statement, with the database's errors translated. */
class Prepared {
  readonly statement: D1PreparedStatement;

  constructor(statement: D1PreparedStatement) {
    this.statement = statement;
  }
  bind(...values: unknown[]): Prepared {
    return new Prepared(translated(() => this.statement.bind(...values)));
  }
  first(): Promise<unknown> {
    return translated(() => this.statement.first());
  }
  run(): Promise<D1Result> {
    return translated(() => this.statement.run());
  }
  all(): Promise<D1Result> {
    return translated(() => this.statement.all());
  }
  raw(): Promise<unknown[]> {
    return translated(() => this.statement.raw());
  }
}

/** A binding that throws nothing but StorageFault. */
const guarded = (binding: D1Database | D1DatabaseSession): Binding => {
  const guard = {
    prepare: (sql: string) => new Prepared(translated(() => binding.prepare(sql))),
    batch: (statements: readonly Prepared[]) => translated(() => binding.batch(statements.map(({ statement }) => statement))),
    withSession: (constraint: D1SessionConstraint) => guarded(translated(() => (binding as D1Database).withSession(constraint))),
  };
  return guard as unknown as Binding;
};

export type Database = DrizzleD1Database & { readonly $client: Binding };

/** Once per isolate and home: it holds no connection and no state. */
export const databaseOf = (binding: D1Database): Database => drizzle(guarded(binding) as D1Database);

/** What was just committed is seen, wherever the replicas are. */
export const onPrimary = (db: Database): DrizzleD1Database => drizzle(db.$client.withSession("first-primary"));

/** A query that has not run yet, for the batch of a change. */
export type Statement = BatchItem<"sqlite">;

/**
 * One transaction and one round trip; throws a StorageFault, with nothing written, when any of them fails. Rows come back by the
 * names of their columns, so a join that is read here names every column of its own (`column.as`).
 */
export const batch = async <const Statements extends readonly Statement[]>(
  db: Database,
  statements: Statements,
): Promise<BatchResponse<Statements>> => {
  const [first, ...rest] = statements;
  return (first === undefined ? [] : await db.batch([first, ...rest])) as BatchResponse<Statements>;
};
