// Tests with EXPLAIN QUERY PLAN that every statement that lists shares uses an index, so that a page costs the same with a million shares
// as with one.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import type { BusinessId, ConsumerId, ShareId } from "../../core/ids.ts";
import { createAddressIndex } from "../../core/access/address-index.ts";
import { contactKeys } from "../../core/shares/fields.ts";
import { shareStatuses } from "../../core/shares/share.ts";
import { findContactRecords } from "../../storage/contact.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { listOpenDeadlines } from "../../storage/deadlines.ts";
import { countActiveShares } from "../../storage/people.ts";
import { findSessionByTokenHash } from "../../storage/sessions.ts";
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

interface RecordedStatement {
  readonly sql: string;
  readonly bound: readonly unknown[];
}

const recordStatements = (statements: RecordedStatement[]): Database => {
  const wrapStatement = (sql: string, bound: readonly unknown[], target: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(target, {
      get: (_, name) => {
        if (name === "bind") return (...values: unknown[]) => wrapStatement(sql, values, target.bind(...values));
        if (name === "recorded") return { sql, bound, of: target };
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...rest: unknown[]) => {
          statements.push({ sql, bound });
          return value.apply(target, rest);
        };
      },
    });
  return openDatabase(
    new Proxy(env.DB, {
      get: (target, name) => {
        if (name === "prepare") return (sql: string) => wrapStatement(sql, [], target.prepare(sql));
        if (name === "batch")
          return (batched: (D1PreparedStatement & { recorded: RecordedStatement & { of: D1PreparedStatement } })[]) => {
            statements.push(...batched.map(({ recorded: { sql, bound } }) => ({ sql, bound })));
            return target.batch(batched.map(({ recorded: { of: original } }) => original));
          };
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    }),
  );
};

/** Returns the query plan of each statement, one line per step. */
const readPlans = async (run: (db: Database) => Promise<unknown>): Promise<readonly string[]> => {
  const statements: RecordedStatement[] = [];
  await run(recordStatements(statements));
  const plans = await Promise.all(
    statements.map(({ sql, bound }) =>
      env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .bind(...bound)
        .all<{ detail: string }>(),
    ),
  );
  return plans.flatMap(({ results }) => results.map(({ detail }) => detail));
};
/**
 * Returns the query plan steps that scan a whole table. Three kinds of scans are allowed, because they are short: lists that are passed as
 * parameters, changed sandbox clocks, and an address's newest records. A scan of a subquery is also allowed, because the subquery's own
 * steps are checked.
 */
const findScans = (plan: readonly string[]): readonly string[] =>
  plan.filter(
    (step) =>
      /^SCAN /.test(step) && !/^SCAN (?:(?:j|json_each|CONSTANT ROW|\d+-ROW VALUES CLAUSE|sandbox_clocks|newest)\b|\(subquery-)/.test(step),
  );
const findSorts = (plan: readonly string[]): readonly string[] => plan.filter((step) => step.includes("TEMP B-TREE"));

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
    [false, true].flatMap((isBehind) =>
      [owner, sandbox].map((owningParty) => ({ status, isBehind, of: owningParty, environment: owningParty.environment })),
    ),
  );

  test.each(pages)(
    "uses the index and its order with status $status, after a share: $isBehind, $environment",
    async ({ status, isBehind, of: owningParty }) => {
      const plan = await readPlans((db) =>
        listSharesByOwner(db, owningParty, { status, limit: 100, startingAfter: isBehind ? share : null }, now),
      );
      expect(findScans(plan)).toEqual([]);
      expect(findSorts(plan)).toEqual([]);
      const used = plan.filter((step) => /^SEARCH shares USING/.test(step));
      const index = status === null ? "shares_listed" : "shares_state";
      expect(used.some((step) => step.includes(`USING INDEX ${index} `))).toBe(true);
      expect(used.some((step) => step.includes(" INDEX shares_business_due "))).toBe(status === "expired");
    },
  );
});

