// Opens a shard's database, limits how long each call can take, and runs statements as one transaction.
import type { BatchItem } from "drizzle-orm/batch";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { StorageFault, translateFaults } from "./faults.ts";
import { secondMs } from "../core/time.ts";

type Binding = Pick<D1Database, "prepare" | "batch" | "withSession">;

/** The timeout for requests. A call that takes longer counts as an outage, but its statements may still run. */
export const requestTimeoutMs = 2 * secondMs;
/** The timeout for background work, which runs large batches while no caller waits. */
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

/** Called before each call to the database, with the number of queries in the call. */
export type QueryCounter = (queries: number) => void;

/** Runs a call to the database that contains `queries` queries. */
export type QueryRunner = <T>(queries: number, call: () => Promise<T>) => Promise<T>;

/** The part of a D1 statement that drizzle uses. Its methods throw only StorageFault. */
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

/** Wraps a D1 binding so that it throws only StorageFault. `runQueries` makes each call. */
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

export interface DatabaseOptions {
  /** The timeout of each call. */
  readonly maxMs?: number | undefined;
  readonly count?: QueryCounter;
  /** Makes a call to the database. In development, simulated-faults.ts replaces it. */
  readonly makeCall?: (<T>(call: () => Promise<T>) => Promise<T>) | undefined;
  /** Measures each call, including calls that time out. */
  readonly trace?: QueryRunner | undefined;
}

export const openDatabase = (
  binding: D1Database,
  { maxMs = requestTimeoutMs, count = () => {}, makeCall = (call) => call(), trace = (_, call) => call() }: DatabaseOptions = {},
): Database => {
  const runQueries: QueryRunner = (queries, call) => {
    count(queries);
    return trace(queries, () => withDeadline(() => makeCall(call), maxMs));
  };
  return drizzle(withFaultTranslation(binding, runQueries) as D1Database);
};

/** Returns a database that reads from the primary instead of replicas, and therefore sees every earlier commit. */
export const onPrimary = (db: Database): DrizzleD1Database => drizzle(db.$client.withSession("first-primary"));

/** The result type of a storage function, without null. */
export type Found<Query extends (...args: never[]) => unknown> = NonNullable<Awaited<ReturnType<Query>>>;

/**
 * A query for a batch. Drizzle queries are thenable, so if an async function returned one, the query would run. Async functions therefore
 * return a list of statements.
 */
export type Statement = BatchItem<"sqlite">;

/** The statements of a batch, in order. If they are given as an object, the results have the same property names. */
export type Statements = readonly Statement[] | Readonly<Record<string, Statement>>;

export type BatchResults<Of extends Statements> = {
  [Key in keyof Of]: Exclude<Of[Key], undefined> extends infer Query extends Statement ? Query["_"]["result"] : Of[Key];
};

/** Converts the results to the shape of `statements`: a list or an object. Ignores extra results. */
export const shapeResults = <Of extends Statements>(statements: Of, results: readonly unknown[]): BatchResults<Of> =>
  (Array.isArray(statements)
    ? results.slice(0, statements.length)
    : Object.fromEntries(Object.keys(statements).map((name, at) => [name, results[at]]))) as BatchResults<Of>;

/**
 * Runs statements as one transaction in one round trip. Throws a StorageFault if any of them fails. If the fault is an outage, the changes
 * may have been committed. For any other fault, nothing was written.
 *
 * In a batch, D1 returns rows by column name. If a join selects two columns with the same name, give them different aliases
 * (`withTablePrefix`).
 */
export const batch = async <const Of extends Statements>(db: Database, statements: Of): Promise<BatchResults<Of>> => {
  const [first, ...rest] = Object.values<Statement>(statements);
  return shapeResults(statements, first === undefined ? [] : await db.batch([first, ...rest]));
};

/** A statement that can be stored and run later. */
export interface CompiledStatement {
  readonly sql: string;
  /** The values are strings, numbers or null. */
  readonly params: readonly unknown[];
}

export const compileStatement = (statement: Statement): CompiledStatement => {
  const { sql, params } = (statement as unknown as { _prepare: () => { getQuery: () => CompiledStatement } })._prepare().getQuery();
  return { sql, params };
};

/** Like `batch`, for compiled statements. */
export const runCompiled = async ({ $client }: Database, statements: readonly CompiledStatement[]): Promise<void> => {
  if (statements.length > 0) await $client.batch(statements.map(({ sql, params }) => $client.prepare(sql).bind(...params)));
};
