// docs/storage.md and the real schema say the same, in both directions; and the migrations are what they are meant to be.
import { describe, expect, test } from "vitest";
import { read } from "./repository.ts";
import { constantStatements, databaseTables, described, keyPrefixes, migrated, migrations, tablesOfObjects } from "./stored.ts";

const documented = described();
const inSection = (section: string) => documented.filter((entry) => entry.section === section);
const columnsOf = (tables: readonly { name: string; columns: readonly string[] }[]): string[] =>
  tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)).sort();
const describedColumns = (section: string): string[] =>
  inSection(section)
    .flatMap(({ table, rows }) => rows.map(({ name }) => `${table}.${name}`))
    .sort();

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

  test("satisfy every constant statement that storage prepares", () => {
    const database = migrated();
    const statements = constantStatements();
    expect(statements.length).toBeGreaterThan(10);
    const refused = statements.flatMap(({ file, sql }) => {
      try {
        database.prepare(sql);
        return [];
      } catch (error) {
        return [`${file}: ${error instanceof Error ? error.message : error}: ${sql.slice(0, 80)}`];
      }
    });
    expect(refused).toEqual([]);
  });
});

describe("docs/storage.md", () => {
  test("describes every column of the databases and no other", () => {
    expect(describedColumns("D1")).toEqual(columnsOf(databaseTables()));
  });

  test("describes every column of the objects and no other", () => {
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
