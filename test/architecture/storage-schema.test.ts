// Compares docs/internals/storage.md and storage/schema.ts with the schema that the migrations and Durable Objects create, in both
// directions, and checks the migrations.
import type { DatabaseSync } from "node:sqlite";
import { getTableName } from "drizzle-orm";
import { getTableConfig, SQLiteDialect, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, test } from "vitest";
import * as schema from "../../storage/schema.ts";
import { readRepositoryFile } from "./repository.ts";
import {
  listComparedClasses,
  listDatabaseTables,
  listDescribedTables,
  listKeyPrefixes,
  createMigratedDatabase,
  listMigrations,
  listObjectClasses,
  listObjectTables,
} from "./stored-schema.ts";

const documentedTables = listDescribedTables();
const findSection = (section: string) => documentedTables.filter((entry) => entry.section === section);
const parseColumns = (tables: readonly { name: string; columns: readonly string[] }[]): string[] =>
  tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)).sort();
const listDocumentedColumns = (section: string): string[] =>
  findSection(section)
    .flatMap(({ table, rows }) => rows.map(({ name }) => `${table}.${name}`))
    .sort();

/** Returns a default value in SQL notation. */
const parseLiteral = (value: unknown): string => {
  if (typeof value === "string") return `'${value}'`;
  return typeof value === "object" ? parseLiteral(JSON.stringify(value)) : String(Number(value));
};

/** Returns the values that a CHECK constraint of the table allows in a column, or null if there is no list. */
const listAllowedValues = (sql: string, column: string): readonly string[] | null => {
  const list = new RegExp(`CHECK \\(${column} IN \\(('[^)]*')\\)\\)`).exec(sql)?.[1];
  return list === undefined ? null : list.split(", ").map((value) => value.slice(1, -1));
};

const kinds = ["plain", "sealed", "hashed", "blind index"];

describe("the migrations", () => {
  test("are numbered from 0001 without gaps", () => {
    const numbers = listMigrations().map((name) => Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]));
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(numbers.length).toBeGreaterThan(0);
  });

  test("start with a comment that gives the reason", () => {
    expect(listMigrations().filter((name) => !/^-- [A-Z].{20,}\n/.test(readRepositoryFile(`d1-migrations/${name}`)))).toEqual([]);
  });

  test("create only STRICT tables, so that a column holds only values of its type", () => {
    expect(listDatabaseTables().filter(({ strict }) => !strict)).toEqual([]);
  });

  test("leave no dangling references", () => {
    const database = createMigratedDatabase();
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    const targets = listDatabaseTables().flatMap(({ name }) =>
      database.prepare('SELECT "table" AS target, "to" AS key FROM pragma_foreign_key_list(?)').all(name),
    );
    const known = parseColumns(listDatabaseTables());
    expect(targets.filter(({ target, key }) => !known.includes(`${target}.${key}`))).toEqual([]);
  });
});

/**
 * A table in a form that can be built from both the schema and the migrations. Only indexes have names, because the migrations do not name
 * constraints.
 */
interface Shape {
  readonly columns: readonly unknown[];
  readonly primaryKey: readonly string[];
  readonly unique: readonly string[];
  readonly references: readonly string[];
  readonly indexes: readonly string[];
}

const list = (names: readonly unknown[]): string => `(${names.join(", ")})`;

/** Returns an index condition without quotes, outer parentheses and the table's name. */
const normalizeCondition = (condition: string, table: string): string =>
  condition
    .replaceAll('"', "")
    .replaceAll(`${table}.`, "")
    .replace(/^\((.*)\)$/, "$1")
    .toLowerCase();

const dialect = new SQLiteDialect();

const buildDeclaredShape = (table: SQLiteTable): Shape => {
  const { name, columns, primaryKeys, uniqueConstraints, foreignKeys, indexes } = getTableConfig(table);
  const formatColumnNames = (some: readonly unknown[]): string => list(some.map((column) => (column as SQLiteColumn).name));
  const inline = columns.filter(({ primary }) => primary);
  return {
    columns: columns.map((column) => ({
      name: column.name,
      type: column.getSQLType(),
      required: column.notNull,
      preset: column.default === undefined ? null : parseLiteral(column.default),
      allowed: column.enumValues ?? null,
    })),
    primaryKey: (primaryKeys[0]?.columns ?? inline).map((column) => column.name),
    unique: [
      ...columns.filter(({ isUnique }) => isUnique).map((column) => formatColumnNames([column])),
      ...uniqueConstraints.map(({ columns: uniqueColumns }) => formatColumnNames(uniqueColumns)),
    ].sort(),
    references: foreignKeys
      .map((key) => {
        const { columns: from, foreignColumns: targetColumns, foreignTable } = key.reference();
        return `${formatColumnNames(from)} to ${getTableName(foreignTable)} ${formatColumnNames(targetColumns)}`;
      })
      .sort(),
    indexes: indexes
      .map(({ config }) => {
        const where =
          config.where === undefined ? "" : ` where ${normalizeCondition(dialect.sqlToQuery(config.where.inlineParams()).sql, name)}`;
        return `${config.unique ? "unique " : ""}${config.name} ${formatColumnNames(config.columns)}${where}`;
      })
      .sort(),
  };
};

