// What is asked together is one call of the database, and everybody finds the rows of their own question.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { openDatabase } from "../../storage/database.ts";
import { createLookup, combineLookups } from "../../storage/lookups.ts";

let calls: string[] = [];
const noting = <T extends object>(of: T): T =>
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
const db = openDatabase(noting(env.DB));
const nowhere = sql`(select 1)`;
const number = (of: number) => db.select({ of: sql<number>`${of}`.as("of") }).from(nowhere);
const one = (of: number) => createLookup(db, [number(of)], ([[row]]) => row?.of);
const sum = (a: number, b: number) =>
  createLookup(db, [number(a), number(b)], ([[first], [second]]) => (first?.of ?? 0) + (second?.of ?? 0));
const refused = createLookup(db, [db.select({ of: sql<number>`of` }).from(sql`nothing_of_this_name`)], () => 0);

test("alone each asks for itself, and nothing is asked before the answer is awaited", async () => {
  calls = [];
  const asked = sum(1, 2);
  expect(calls).toEqual([]);
  expect([await asked, await one(3)]).toEqual([3, 3]);
  expect(calls).toEqual(["batch"]); // two queries; a single one runs as it is
});

test("together they are one call, and each is answered with the rows of its own queries", async () => {
  calls = [];
  const asked = combineLookups(db, [
    one(1),
    sum(2, 3),
    combineLookups(db, [one(4), sum(5, 6)]),
    one(7).map((of) => `${of}!`),
    combineLookups(db, []),
  ]);
  expect(await asked).toEqual([1, 5, [4, 11], "7!", []]);
  expect(calls).toEqual(["batch"]);
});

test("where one fails there is no answer to any", async () => {
  await expect(combineLookups(db, [one(1), refused])).rejects.toThrow();
});
