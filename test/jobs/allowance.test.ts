// Tests the budget of background work. An invocation may make 1,000 queries. However much work is due, all jobs of one minute together stay
// below this limit, the jobs of the next minute continue the work, and no single job uses the whole budget.
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
import type { Env } from "../../workers/env.ts";
import { withBudget } from "../../workers/operations/work-budget.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { copyRow } from "../support/copied-rows.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { world } from "../support/world.ts";

const base = await getPlatform(env as unknown as Env);
const perInvocation = 1_000;
const number = async (sql: string, ...values: readonly unknown[]): Promise<number> =>
  (await env.DB.prepare(sql)
    .bind(...values)
    .first<number>("n")) as number;

/** Creates a platform that counts database queries and finishes follow-up work before it returns. */
const counting = (clock: () => number = () => Date.now()) => {
  const queries = { statements: 0 };
  const following: Promise<void>[] = [];
  const prepare = (text: string): D1PreparedStatement => {
    const statement = env.DB.prepare(text);
    const bind = statement.bind.bind(statement);
    return Object.assign(statement, {
      bind: (...given: unknown[]) => {
        queries.statements += 1;
        return bind(...given);
      },
    });
  };
  const counted = { prepare, batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements), withSession: () => counted };
  const own = {
    clock,
    shards: openShards({ DB: counted }),
    log: { ...base.log, error: () => {} },
    ledgers: [],
    attestors: [],
    waitUntil: (work: () => Promise<void>) => void following.push(work()),
  };
  const platform = Object.assign(Object.create(base) as Platform, own);
  const minute = async (): Promise<number> => {
    const before = queries.statements;
    await runScheduledJobs(platform, "* * * * *", clock());
    for (let done = 0; done < following.length; done += 1) await following[done];
    return queries.statements - before;
  };
  return { platform, minute };
};

const consumerOf = (by: SignedPerson): Promise<ConsumerId> => grantShare(by).then(({ share }) => idOf(share.id));
const idOf = async (shareId: string): Promise<ConsumerId> =>
  (await env.DB.prepare("SELECT consumer_id AS id FROM shares WHERE id = ?").bind(shareId).first<ConsumerId>("id")) as ConsumerId;

/** Creates emails that cannot be decrypted, so each attempt only postpones its row. */
const unsendableMails = (count: number) =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at) SELECT 'mail ' || i, 'login_code', 'x', 0, ?, 0 FROM n`,
  )
    .bind(count, Date.now() + dayMs)
    .run();

/** Creates recorded grants (share intents) whose share does not exist. The job looks up and deletes each of them. */
const lostIntents = (count: number, consumerId: string) =>
  env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO share_intents SELECT printf('shr_00%024d', i), ?, 0 FROM n`,
  )
    .bind(count, consumerId)
    .run();

const mailsTried = () => number("SELECT SUM(attempts) AS n FROM mail_outbox");
const intentsLeft = () => number("SELECT COUNT(*) AS n FROM share_intents");
const noticesLeft = () => number("SELECT COUNT(*) AS n FROM share_notices");

beforeEach(async () => {
  await waitUntilSettled();
  for (const table of ["mail_outbox", "share_notices", "share_intents"]) await env.DB.exec(`DELETE FROM ${table}`);
});

