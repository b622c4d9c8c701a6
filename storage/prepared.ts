// Prepared queries, built once per database. Building them for each request took 5 to 10% of the CPU time of the most frequent requests.
import { fillPlaceholders, getColumns, QueryPromise, sql, type InferSelectModel, type Placeholder, type Query } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database, Statement } from "./database.ts";

/** A placeholder for each value of a prepared query. */
export type Placeholders<Values> = { readonly [Name in keyof Values & string]: Placeholder<Name, Values[Name]> };

/** The methods of drizzle's prepared queries that are used here. */
interface PreparedQuery {
  readonly getQuery: () => Query;
  readonly get: (values?: Record<string, unknown>) => Promise<unknown>;
  readonly execute: (values?: Record<string, unknown>) => Promise<unknown>;
}
type QueryResult<Query extends PreparedQuery> = Awaited<ReturnType<Query["execute"]>>;

/** A prepared query with its values. It can run alone or in a batch. */
class BoundQuery<Query extends PreparedQuery> extends QueryPromise<QueryResult<Query>> implements Statement {
  declare readonly _: { readonly dialect: "sqlite"; readonly result: QueryResult<Query> };
  readonly #query: Query;
  readonly #values: Record<string, unknown>;

  constructor(built: Query, values: object) {
    super();
    this.#query = built;
    this.#values = values as Record<string, unknown>;
  }

  override execute(): Promise<QueryResult<Query>> {
    return this.#query.execute(this.#values) as Promise<QueryResult<Query>>;
  }

  get(): ReturnType<Query["get"]> {
    return this.#query.get(this.#values) as ReturnType<Query["get"]>;
  }

  /** Called by `db.batch`, which does not fill placeholders. */
  _prepare(): Query {
    const query = this.#query.getQuery();
    const filled = { ...query, params: fillPlaceholders(query.params, this.#values) };
    return Object.assign(Object.create(this.#query), { getQuery: () => filled });
  }
}

/**
 * Prepares a query once per database: `prepareOnce<Values>()((db, placeholders) => db.….prepare())`. This takes two calls, because
 * TypeScript cannot infer `Query` in a call that specifies `Values`.
 */
export const prepareOnce =
  <Values extends object>() =>
  <Query extends PreparedQuery>(build: (db: Database, placeholders: Placeholders<Values>) => Query) => {
    const placeholders = new Proxy({} as Placeholders<Values>, { get: (_, name) => sql.placeholder(String(name)) });
    const built = new WeakMap<Database, Query>();
    return (db: Database, values: Values): BoundQuery<Query> => {
      const query = built.get(db) ?? build(db, placeholders);
      built.set(db, query);
      return new BoundQuery(query, values);
    };
  };

/** Returns a placeholder for each column of a table. */
export const rowPlaceholders = <Table extends SQLiteTable>(table: Table): Placeholders<InferSelectModel<Table>> =>
  Object.fromEntries(Object.keys(getColumns(table)).map((key) => [key, sql.placeholder(key)])) as Placeholders<InferSelectModel<Table>>;
