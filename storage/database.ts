// The storage layer's view of one shard's database, including how the statements of a change run as one transaction.
import type { BatchItem } from "drizzle-orm/batch";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { StorageFault, translateFaults } from "./faults.ts";
import { secondMs } from "../core/time.ts";

type Binding = Pick<D1Database, "prepare" | "batch" | "withSession">;

/**
 * The timeout for requests. A database or rate limiter that does not respond within two seconds counts as unavailable, but the statements
 * may still run.
 */
export const requestTimeoutMs = 2 * secondMs;
/** The timeout for background work, which runs large batches and keeps no caller waiting. */
export const backgroundTimeoutMs = 25 * secondMs;

/** Rejects with a StorageFault of kind `outage` if the database does not respond within `maxMs`. */
export const withDeadline = async <T>(call: () => Promise<T>, maxMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new StorageFault("outage", "NO_ANSWER")), maxMs);
  try {
    return await Promise.race([translateFaults(call), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Called with the number of queries before they are sent to the database. */
export type QueryCounter = (queries: number) => void;

/** Makes one call that sends this number of queries. */
type QueryRunner = <T>(queries: number, call: () => Promise<T>) => Promise<T>;

/** The part of a D1 statement that drizzle uses, with database errors translated. */
class TranslatedStatement {
  readonly statement: D1PreparedStatement;
  readonly #runQueries: QueryRunner;

  constructor(statement: D1PreparedStatement, runQueries: QueryRunner) {
    this.statement = statement;
    this.#runQueries = runQueries;
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

/** A D1 binding that throws only StorageFault and sends everything through `runQueries`. */
const withFaultTranslation = (binding: D1Database | D1DatabaseSession, runQueries: QueryRunner): Binding => {
  const guard = {
    prepare: (sql: string) =>
      new TranslatedStatement(
        translateFaults(() => binding.prepare(sql)),
        runQueries,
      ),
    batch: (statements: readonly TranslatedStatement[]) =>
      runQueries(statements.length, () => binding.batch(statements.map(({ statement }) => statement))),
    withSession: (constraint: D1SessionConstraint) =>
      withFaultTranslation(
        translateFaults(() => (binding as D1Database).withSession(constraint)),
        runQueries,
      ),
  };
  return guard as unknown as Binding;
};

export type Database = DrizzleD1Database & { readonly $client: Binding };

/** Makes a call to the database. The development server replaces this function to simulate faults. */
export type DatabaseCaller = <T>(call: () => Promise<T>) => Promise<T>;

const callDirectly: DatabaseCaller = (call) => call();

/** Opens a shard's database. It is called once per isolate and keeps no connection or state. `maxMs` limits each call. */
export const openDatabase = (
  binding: D1Database,
  maxMs = requestTimeoutMs,
  count: QueryCounter = () => {},
  makeCall: DatabaseCaller = callDirectly,
): Database => {
  const runQueries: QueryRunner = (queries, call) => {
    count(queries);
    return withDeadline(() => makeCall(call), maxMs);
  };
  return drizzle(withFaultTranslation(binding, runQueries) as D1Database);
};

/** Reads from the primary, so that the most recent commit is visible even if replicas are behind. */
export const onPrimary = (db: Database): DrizzleD1Database => drizzle(db.$client.withSession("first-primary"));

/** The value that a storage function resolves to if it finds something. */
export type Found<Query extends (...given: never[]) => unknown> = NonNullable<Awaited<ReturnType<Query>>>;

/**
 * A query that has not run yet, for use in a batch. It is thenable, so returning it directly from an async function would run it. Async
 * functions therefore return a list.
 */
export type Statement = BatchItem<"sqlite">;

/** The statements of a batch in order: a list, or an object whose results are returned under the same names. */
export type Statements = readonly Statement[] | Readonly<Record<string, Statement>>;

/** The batch's results in the shape of its statements: a list for a list, an object for an object. */
export type BatchResults<Of extends Statements> = {
  [Key in keyof Of]: Exclude<Of[Key], undefined> extends infer Query extends Statement ? Query["_"]["result"] : Of[Key];
};

/**
 * Returns the results in the shape of `statements`: a list for a list, an object for an object. `results` has one result per statement, in
 * the same order. Extra results are ignored.
 */
export const shapeResults = <Of extends Statements>(statements: Of, results: readonly unknown[]): BatchResults<Of> =>
  (Array.isArray(statements)
    ? results.slice(0, statements.length)
    : Object.fromEntries(Object.keys(statements).map((name, at) => [name, results[at]]))) as BatchResults<Of>;

/**
 * Runs statements as one transaction in one round trip. Throws a StorageFault if any of them fails; nothing is written then. After an
 * outage, however, it is unknown whether the statements were written.
 *
 * Rows are returned by column name, so a join in a batch must give columns with the same name different aliases (`withTablePrefix`).
 */
export const batch = async <const Of extends Statements>(db: Database, statements: Of): Promise<BatchResults<Of>> => {
  const [first, ...rest] = Object.values<Statement>(statements);
  return shapeResults(statements, first === undefined ? [] : await db.batch([first, ...rest]));
};

/** A statement with its values, in a form that can be stored and run later. */
export interface CompiledStatement {
  readonly sql: string;
  /** The values are strings, numbers or null. */
  readonly params: readonly unknown[];
}

export const compileStatement = (statement: Statement): CompiledStatement => {
  const { sql, params } = (statement as unknown as { _prepare: () => { getQuery: () => CompiledStatement } })._prepare().getQuery();
  return { sql, params };
};

/** Runs compiled statements as one transaction, like `batch`. */
export const runCompiled = async ({ $client }: Database, statements: readonly CompiledStatement[]): Promise<void> => {
  if (statements.length > 0) await $client.batch(statements.map(({ sql, params }) => $client.prepare(sql).bind(...params)));
};
