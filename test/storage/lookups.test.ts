// Tests that several lookups are combined into one database call, and that each lookup receives only the rows of its own queries.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { openDatabase } from "../../storage/database.ts";
import { createLookup, combineLookups } from "../../storage/lookups.ts";

let calls: string[] = [];
const recordCalls = <T extends object>(of: T): T =>
  new Proxy(of, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name !== "prepare") calls.push(String(name));
        return value.apply(target, args);
      };
    },
  });
const db = openDatabase(recordCalls(env.DB));
const noTable = sql`(select 1)`;
const selectNumber = (value: number) => db.select({ of: sql<number>`${value}`.as("of") }).from(noTable);
const createNumberLookup = (value: number) => createLookup(db, [selectNumber(value)], ([[row]]) => row?.of);
const sum = (a: number, b: number) =>
  createLookup(db, [selectNumber(a), selectNumber(b)], ([[first], [second]]) => (first?.of ?? 0) + (second?.of ?? 0));
const refused = createLookup(db, [db.select({ of: sql<number>`of` }).from(sql`nothing_of_this_name`)], () => 0);

test("runs a lookup by itself, and only when it is awaited", async () => {
  calls = [];
  const pending = sum(1, 2);
  expect(calls).toEqual([]);
  expect([await pending, await createNumberLookup(3)]).toEqual([3, 3]);
  expect(calls).toEqual(["batch"]); // two queries run as a batch; a single query would run without one
});

test("runs combined lookups as one call and gives each the rows of its own queries", async () => {
  calls = [];
  const pending = combineLookups(db, [
    createNumberLookup(1),
    sum(2, 3),
    combineLookups(db, [createNumberLookup(4), sum(5, 6)]),
    createNumberLookup(7).map((value) => `${value}!`),
    combineLookups(db, []),
  ]);
  expect(await pending).toEqual([1, 5, [4, 11], "7!", []]);
  expect(calls).toEqual(["batch"]);
});

test("rejects all combined lookups when one fails", async () => {
  await expect(combineLookups(db, [createNumberLookup(1), refused])).rejects.toThrow();
});
