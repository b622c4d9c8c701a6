// Fields that contain rows of another table as one typed JSON value.
import { sql, type Column, type GetColumnData, type SQL, type SQLWrapper } from "drizzle-orm";

/** A column with text or numbers, which need no conversion in JSON. */
type JsonColumn = { readonly _: { readonly dataType: `string${string}` | `number${string}` } } & Column;
type JsonFields = Readonly<Record<string, JsonColumn | SQL>>;
type JsonRow<F extends JsonFields> = {
  readonly [K in keyof F]: F[K] extends Column ? GetColumnData<F[K]> : F[K] extends SQL<infer T> ? T : never;
};

const jsonObject = (fields: JsonFields): SQL => {
  const pairs = Object.entries(fields).map(([key, value]) => sql`${sql.raw(`'${key}'`)}, ${value}`);
  return sql`json_object(${sql.join(pairs, sql`, `)})`;
};

/**
 * Selects one row of another table as one value, or null if there is no row. `select` builds the subquery. It gets the SQL expression `row`
 * and must select only that expression. `toValue` converts the result.
 */
export const jsonRow = <F extends JsonFields, Value = JsonRow<F>>(
  fields: F,
  select: (row: SQL) => SQLWrapper,
  toValue: (row: JsonRow<F>) => Value = (row) => row as Value,
): SQL<Value | null> => sql<string | null>`${select(jsonObject(fields))}`.mapWith((json: string): Value => toValue(JSON.parse(json)));

/** Like `jsonRow`, but selects all matching rows. */
export const jsonRows = <F extends JsonFields>(fields: F, select: (rows: SQL) => SQLWrapper): SQL<readonly JsonRow<F>[]> =>
  sql<string>`${select(sql`json_group_array(${jsonObject(fields)})`)}`.mapWith((json: string): readonly JsonRow<F>[] => JSON.parse(json));
