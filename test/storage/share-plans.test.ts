// How the database finds shares: by an index, whatever the number of rows, for every statement that lists them. A page of a business
// costs the same at its millionth share as at its first; test/house knows nothing of plans, so they are asked for here.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import type { BusinessId, ConsumerId, ShareId } from "../../core/ids.ts";
import { contactKeys } from "../../core/shares/fields.ts";
import { shareStatuses } from "../../core/shares/share.ts";
import { listContactBasis } from "../../storage/contact.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { listOpenDeadlines } from "../../storage/deadlines.ts";
import { countActiveShares } from "../../storage/people.ts";
import { claimFieldFanout, listOutdatedShares } from "../../storage/share-copies.ts";
import { claimShareIntent } from "../../storage/share-changes.ts";
import { claimShareNotices } from "../../storage/share-notices.ts";
import { listDueSandboxShares, listDueShares, listOverdueShares } from "../../storage/share-sweep.ts";
import {
  listActiveSharesByBusiness,
  listSharesForExport,
  listSharesByOwner,
  listSharesByIds,
  listSharesByPerson,
  listUnendedShares,
} from "../../storage/shares.ts";
import { grantShare, signInPerson, getWithApiKey } from "../support/sharing.ts";
import { world } from "../support/world.ts";

interface Asked {
  readonly sql: string;
  readonly bound: readonly unknown[];
}

