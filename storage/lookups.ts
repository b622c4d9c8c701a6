// Lookups: queries with a function that builds a result from their rows. Several lookups in one shard can share one round trip.
import { QueryPromise } from "drizzle-orm";
import { batch, type BatchResults, type Database, type Statement } from "./database.ts";

type AwaitableStatement = Statement & PromiseLike<unknown>;

/** A lookup runs when it is awaited, like a drizzle query, or when a combination of lookups (`combineLookups`) is awaited. */
export class Lookup<T> extends QueryPromise<T> {
  readonly queries: readonly AwaitableStatement[];
  readonly #db: Database;
  readonly #toResult: (rows: readonly unknown[]) => T | Promise<T>;

  constructor(db: Database, queries: readonly AwaitableStatement[], toResult: (rows: readonly unknown[]) => T | Promise<T>) {
    super();
    this.#db = db;
    this.queries = queries;
    this.#toResult = toResult;
  }

  map<Mapped>(mapResult: (result: T) => Mapped | Promise<Mapped>): Lookup<Mapped> {
    return new Lookup(this.#db, this.queries, async (rows) => mapResult(await this.resultFromRows(rows)));
  }

  async resultFromRows(rows: readonly unknown[]): Promise<T> {
    return this.#toResult(rows);
  }

  override async execute(): Promise<T> {
    const [only, ...others] = this.queries;
    return this.resultFromRows(only !== undefined && others.length === 0 ? [await only] : await batch(this.#db, this.queries));
  }
}

/** Creates a lookup. `toResult` gets the rows of each query. */
export const createLookup = <const Queries extends readonly AwaitableStatement[], T>(
  db: Database,
  queries: Queries,
  toResult: (rows: BatchResults<Queries>) => T | Promise<T>,
): Lookup<T> => new Lookup(db, queries, toResult as (rows: readonly unknown[]) => T | Promise<T>);

type LookupResults<Lookups> = { readonly [At in keyof Lookups]: Awaited<Lookups[At]> };

/** Combines lookups into one transaction and one round trip. If one fails, all fail. */
export const combineLookups = <const Lookups extends readonly Lookup<unknown>[]>(
  db: Database,
  lookups: Lookups,
): Lookup<LookupResults<Lookups>> =>
  new Lookup(
    db,
    lookups.flatMap(({ queries }) => queries),
    async (rows) => {
      let from = 0;
      const results = lookups.map((lookup) => {
        const ownRows = rows.slice(from, from + lookup.queries.length);
        from += lookup.queries.length;
        return lookup.resultFromRows(ownRows);
      });
      return (await Promise.all(results)) as LookupResults<Lookups>;
    },
  );
