// Tests the budget of background work. An invocation may make 1,000 queries. However much work is due, the jobs that run in one minute
// stay below this limit in total, and no single job uses the whole budget. The jobs of the next minute continue the work.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { dayMs, minuteMs, secondMs } from "../../core/time.ts";
import type { ConsumerId, ShardId } from "../../core/ids.ts";
import { beginAccountErasure } from "../../storage/account-erasures.ts";
import { findPersonChain } from "../../storage/people.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { forEachShard } from "../../workers/background/for-each-shard.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import { withBudget } from "../../workers/operations/work-budget.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { copyRow } from "../support/copied-rows.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { world } from "../support/world.ts";

const base = await getPlatform(env);
const perInvocation = 1_000;
const readNumber = async (sql: string, ...values: readonly unknown[]): Promise<number> =>
  (await env.DB.prepare(sql)
    .bind(...values)
    .first<number>("n")) as number;

/**
 * Creates a platform that counts its database queries. `minute` runs one minute's jobs and their follow-up work, and returns the number
 * of queries that they made.
 */
const createCountingPlatform = (clock: () => number = () => Date.now()) => {
  const queries = { statements: 0 };
  const following: Promise<void>[] = [];
  const prepare = (text: string): D1PreparedStatement => {
    const statement = env.DB.prepare(text);
    const bind = statement.bind.bind(statement);
    return Object.assign(statement, {
      bind: (...boundValues: unknown[]) => {
        queries.statements += 1;
        return bind(...boundValues);
      },
    });
  };
  const counted = { prepare, batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements), withSession: () => counted };
  const overrides = {
    clock,
    shards: openShards({ DB: counted }),
    log: { ...base.log, error: () => {} },
    ledgers: [],
    attestors: [],
    waitUntil: (work: () => Promise<void>) => void following.push(work()),
  };
  const platform = Object.assign(Object.create(base) as Platform, overrides);
  const runMinute = async (): Promise<number> => {
    const before = queries.statements;
    await runScheduledJobs(platform, "* * * * *", clock());
    for (let index = 0; index < following.length; index += 1) await following[index];
    return queries.statements - before;
  };
  return { platform, minute: runMinute };
};

const getConsumerId = (person: SignedPerson): Promise<ConsumerId> => grantShare(person).then(({ share }) => findConsumerId(share.id));
const findConsumerId = async (shareId: string): Promise<ConsumerId> =>
  (await env.DB.prepare("SELECT consumer_id AS id FROM shares WHERE id = ?").bind(shareId).first<ConsumerId>("id")) as ConsumerId;

/** Creates emails that cannot be decrypted, so each attempt only postpones its row. */
const insertUnsendableMails = (count: number) =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at) SELECT 'mail ' || i, 'login_code', 'x', 0, ?, 0 FROM n`,
  )
    .bind(count, Date.now() + dayMs)
    .run();

/** Creates share intents, which record that a grant has started, without their shares. The job looks up and deletes each of them. */
const insertLostIntents = (count: number, consumerId: string) =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO share_intents SELECT printf('shr_00%024d', i), ?, 0 FROM n`,
  )
    .bind(count, consumerId)
    .run();

const countMailAttempts = () => readNumber("SELECT SUM(attempts) AS n FROM mail_outbox");
const countIntentsLeft = () => readNumber("SELECT COUNT(*) AS n FROM share_intents");
const countNoticesLeft = () => readNumber("SELECT COUNT(*) AS n FROM share_notices");

beforeEach(async () => {
  await waitUntilSettled();
  for (const table of ["mail_outbox", "share_notices", "share_intents"]) await env.DB.exec(`DELETE FROM ${table}`);
});