const readActualShape = (database: DatabaseSync, table: string): Shape => {
  const queryRows = (sql: string, target = table) => database.prepare(sql).all(target);
  const readSql = (name: unknown): string =>
    String(database.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").get(String(name))?.sql ?? "");
  const columns = queryRows('SELECT name, type, "notnull" AS required, dflt_value AS preset, pk FROM pragma_table_info(?)');
  const indexRows = queryRows('SELECT name, "unique" AS isUnique, origin FROM pragma_index_list(?)').map(({ name, isUnique, origin }) => {
    const where = /\bWHERE (.+)$/.exec(readSql(name))?.[1];
    const on = list(queryRows("SELECT name FROM pragma_index_info(?) ORDER BY seqno", String(name)).map((column) => column.name));
    const condition = where === undefined ? "" : ` where ${normalizeCondition(where, table)}`;
    return { origin, on, text: `${isUnique === 1 ? "unique " : ""}${name} ${on}${condition}` };
  });
  const references = queryRows('SELECT id, "table" AS target, "from" AS own, "to" AS key FROM pragma_foreign_key_list(?) ORDER BY id, seq');
  return {
    columns: columns.map((column) => ({
      name: column.name,
      type: String(column.type).toLowerCase(),
      required: column.required === 1 || column.pk !== 0,
      preset: column.preset,
      allowed: listAllowedValues(readSql(table), String(column.name)),
    })),
    primaryKey: columns
      .filter(({ pk }) => pk !== 0)
      .sort((a, b) => Number(a.pk) - Number(b.pk))
      .map((column) => String(column.name)),
    unique: indexRows
      .filter(({ origin }) => origin === "u")
      .map(({ on }) => on)
      .sort(),
    references: [...Map.groupBy(references, ({ id }) => id).values()]
      .map(
        (keyColumns) =>
          `${list(keyColumns.map(({ own: column }) => column))} to ${keyColumns[0]?.target} ${list(keyColumns.map(({ key }) => key))}`,
      )
      .sort(),
    indexes: indexRows
      .filter(({ origin }) => origin === "c")
      .map(({ text }) => text)
      .sort(),
  };
};

describe("storage/schema.ts", () => {
  const database = createMigratedDatabase();
  const declared = Object.values(schema).map((table) => [getTableName(table), table] as const);

  test("declares every table that the migrations create, and no other", () => {
    expect(declared.map(([name]) => name).sort()).toEqual(listDatabaseTables().map(({ name }) => name));
    expect(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all()).toEqual([]);
  });

  test.each(declared)("declares columns, keys, uniqueness, references and indexes of %s as the migrations create them", (name, table) => {
    expect(buildDeclaredShape(table)).toEqual(readActualShape(database, name));
  });
});

describe("docs/internals/storage.md", () => {
  test("describes every column of the D1 databases, and no other", () => {
    expect(listDocumentedColumns("D1")).toEqual(parseColumns(listDatabaseTables()));
  });

  test("describes every column of the Durable Objects, and no other", () => {
    expect(listComparedClasses()).toEqual(listObjectClasses());
    expect(listDocumentedColumns("Objects")).toEqual(parseColumns(listObjectTables()));
  });

  test("describes every key prefix in KV, and no other", () => {
    const keys = findSection("KV").flatMap(({ rows }) => rows.map(({ name }) => name.replace(/<.*$/, "")));
    expect(keys.sort()).toEqual(listKeyPrefixes());
  });

  test("gives kind, meaning and lifetime of every column", () => {
    const rows = documentedTables.flatMap(({ table, rows: tableRows }) =>
      tableRows.map((row) => ({ ...row, name: `${table}.${row.name}` })),
    );
    expect(rows.length).toBeGreaterThan(50);
    const unclear = rows.filter(({ kind, meaning, lifetime }) => !kinds.includes(kind) || meaning.length < 3 || lifetime.length < 3);
    expect(unclear).toEqual([]);
  });

  test("gives columns the kind that their names end in", () => {
    const suffixes: readonly (readonly [RegExp, string])[] = [
      [/_sealed$/, "sealed"],
      [/_index(?:es)?$/, "blind index"],
    ];
    const rows = findSection("D1").flatMap(({ table, rows: tableRows }) =>
      tableRows.map((row) => ({ column: `${table}.${row.name}`, kind: row.kind })),
    );
    const wrong = rows.filter(({ column, kind }) =>
      suffixes.some(([suffix, expectedKind]) => suffix.test(column) !== (kind === expectedKind)),
    );
    expect(wrong).toEqual([]);
    expect(rows.filter(({ column, kind }) => kind === "hashed" && !/hash$/.test(column))).toEqual([]);
  });
});
