// The schema and rows that result from all migrations. Creating a test database from them takes a third of the time that running the
// migrations takes. test/architecture/storage-schema.test.ts and every local service run the migrations themselves.
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

/** Returns the statements that create the schema in an empty database, tables first and triggers last. */
export const buildFinalSchema = (migrations: readonly string[]): readonly string[] => {
  const database = new DatabaseSync(":memory:");
  for (const statement of migrations) database.exec(statement);
  const objects = database
    .prepare("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .all() as unknown as readonly SchemaObject[];
  const listObjects = (type: string): readonly SchemaObject[] => objects.filter((object) => object.type === type);
  const statements = [
    ...listObjects("table").map(({ sql }) => sql),
    ...listObjects("table").flatMap(({ name }) => buildInserts(database, name)),
    ...["index", "view", "trigger"].flatMap((type) => listObjects(type).map(({ sql }) => sql)),
  ];
  database.close();
  return statements;
};
