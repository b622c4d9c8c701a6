// A home's database as the storage layer speaks to it, and how the statements of a change become one transaction.
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { StorageFault, translateFaults } from "./faults.ts";
import { secondMs } from "../core/time.ts";

type Binding = Pick<D1Database, "prepare" | "batch" | "withSession">;

/** Somebody waits for an answer: a database that has not answered by then is away (CONTRACT 19). What it was sent may still happen. */
const requestTimeoutMs = 2 * secondMs;
/** Nobody waits for work in the background, and its batches are large. */
export const backgroundTimeoutMs = 25 * secondMs;

/** The answer of the database, or an outage when there is none in time. */
const withDeadline = async <T>(call: () => Promise<T>, maxMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new StorageFault("outage", "NO_ANSWER")), maxMs);
  try {
    return await Promise.race([translateFaults(call), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Hears of queries before they are asked. */
export type QueryCounter = (queries: number) => void;

/** Asks the database so many queries in one call. */
type QueryRunner = <T>(queries: number, call: () => Promise<T>) => Promise<T>;

/** What drizzle asks of a statement, with the database's errors translated. */
class TranslatedStatement {
  readonly statement: D1PreparedStatement;
  readonly #runQueries: QueryRunner;

  constructor(statement: D1PreparedStatement, ask: QueryRunner) {
    this.statement = statement;
    this.#runQueries = ask;
  }
  bind(...values: unknown[]): TranslatedStatement {
    return new TranslatedStatement(
      translateFaults(() => this.statement.bind(...values)),
      this.#runQueries,
    );
  }
  first(): Promise<unknown> {
    return this.#runQueries(1, () => this.statement.first());
  }
  run(): Promise<D1Result> {
    return this.#runQueries(1, () => this.statement.run());
  }
  all(): Promise<D1Result> {
    return this.#runQueries(1, () => this.statement.all());
  }
  raw(): Promise<unknown[]> {
    return this.#runQueries(1, () => this.statement.raw());
  }
}

/** A binding that throws nothing but StorageFault, and does not wait longer than `ask` does. */
const withFaultTranslation = (binding: D1Database | D1DatabaseSession, ask: QueryRunner): Binding => {
  const guard = {
    prepare: (sql: string) =>
      new TranslatedStatement(
        translateFaults(() => binding.prepare(sql)),
        ask,
      ),
    batch: (statements: readonly TranslatedStatement[]) =>
      ask(statements.length, () => binding.batch(statements.map(({ statement }) => statement))),
    withSession: (constraint: D1SessionConstraint) =>
      withFaultTranslation(
        translateFaults(() => (binding as D1Database).withSession(constraint)),
        ask,
      ),
  };
  return guard as unknown as Binding;
};

export type Database = DrizzleD1Database & { readonly $client: Binding };

/** Once per isolate and home: it holds no connection and no state. */
export const openDatabase = (binding: D1Database, maxMs = requestTimeoutMs, count: QueryCounter = () => {}): Database => {
  const ask: QueryRunner = (queries, call) => {
    count(queries);
    return withDeadline(call, maxMs);
  };
  return drizzle(withFaultTranslation(binding, ask) as D1Database);
};

/** What was just committed is seen, wherever the replicas are. */
export const onPrimary = (db: Database): DrizzleD1Database => drizzle(db.$client.withSession("first-primary"));

/** What a function that asks the database answers where there is something: what its query selects. */
export type Found<Ask extends (...asked: never[]) => unknown> = NonNullable<Awaited<ReturnType<Ask>>>;

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
