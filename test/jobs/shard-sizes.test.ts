// Tests that a shard that is filling up is reported long before it is full.
import { env } from "cloudflare:workers";
import { afterEach, expect, test } from "vitest";
import { openShards } from "../../storage/shards.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import type { ErrorLine, MetricLine } from "../../workers/log.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";

const base = await getPlatform(env);

const createDatabaseOfSize = (bytes: number): D1Database =>
  new Proxy(env.DB, {
    get: (db, name) => {
      if (name === "prepare")
        return (sql: string) => {
          const statement = db.prepare(sql);
          if (!sql.includes("select 1")) return statement;
          return { bind: () => ({ run: async () => ({ ...(await statement.run()), meta: { size_after: bytes } }) }) };
        };
      const value = Reflect.get(db, name);
      return typeof value === "function" ? value.bind(db) : value;
    },
  });

const measure = async (db: D1Database): Promise<{ readonly faults: readonly string[]; readonly metrics: readonly MetricLine[] }> => {
  const faults: string[] = [];
  const metrics: MetricLine[] = [];
  const log = {
    ...base.log,
    error: ({ at, error }: ErrorLine) => void (at === "shard_filling" && faults.push(error)),
    metric: (line: MetricLine) => void (line.metric === "shard_bytes" && metrics.push(line)),
  };
  await runScheduledJobs({ ...base, log, shards: openShards({ DB: db }) }, "*/15 * * * *", Date.now());
  return { faults, metrics };
};

afterEach(() => env.DB.exec("DELETE FROM shard_registry")); // the recorded sizes would determine where other tests create accounts

test("every 15 minutes the size of each shard is logged as a metric", async () => {
  const { faults, metrics } = await measure(env.DB);
  expect(metrics).toEqual([{ metric: "shard_bytes", shard: "00", value: expect.any(Number) }]);
  expect(metrics[0]?.value).toBeGreaterThan(10_000);
  expect(faults).toEqual([]);
});

test("a shard with 80% of 10 GB or more is logged as an error", async () => {
  expect((await measure(createDatabaseOfSize(7_999_999_999))).faults).toEqual([]);
  expect((await measure(createDatabaseOfSize(8_000_000_000))).faults).toEqual(["shard 00 has 8000000000 bytes"]);
});
