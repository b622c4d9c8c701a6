// A home's database as the storage layer speaks to it, and how the statements of a change become one transaction.
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { StorageFault, translated } from "./faults.ts";
import { secondMs } from "../core/time.ts";

type Binding = Pick<D1Database, "prepare" | "batch" | "withSession">;

/** Somebody waits for an answer: a database that has not answered by then is away (CONTRACT 19). What it was sent may still happen. */
const answerMs = 2 * secondMs;
/** Nobody waits for work in the background, and its batches are large. */
export const backgroundMs = 25 * secondMs;

/** The answer of the database, or an outage when there is none in time. */
const answered = async <T>(call: () => Promise<T>, maxMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new StorageFault("outage", "NO_ANSWER")), maxMs);
  try {
    return await Promise.race([translated(call), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** What drizzle asks of a statement, with the database's errors translated. */
class Prepared {
  readonly statement: D1PreparedStatement;
  readonly maxMs: number;

  constructor(statement: D1PreparedStatement, maxMs: number) {
    this.statement = statement;
    this.maxMs = maxMs;
  }
  bind(...values: unknown[]): Prepared {
    return new Prepared(
      translated(() => this.statement.bind(...values)),
      this.maxMs,
    );
  }
  first(): Promise<unknown> {
    return answered(() => this.statement.first(), this.maxMs);
  }
  run(): Promise<D1Result> {
    return answered(() => this.statement.run(), this.maxMs);
  }
  all(): Promise<D1Result> {
    return answered(() => this.statement.all(), this.maxMs);
  }
  raw(): Promise<unknown[]> {
    return answered(() => this.statement.raw(), this.maxMs);
  }
}

/** A binding that throws nothing but StorageFault, and does not wait longer than `maxMs`. */
const guarded = (binding: D1Database | D1DatabaseSession, maxMs: number): Binding => {
  const guard = {
    prepare: (sql: string) =>
      new Prepared(
        translated(() => binding.prepare(sql)),
        maxMs,
      ),
    batch: (statements: readonly Prepared[]) => answered(() => binding.batch(statements.map(({ statement }) => statement)), maxMs),
    withSession: (constraint: D1SessionConstraint) =>
      guarded(
        translated(() => (binding as D1Database).withSession(constraint)),
        maxMs,
      ),
  };
  return guard as unknown as Binding;
};

export type Database = DrizzleD1Database & { readonly $client: Binding };

/** Once per isolate and home: it holds no connection and no state. */
export const databaseOf = (binding: D1Database, maxMs = answerMs): Database => drizzle(guarded(binding, maxMs) as D1Database);

/** What was just committed is seen, wherever the replicas are. */
export const onPrimary = (db: Database): DrizzleD1Database => drizzle(db.$client.withSession("first-primary"));

/** A query that has not run yet, for the batch of a change. */
export type Statement = BatchItem<"sqlite">;

/**
 * One transaction and one round trip; throws a StorageFault when any of them fails: then nothing is written, unless it is an outage,
 * of which nobody knows. Rows come back by the
 * names of their columns, so a join that is read here names every column of its own (`column.as`).
 */
export const batch = async <const Statements extends readonly Statement[]>(
  db: Database,
  statements: Statements,
): Promise<BatchResponse<Statements>> => {
  const [first, ...rest] = statements;
  return (first === undefined ? [] : await db.batch([first, ...rest])) as BatchResponse<Statements>;
};