/** A database that notes what it is asked. */
const noting = (asked: Asked[]): Database => {
  const statement = (sql: string, bound: readonly unknown[], of: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(of, {
      get: (_, name) => {
        if (name === "bind") return (...values: unknown[]) => statement(sql, values, of.bind(...values));
        if (name === "asked") return { sql, bound, of };
        const value = Reflect.get(of, name);
        if (typeof value !== "function") return value;
        return (...rest: unknown[]) => {
          asked.push({ sql, bound });
          return value.apply(of, rest);
        };
      },
    });
  return openDatabase(
    new Proxy(env.DB, {
      get: (of, name) => {
        if (name === "prepare") return (sql: string) => statement(sql, [], of.prepare(sql));
        if (name === "batch")
          return (statements: (D1PreparedStatement & { asked: Asked & { of: D1PreparedStatement } })[]) => {
            asked.push(...statements.map(({ asked: { sql, bound } }) => ({ sql, bound })));
            return of.batch(statements.map(({ asked: { of: original } }) => original));
          };
        const value = Reflect.get(of, name);
        return typeof value === "function" ? value.bind(of) : value;
      },
    }),
  );
};

/** What each statement does, one line a step. */
const plansOf = async (ask: (db: Database) => Promise<unknown>): Promise<readonly string[]> => {
  const asked: Asked[] = [];
  await ask(noting(asked));
  const plans = await Promise.all(
    asked.map(({ sql, bound }) =>
      env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .bind(...bound)
        .all<{ detail: string }>(),
    ),
  );
  return plans.flatMap(({ results }) => results.map(({ detail }) => detail));
};
/** Steps that read all rows of a table. A list that was sent along is read as a whole, and so are the clocks that somebody moved: both are short. */
const scans = (plan: readonly string[]): readonly string[] =>
  plan.filter((step) => /^SCAN /.test(step) && !/^SCAN (?:j|json_each|CONSTANT ROW|\d+-ROW VALUES CLAUSE|sandbox_clocks)\b/.test(step));
const sorts = (plan: readonly string[]): readonly string[] => plan.filter((step) => step.includes("TEMP B-TREE"));

const owner = { businessId: world.acme.id as BusinessId, environment: "live" } as const;
const sandbox = { ...owner, environment: "sandbox" } as const;
let share: ShareId;
let consumer: ConsumerId;
const now = Date.now();

beforeAll(async () => {
  const pat = await signInPerson();
  share = (await grantShare(pat)).share.id;
  consumer = (await pat.get("/v1/me")).body.data.id;
  expect((await getWithApiKey(`/v1/shares/${share}`)).status).toBe(200);
});

describe("a page of a business's shares", () => {
  const pages = [null, ...shareStatuses].flatMap((status) =>
    [false, true].flatMap((isBehind) => [owner, sandbox].map((of) => ({ status, isBehind, of, environment: of.environment }))),
  );

  test.each(pages)(
    "with status $status, behind another: $isBehind, $environment, is read by index and in order",
    async ({ status, isBehind, of }) => {
      const plan = await plansOf((db) => listSharesByOwner(db, of, { status, limit: 100, startingAfter: isBehind ? share : null }, now));
      expect(scans(plan)).toEqual([]);
      // Shares that have expired and that no sweep has come to are few: found by what is due, and sorted.
      expect(sorts(plan)).toEqual(status === "expired" ? ["USE TEMP B-TREE FOR ORDER BY"] : []);
      const used = plan.filter((step) => /^SEARCH shares USING/.test(step));
      const index = status === null ? "shares_listed" : "shares_state";
      expect(used.some((step) => step.includes(`USING INDEX ${index} `))).toBe(true);
      expect(used.some((step) => step.includes("USING INDEX shares_due "))).toBe(status === "expired");
    },
  );
});

describe("what else lists shares", () => {
  const lists: Readonly<Record<string, { readonly ask: (db: Database) => Promise<unknown>; readonly by: string; readonly sorted?: true }>> =
    {
      // Bounded by what one person shares: active ones first.
      "a person's": { ask: (db) => listSharesByPerson(db, consumer, now), by: "shares_consumer", sorted: true },
      "a person's, counted": { ask: (db) => countActiveShares(db, consumer, now), by: "shares_consumer" },
      "a person's with one business": {
        ask: (db) => listActiveSharesByBusiness(db, consumer, owner.businessId, now),
        by: "shares_consumer",
      },
      "a person's that nobody has ended": { ask: (db) => listUnendedShares(db, consumer, now, 500), by: "shares_consumer" },
      "a person's, for their export": { ask: (db) => listSharesForExport(db, consumer, now), by: "shares_consumer", sorted: true },
      "those a change of fields concerns": {
        ask: async (db) => listOutdatedShares(db, consumer, { keys: contactKeys, revision: 9, now }),
        by: "shares_consumer",
      },
      "a person's that are over": { ask: (db) => listOverdueShares(db, consumer, now), by: "shares_consumer", sorted: true },
      "what is due": { ask: (db) => listDueShares(db, "live", now), by: "shares_due" },
      "what is due in all sandboxes": { ask: (db) => listDueShares(db, "sandbox", now), by: "shares_due" },
      "what is due where a clock was moved": { ask: (db) => listDueShares(db, "sandbox", now), by: "shares_sandbox_due" },
      "what is due in one sandbox": { ask: (db) => listDueSandboxShares(db, owner.businessId, now), by: "shares_sandbox_due" },
      "a business's, by an address": {
        ask: (db) => listContactBasis(db, { ...owner, subjects: [{ email: "an index", phone: null }], entity: null, purpose: null }, now),
        by: "shares_email",
        sorted: true, // what is about one person
      },
      deadlines: { ask: (db) => listOpenDeadlines(db, owner, 50), by: "shares_deadline" },
      "some by their ids": { ask: (db) => listSharesByIds(db, [share], now), by: "sqlite_autoindex_shares_1" },
    };

  test.each(Object.entries(lists))("%s: by its index", async (_, { ask, by, sorted }) => {
    const plan = await plansOf(ask);
    expect(scans(plan)).toEqual([]);
    expect(
      plan.filter((step) => step.startsWith("SEARCH shares USING") && step.includes(by)),
      plan.join("; "),
    ).not.toEqual([]);
    if (sorted === undefined) expect(sorts(plan)).toEqual([]);
  });

  test.each([
    ["intents", (db: Database) => claimShareIntent(db, now), "share_intents_due"],
    ["fan-outs", (db: Database) => claimFieldFanout(db, now), "field_fanouts_due"],
    ["notices", (db: Database) => claimShareNotices(db, now, 100), "share_notices_due"],
  ] as const)("work that waits, %s: by when it is due", async (_, ask, by) => {
    const plan = await plansOf(ask);
    expect(scans(plan)).toEqual([]);
    expect(plan.some((step) => step.includes(by))).toBe(true);
  });
});
