// The schema that all migrations together leave, and the rows that they write: a test's database is made of these in a third of the time.
// The migrations themselves are run by test/architecture/migrations.test.ts and by every local service.
import { DatabaseSync } from "node:sqlite";

interface SchemaObject {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

const toSqlLiteral = (value: unknown): string => {
  if (value === null) return "NULL";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  throw new Error("final schema: no migration writes bytes");
};

const buildInserts = (database: DatabaseSync, table: string): readonly string[] =>
  database
    .prepare(`SELECT * FROM ${table}`)
    .all()
    .map((row) => `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).map(toSqlLiteral).join(", ")})`);

/** Statements that make it in an empty database, tables first and triggers last. */
export const buildFinalSchema = (migrations: readonly string[]): readonly string[] => {
  const database = new DatabaseSync(":memory:");
  for (const statement of migrations) database.exec(statement);
  const made = database
    .prepare("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .all() as unknown as readonly SchemaObject[];
  const of = (type: string): readonly SchemaObject[] => made.filter((one) => one.type === type);
  const statements = [
    ...of("table").map(({ sql }) => sql),
    ...of("table").flatMap(({ name }) => buildInserts(database, name)),
    ...["index", "view", "trigger"].flatMap((type) => of(type).map(({ sql }) => sql)),
  ];
  database.close();
  return statements;
};