describe("a minute with more work than its budget", () => {
  test("uses fewer queries than an invocation allows, does part of every job, and leaves the rest to the next minute", async () => {
    const { share } = await grantShare(await signInPerson());
    const consumerId = await idOf(share.id);
    await copyRow("shares", share.id, 5_000);
    await env.DB.exec("INSERT INTO share_notices SELECT id, 'overdue', 0 FROM shares"); // these shares were not revoked, so no email is sent
    await unsendableMails(3_000);
    await lostIntents(3_000, consumerId);
    const all = await noticesLeft();
    const { minute } = counting();

    expect(await minute()).toBeLessThanOrEqual(perInvocation);
    const [tried, intents, notices] = [await mailsTried(), await intentsLeft(), await noticesLeft()];
    for (const [done, of] of [
      [tried, 3_000],
      [3_000 - intents, 3_000],
      [all - notices, all],
    ] as const) {
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(of);
    }
    expect(await minute()).toBeLessThanOrEqual(perInvocation);
    expect(await mailsTried()).toBeGreaterThan(tried);
    expect(await intentsLeft()).toBeLessThan(intents);
    expect(await noticesLeft()).toBeLessThan(notices);
  }, 120_000);

  test("gives at most half of its queries to one job", async () => {
    await unsendableMails(3_000);
    const { minute } = counting();
    const queryCount = await minute();
    expect(queryCount).toBeGreaterThan(400);
    expect(queryCount).toBeLessThan(600);
  }, 120_000);

  test("starts nothing after its time is over", async () => {
    await lostIntents(500, await consumerOf(await signInPerson()));
    let now = Date.now();
    const { minute } = counting(() => {
      now += 100;
      return now;
    });
    await minute();
    expect(await intentsLeft()).toBeGreaterThan(400);
    expect(await intentsLeft()).toBeLessThan(500);
  }, 120_000);
});

describe("background work", () => {
  test("lets incoming requests run between two steps", async () => {
    const { platform } = counting();
    const allowed = withBudget(platform, { maxMs: minuteMs, maxQueries: 10 });
    const order: string[] = [];
    setTimeout(() => order.push("somebody else"), 0);
    for (const step of ["first step", "second step", "third step"]) if (await allowed.hasBudget()) order.push(step);
    expect(order).toContain("third step");
    expect(order.indexOf("somebody else")).toBeLessThan(order.indexOf("third step"));
    expect(order).toContain("somebody else");
  });

  test("uses the budget of the work around it", async () => {
    const { platform } = counting();
    const around = withBudget(platform, { maxMs: minuteMs, maxQueries: 2 });
    const inner = withBudget(around, { maxMs: minuteMs, maxQueries: 100 });
    const [[, db] = [null, null]] = inner.shards.all();
    expect([await inner.hasBudget(), await around.hasBudget()]).toEqual([true, true]);
    for (let calls = 0; calls < 2; calls += 1) await findPersonChain(db as Database, "con_00nobody" as ConsumerId);
    expect([await inner.hasBudget(), await around.hasBudget()]).toEqual([false, false]);
  });
});

describe("the shards", () => {
  test("take turns to be first, so that one with too much work does not starve the others", async () => {
    const db = openDatabase(env.DB);
    const shards = { ...base.shards, all: () => ["00", "01", "02"].map((shard) => [shard as ShardId, db] as const) };
    const begunAt = async (minute: number): Promise<string> => {
      const order: string[] = [];
      await forEachShard({ ...base, shards, clock: () => minute * minuteMs + 59_999 }, "test", async (_, shard) => void order.push(shard));
      return order.join(" ");
    };
    expect([await begunAt(0), await begunAt(1), await begunAt(2), await begunAt(3)]).toEqual([
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
    const id = await idOf(share.id);
    const like = `${share.id.slice(0, 20)}%`;
    await copyRow("shares", share.id, 1_400);
    const active = () => number("SELECT COUNT(*) AS n FROM shares WHERE id LIKE ? AND state = 'active'", like);
    const isThere = () => number("SELECT COUNT(*) AS n FROM consumers WHERE id = ? AND email_sealed <> ''", id);
    let now = Date.now();
    await beginAccountErasure(openDatabase(env.DB), { consumerId: id, language: "en" }, now);

    const { platform } = counting(() => now);
    now += 2 * minuteMs;
    await settleShares(withBudget(platform, { maxMs: 40 * secondMs, maxQueries: 12 }));
    const left = await active();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_401);
    expect(await isThere()).toBe(1);

    now += 2 * minuteMs;
    await settleShares(withBudget(platform, { maxMs: 40 * secondMs, maxQueries: 400 }));
    expect([await active(), await isThere()]).toEqual([0, 0]);
    const entries = "SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id LIKE ? AND type = 'share.revoked' AND chain = ?";
    expect(await number(entries, like, world.acme.chain)).toBe(1_401);
  });
});