describe("a minute with more work than its budget", () => {
  test("uses fewer queries than an invocation allows, does part of every job, and leaves the rest to the next minute", async () => {
    const { share } = await grantShare(await signInPerson());
    const consumerId = await findConsumerId(share.id);
    await copyRow("shares", share.id, 5_000);
    await env.DB.exec("INSERT INTO share_notices SELECT id, 'overdue', 0 FROM shares"); // these shares were not revoked, so no email is sent
    await insertUnsendableMails(3_000);
    await insertLostIntents(3_000, consumerId);
    const all = await countNoticesLeft();
    const { minute } = createCountingPlatform();

    expect(await minute()).toBeLessThanOrEqual(perInvocation);
    const [tried, intents, notices] = [await countMailAttempts(), await countIntentsLeft(), await countNoticesLeft()];
    for (const [processed, total] of [
      [tried, 3_000],
      [3_000 - intents, 3_000],
      [all - notices, all],
    ] as const) {
      expect(processed).toBeGreaterThan(0);
      expect(processed).toBeLessThan(total);
    }
    expect(await minute()).toBeLessThanOrEqual(perInvocation);
    expect(await countMailAttempts()).toBeGreaterThan(tried);
    expect(await countIntentsLeft()).toBeLessThan(intents);
    expect(await countNoticesLeft()).toBeLessThan(notices);
  }, 120_000);

  test("gives at most half of its queries to one job", async () => {
    await insertUnsendableMails(3_000);
    const { minute } = createCountingPlatform();
    const queryCount = await minute();
    expect(queryCount).toBeGreaterThan(400);
    expect(queryCount).toBeLessThan(600);
  }, 120_000);

  test("starts nothing after its time is over", async () => {
    await insertLostIntents(500, await getConsumerId(await signInPerson()));
    let now = Date.now();
    const { minute } = createCountingPlatform(() => {
      now += 100;
      return now;
    });
    await minute();
    expect(await countIntentsLeft()).toBeGreaterThan(400);
    expect(await countIntentsLeft()).toBeLessThan(500);
  }, 120_000);
});

describe("background work", () => {
  test("lets incoming requests run between two steps", async () => {
    const { platform } = createCountingPlatform();
    const allowed = withBudget(platform, { maxMs: minuteMs, maxQueries: 10 });
    const order: string[] = [];
    setTimeout(() => order.push("somebody else"), 0);
    for (const step of ["first step", "second step", "third step"]) if (await allowed.hasBudget()) order.push(step);
    expect(order).toContain("third step");
    expect(order.indexOf("somebody else")).toBeLessThan(order.indexOf("third step"));
    expect(order).toContain("somebody else");
  });

  test("cannot exceed the budget of the work around it", async () => {
    const { platform } = createCountingPlatform();
    const around = withBudget(platform, { maxMs: minuteMs, maxQueries: 2 });
    const inner = withBudget(around, { maxMs: minuteMs, maxQueries: 100 });
    const [[, db] = [null, null]] = inner.shards.all();
    expect([await inner.hasBudget(), await around.hasBudget()]).toEqual([true, true]);
    for (let calls = 0; calls < 2; calls += 1) await findPersonChain(db as Database, "con_00nobody" as ConsumerId);
    expect([await inner.hasBudget(), await around.hasBudget()]).toEqual([false, false]);
  });
});

describe("the shards", () => {
  test("take turns being first, so that one with too much work does not starve the others", async () => {
    const db = openDatabase(env.DB);
    const shards = { ...base.shards, all: () => ["00", "01", "02"].map((shard) => [shard as ShardId, db] as const) };
    const readShardOrder = async (minute: number): Promise<string> => {
      const order: string[] = [];
      await forEachShard({ ...base, shards, clock: () => minute * minuteMs + 59_999 }, "test", async (_, shard) => void order.push(shard));
      return order.join(" ");
    };
    expect([await readShardOrder(0), await readShardOrder(1), await readShardOrder(2), await readShardOrder(3)]).toEqual([
      "00 01 02",
      "01 02 00",
      "02 00 01",
      "00 01 02",
    ]);
  });
});

describe("an account deletion with more shares than a run may end", () => {
  test("continues where it stopped, ends each share once, and deletes the account last", async () => {
    const { share } = await grantShare(await signInPerson());
    const id = await findConsumerId(share.id);
    const like = `${share.id.slice(0, 20)}%`;
    await copyRow("shares", share.id, 1_400);
    const countActiveShares = () => readNumber("SELECT COUNT(*) AS n FROM shares WHERE id LIKE ? AND state = 'active'", like);
    const isThere = () => readNumber("SELECT COUNT(*) AS n FROM consumers WHERE id = ? AND email_sealed <> ''", id);
    let now = Date.now();
    await beginAccountErasure(openDatabase(env.DB), { consumerId: id, language: "en" }, now);

    const { platform } = createCountingPlatform(() => now);
    now += 2 * minuteMs;
    await settleShares(withBudget(platform, { maxMs: 40 * secondMs, maxQueries: 12 }));
    const left = await countActiveShares();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_401);
    expect(await isThere()).toBe(1);

    now += 2 * minuteMs;
    await settleShares(withBudget(platform, { maxMs: 40 * secondMs, maxQueries: 400 }));
    expect([await countActiveShares(), await isThere()]).toEqual([0, 0]);
    const entries = "SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id LIKE ? AND type = 'share.revoked' AND chain = ?";
    expect(await readNumber(entries, like, world.acme.chain)).toBe(1_401);
  });
});
