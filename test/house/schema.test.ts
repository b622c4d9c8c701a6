// docs/storage.md and the real schema say the same, in both directions; and the migrations are what they are meant to be.
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { describe, expect, test } from "vitest";
import * as schema from "../../storage/schema.ts";
import { read } from "./repository.ts";
import { comparedClasses, databaseTables, described, keyPrefixes, migrated, migrations, objectClasses, tablesOfObjects } from "./stored.ts";

const documented = described();
const inSection = (section: string) => documented.filter((entry) => entry.section === section);
const columnsOf = (tables: readonly { name: string; columns: readonly string[] }[]): string[] =>
  tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)).sort();
const describedColumns = (section: string): string[] =>
  inSection(section)
    .flatMap(({ table, rows }) => rows.map(({ name }) => `${table}.${name}`))
    .sort();

/** As DEFAULT spells it. */
const literalOf = (value: unknown): string => (typeof value === "string" ? `'${value}'` : String(Number(value)));

/** The words that a CHECK of the table allows in a column; null where it names none. */
const allowedIn = (sql: string, column: string): readonly string[] | null => {
  const list = new RegExp(`CHECK \\(${column} IN \\(('[^)]*')\\)\\)`).exec(sql)?.[1];
  return list === undefined ? null : list.split(", ").map((word) => word.slice(1, -1));
};

const kinds = ["plain", "sealed", "hashed", "blind index"];

describe("the migrations", () => {
  test("are numbered from 0001 without a gap", () => {
    const numbers = migrations().map((name) => Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]));
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(numbers.length).toBeGreaterThan(3);
  });

  test("each open with a comment that says why", () => {
    expect(migrations().filter((name) => !/^-- [A-Z].{20,}\n/.test(read(`d1-migrations/${name}`)))).toEqual([]);
  });

  test("make strict tables only, so that a column never holds what its type does not say", () => {
    expect(databaseTables().filter(({ strict }) => !strict)).toEqual([]);
  });

  test("leave no reference dangling", () => {
    const database = migrated();
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    const targets = databaseTables().flatMap(({ name }) =>
      database.prepare('SELECT "table" AS target, "to" AS key FROM pragma_foreign_key_list(?)').all(name),
    );
    const known = columnsOf(databaseTables());
    expect(targets.filter(({ target, key }) => !known.includes(`${target}.${key}`))).toEqual([]);
  });
});

describe("storage/schema.ts", () => {
  const database = migrated();
  const stated = Object.values(schema).map(getTableConfig);
  const objects = database
    .prepare("SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")
    .all();
  const madeBy = new Map(objects.map(({ name, sql }) => [String(name), String(sql)]));
  const views = objects.filter(({ type }) => type === "view").map(({ name }) => name);

  test("states every table and view that the migrations make, and no other", () => {
    expect(stated.map(({ name }) => name).sort()).toEqual([...madeBy.keys()].sort());
  });

  test.each(stated.map((table) => [table.name, table] as const))("states the columns of %s as they are, in their order", (name, table) => {
    const made = database.prepare('SELECT name, type, "notnull" AS required, dflt_value AS preset, pk FROM pragma_table_info(?)').all(name);
    const sql = madeBy.get(name) ?? "";
    const keys = table.primaryKeys.flatMap(({ columns }) => columns.map((column) => column.name));
    expect(
      table.columns.map((column) => ({
        name: column.name,
        ...(!views.includes(name) && {
          type: column.getSQLType(),
          required: column.notNull,
          preset: column.default === undefined ? null : literalOf(column.default),
          isKey: column.primary || keys.includes(column.name),
          allowed: column.enumValues ?? null,
        }),
      })),
    ).toEqual(
      made.map((column) => ({
        name: column.name,
        ...(!views.includes(name) && {
          type: String(column.type).toLowerCase(),
          required: column.required === 1 || column.pk !== 0,
          preset: column.preset,
          isKey: column.pk !== 0,
          allowed: allowedIn(sql, String(column.name)),
        }),
      })),
    );
  });
});

describe("docs/storage.md", () => {
  test("describes every column of the databases and no other", () => {
    expect(describedColumns("D1")).toEqual(columnsOf(databaseTables()));
  });

  test("describes every column of the objects and no other", () => {
    expect(comparedClasses()).toEqual(objectClasses());
    expect(describedColumns("Objects")).toEqual(columnsOf(tablesOfObjects()));
  });

  test("describes every kind of key in the key-value store and no other", () => {
    const keys = inSection("KV").flatMap(({ rows }) => rows.map(({ name }) => name.replace(/<.*$/, "")));
    expect(keys.sort()).toEqual(keyPrefixes());
  });

  test("says of each how it is kept, what it means and how long it lives", () => {
    const rows = documented.flatMap(({ table, rows: of }) => of.map((row) => ({ ...row, name: `${table}.${row.name}` })));
    expect(rows.length).toBeGreaterThan(50);
    const unclear = rows.filter(({ kind, meaning, lifetime }) => !kinds.includes(kind) || meaning.length < 3 || lifetime.length < 3);
    expect(unclear).toEqual([]);
  });

  test("calls sealed, hashed and indexed what is named so", () => {
    const suffixes: readonly (readonly [RegExp, string])[] = [
      [/_sealed$/, "sealed"],
      [/_index$/, "blind index"],
    ];
    const rows = inSection("D1").flatMap(({ table, rows: of }) => of.map((row) => ({ column: `${table}.${row.name}`, kind: row.kind })));
    const wrong = rows.filter(({ column, kind }) => suffixes.some(([suffix, meant]) => suffix.test(column) !== (kind === meant)));
    expect(wrong).toEqual([]);
    expect(rows.filter(({ column, kind }) => kind === "hashed" && !/hash$/.test(column))).toEqual([]);
  });
});
