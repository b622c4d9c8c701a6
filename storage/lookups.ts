// What is asked of a database, and what its rows say. A page that needs several things of one home asks them together: each call is a
// way to the database and back.
import { QueryPromise } from "drizzle-orm";
import type { BatchResponse } from "drizzle-orm/batch";
import { batch, type Database, type Statement } from "./database.ts";

/** A query that runs where it is awaited, as all of drizzle's do. */
type AwaitableStatement = Statement & PromiseLike<unknown>;

/** Runs by itself where it is awaited, like a query of drizzle's, or together with others. */
export class Lookup<T> extends QueryPromise<T> {
  readonly queries: readonly AwaitableStatement[];
  readonly #db: Database;
  readonly #toResult: (rows: readonly unknown[]) => T | Promise<T>;

  constructor(db: Database, queries: readonly AwaitableStatement[], meant: (rows: readonly unknown[]) => T | Promise<T>) {
    super();
    this.#db = db;
    this.queries = queries;
    this.#toResult = meant;
  }

  /** The same question, and what its answer means to whoever asks. */
  map<Meaning>(of: (answer: T) => Meaning | Promise<Meaning>): Lookup<Meaning> {
    return new Lookup(this.#db, this.queries, async (rows) => of(await this.resultFromRows(rows)));
  }

  /** What the rows of its queries say. */
  async resultFromRows(rows: readonly unknown[]): Promise<T> {
    return this.#toResult(rows);
  }

  override async execute(): Promise<T> {
    const [only, ...others] = this.queries;
    return this.resultFromRows(only !== undefined && others.length === 0 ? [await only] : await batch(this.#db, this.queries));
  }
}

/** `meant` makes the answer of the rows of each query. */
export const createLookup = <const Queries extends readonly AwaitableStatement[], T>(
  db: Database,
  queries: Queries,
  meant: (rows: BatchResponse<Queries>) => T | Promise<T>,
): Lookup<T> => new Lookup(db, queries, meant as (rows: readonly unknown[]) => T | Promise<T>);

type LookupResults<Lookups> = { readonly [At in keyof Lookups]: Awaited<Lookups[At]> };

/** All of them as one: one call of the database, and so of one moment. Where one fails, all do. */
export const combineLookups = <const Lookups extends readonly Lookup<unknown>[]>(
  db: Database,
  lookups: Lookups,
): Lookup<LookupResults<Lookups>> =>
  new Lookup(
    db,
    lookups.flatMap(({ queries }) => queries),
    async (rows) => {
      let from = 0;
      const answers = lookups.map((one) => {
        const own = rows.slice(from, from + one.queries.length);
        from += one.queries.length;
        return one.resultFromRows(own);
      });
      return (await Promise.all(answers)) as LookupResults<Lookups>;
    },
  );
