// Tests that several lookups are combined into one database call, and that each receives only the rows of its own queries.
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
      return (...given: unknown[]) => {
        if (name !== "prepare") calls.push(String(name));
        return value.apply(target, given);
      };
    },
  });
const db = openDatabase(recordCalls(env.DB));
const noTable = sql`(select 1)`;
const number = (of: number) => db.select({ of: sql<number>`${of}`.as("of") }).from(noTable);
const one = (of: number) => createLookup(db, [number(of)], ([[row]]) => row?.of);
const sum = (a: number, b: number) =>
  createLookup(db, [number(a), number(b)], ([[first], [second]]) => (first?.of ?? 0) + (second?.of ?? 0));
const refused = createLookup(db, [db.select({ of: sql<number>`of` }).from(sql`nothing_of_this_name`)], () => 0);

test("runs a lookup by itself, and only when it is awaited", async () => {
  calls = [];
  const pending = sum(1, 2);
  expect(calls).toEqual([]);
  expect([await pending, await one(3)]).toEqual([3, 3]);
  expect(calls).toEqual(["batch"]); // two queries run as a batch; a single query would run without one
});

test("runs combined lookups as one call and gives each the rows of its own queries", async () => {
  calls = [];
  const pending = combineLookups(db, [
    one(1),
    sum(2, 3),
    combineLookups(db, [one(4), sum(5, 6)]),
    one(7).map((of) => `${of}!`),
    combineLookups(db, []),
  ]);
  expect(await pending).toEqual([1, 5, [4, 11], "7!", []]);
  expect(calls).toEqual(["batch"]);
});

test("rejects all combined lookups when one fails", async () => {
  await expect(combineLookups(db, [one(1), refused])).rejects.toThrow();
});
