// Rows of other tables as one value of a query, with the shape taken from their columns.
import { sql, type Column, type GetColumnData, type SQL, type SQLWrapper } from "drizzle-orm";

/** What JSON carries as it is: texts and numbers. */
type JsonColumn = { readonly _: { readonly dataType: `string${string}` | `number${string}` } } & Column;
type JsonFields = Readonly<Record<string, JsonColumn | SQL>>;
type JsonRow<F extends JsonFields> = {
  readonly [K in keyof F]: F[K] extends Column ? GetColumnData<F[K]> : F[K] extends SQL<infer T> ? T : never;
};

const jsonObject = (fields: JsonFields): SQL => {
  const pairs = Object.entries(fields).map(([key, value]) => sql`${sql.raw(`'${key}'`)}, ${value}`);
  return sql`json_object(${sql.join(pairs, sql`, `)})`;
};

/** A row of other tables as one value, null where there is none: `select` asks for the `row` it is given from wherever it is. */
export const jsonRow = <F extends JsonFields>(fields: F, select: (row: SQL) => SQLWrapper): SQL<JsonRow<F> | null> =>
  sql<string | null>`${select(jsonObject(fields))}`.mapWith((json: string): JsonRow<F> => JSON.parse(json));

/** Likewise all such rows. */
export const jsonRows = <F extends JsonFields>(fields: F, select: (rows: SQL) => SQLWrapper): SQL<readonly JsonRow<F>[]> =>
  sql<string>`${select(sql`json_group_array(${jsonObject(fields)})`)}`.mapWith((json: string): readonly JsonRow<F>[] => JSON.parse(json));