describe("another list of shares", () => {
  const lists: Readonly<Record<string, { readonly run: (db: Database) => Promise<unknown>; readonly by: string; readonly sorted?: true }>> =
    {
      // This list is sorted so that active shares come first. Sorting is allowed, because the number of one person's shares is limited.
      "shares of a person": { run: (db) => listSharesByPerson(db, consumer, now), by: "shares_consumer", sorted: true },
      "number of a person's shares": { run: (db) => countActiveShares(db, consumer, now), by: "shares_consumer" },
      "all of a person's shares with one business": {
        run: (db) => listSharesByPerson(db, consumer, now, owner.businessId),
        by: "shares_counted",
        sorted: true, // sorting is allowed, because these are one person's shares
      },
      "a person's active shares with one business": {
        run: (db) => listActiveSharesByBusiness(db, consumer, owner.businessId, now),
        by: "shares_counted",
      },
      "a person's shares in state active": { run: (db) => listUnendedShares(db, consumer, now, 500), by: "shares_consumer" },
      "a person's shares for their export": { run: (db) => listSharesForExport(db, consumer, now), by: "shares_person", sorted: true },
      "shares with outdated copies": {
        run: async (db) => listOutdatedShares(db, consumer, { keys: contactKeys, revision: 9, now }),
        by: "shares_consumer",
      },
      "a person's overdue shares": { run: (db) => listOverdueShares(db, consumer, now), by: "shares_consumer", sorted: true },
      "due live shares": { run: (db) => listDueShares(db, "live", now), by: "shares_due" },
      "due sandbox shares by real time": { run: (db) => listDueShares(db, "sandbox", now), by: "shares_due" },
      "due sandbox shares by a moved clock": { run: (db) => listDueShares(db, "sandbox", now), by: "shares_business_due" },
      "due shares of one sandbox": { run: (db) => listDueSandboxShares(db, owner.businessId, now), by: "shares_business_due" },
      "a business's shares by address": {
        run: (db) =>
          findContactRecords(
            db,
            { ...owner, subjects: [{ email: createAddressIndex("an index", ["an index"]), phone: null }], entity: null, purpose: null },
            now,
          ),
        by: "shares_email",
        sorted: true, // sorting is allowed, because these are one person's records
      },
      deadlines: { run: (db) => listOpenDeadlines(db, owner, 50), by: "shares_deadline" },
      "number of deadlines of a session": { run: (db) => findSessionByTokenHash(db, "a hash", now, "live"), by: "shares_deadline" },
      "shares by ids": { run: (db) => listSharesByIds(db, [share], now), by: "sqlite_autoindex_shares_1" },
    };

  test.each(Object.entries(lists))("uses its index: %s", async (_, { run, by: indexName, sorted }) => {
    const plan = await readPlans(run);
    expect(findScans(plan)).toEqual([]);
    expect(
      plan.filter((step) => step.startsWith("SEARCH shares USING") && step.includes(indexName)),
      plan.join("; "),
    ).not.toEqual([]);
    if (sorted === undefined) expect(findSorts(plan)).toEqual([]);
  });

  test("reads open withdrawals from the index that contains only them", async () => {
    for (const run of [
      (db: Database) => listOpenDeadlines(db, owner, 50),
      (db: Database) => findSessionByTokenHash(db, "a hash", now, "live"),
    ])
      expect(await readPlans(run)).toContainEqual(
        expect.stringMatching(/^SEARCH withdrawals USING (?:COVERING )?INDEX withdrawals_deadline /),
      );
  });

  test.each([
    ["intents", (db: Database) => claimShareIntent(db, now), "share_intents_due"],
    ["fan-outs", (db: Database) => claimFieldFanout(db, now), "field_fanouts_due"],
    ["notices", (db: Database) => claimShareNotices(db, now, 100), "share_notices_due"],
  ] as const)("finds waiting %s by due time", async (_, run, indexName) => {
    const plan = await readPlans(run);
    expect(findScans(plan)).toEqual([]);
    expect(plan.some((step) => step.includes(indexName))).toBe(true);
  });
});
