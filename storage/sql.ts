// One insert written as column beside value, so that thirty columns cannot slip against thirty placeholders.

type Bound = string | number | null;

/** A column's value computed by the database, e.g. a sub-select. */
export interface Expression {
  readonly sql: string;
  readonly bound: readonly Bound[];
}

export const expression = (sql: string, ...bound: readonly Bound[]): Expression => ({ sql, bound });

const isExpression = (value: Bound | Expression): value is Expression => typeof value === "object" && value !== null;

/** Table and column names are constants of the caller, and so is `returning`, an expression to be answered; every value is bound. */
export const insertInto = (
  db: D1Database,
  table: string,
  row: Readonly<Record<string, Bound | Expression>>,
  returning: string | null = null,
): D1PreparedStatement => {
  const values = Object.values(row);
  const places = values.map((value) => (isExpression(value) ? value.sql : "?")).join(", ");
  return db
    .prepare(
      `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${places})${returning === null ? "" : ` RETURNING ${returning}`}`,
    )
    .bind(...values.flatMap((value) => (isExpression(value) ? value.bound : [value])));
};
