// Tests that the cron jobs of each shard run in a separate invocation.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { minuteMs } from "../../core/time.ts";
import { parseJobRequest, runRequestedJobs, startScheduledJobs, type JobRequest } from "../../workers/background/shard-jobs.ts";
import { everyMinute } from "../../workers/background/schedule.ts";
import { openShards } from "../../storage/shards.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";

const base = await getPlatform(env);
const everyQuarterHour = "*/15 * * * *";
const quarter = Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs;

let faults: string[] = [];
const forgetShards = () => env.DB.exec("DELETE FROM shard_registry");
beforeEach(async () => {
  faults = [];
  closedLogs = [];
  await forgetShards();
});
afterEach(forgetShards);

let closedLogs: string[] = [];
/** A stub of a shard's audit log. `closedLogs` lists the shards for which a checkpoint was requested. */
const createAuditLogStub = (shard: string) =>
  ({
    requestDrain: async () => undefined,
    checkHighwater: async () => true,
    checkpoint: async () => {
      closedLogs.push(shard);
      return null;
    },
  }) as unknown as ReturnType<Platform["auditLogStub"]>;

const platform: Platform = {
  ...base,
  auditLogStub: createAuditLogStub,
  ledgersOf: () => [],
  attestors: [],
  log: { ...base.log, error: ({ at }) => void faults.push(at) },
};

/** Adds an expired row to each shard. The jobs that run every minute delete it. */
const addExpired = async (): Promise<void> => {
  for (const db of [env.DB, env.DB_01])
    await db
      .prepare(
        "INSERT OR REPLACE INTO idempotent_responses (key_hash, body_hash, status, response_sealed, expires_at) VALUES ('due', 'b', 201, 's', 1)",
      )
      .run();
};
const listShardsWithExpired = async (): Promise<readonly string[]> => {
  const shards = [];
  for (const [shard, db] of [
    ["00", env.DB],
    ["01", env.DB_01],
  ] as const)
    if ((await db.prepare("SELECT 1 FROM idempotent_responses WHERE key_hash = 'due'").first()) !== null) shards.push(shard);
  return shards;
};
const collect = (sent: JobRequest[]) => async (messages: readonly { readonly body: JobRequest }[]) =>
  void sent.push(...messages.map(({ body }) => body));

describe("a cron run", () => {
  test("sends one message per shard if there are several, and does no work itself", async () => {
    await addExpired();
    const sent: JobRequest[] = [];
    await startScheduledJobs(platform, everyMinute, quarter, collect(sent));
    expect(sent).toEqual(["00", "01"].map((shard) => ({ shard, cron: everyMinute, at: quarter })));
    expect(await listShardsWithExpired()).toEqual(["00", "01"]);
  });

  test("sends at most 100 messages per call", async () => {
    const sizes: number[] = [];
    const listShards = () => Array.from({ length: 250 }, (_, at) => [`${at}`, {}] as never);
    const many = { ...platform, shards: { ...platform.shards, all: listShards } };
    await startScheduledJobs(many, everyMinute, quarter, async (messages) => void sizes.push(messages.length));
    expect(sizes).toEqual([100, 100, 50]);
  });

  test("does the work of all shards itself if the messages cannot be sent", async () => {
    await addExpired();
    await startScheduledJobs(platform, everyMinute, quarter, () => Promise.reject(new Error("queue is down")));
    expect(faults).toEqual(["job-queue"]);
    expect(await listShardsWithExpired()).toEqual([]);
  });

  test("does the work itself, without messages, if there is one shard", async () => {
    await addExpired();
    const sent: JobRequest[] = [];
    await startScheduledJobs({ ...platform, shards: openShards({ DB: env.DB }) }, everyMinute, quarter, collect(sent));
    expect(sent).toEqual([]);
    expect(await listShardsWithExpired()).toEqual(["01"]);
  });
});

describe("a message", () => {
  test("runs the jobs of its shard only", async () => {
    await addExpired();
    await runRequestedJobs(platform, { shard: "01" as never, cron: everyMinute, at: quarter });
    expect(await listShardsWithExpired()).toEqual(["00"]);
    await runRequestedJobs(platform, { shard: "00" as never, cron: everyMinute, at: quarter });
    expect(await listShardsWithExpired()).toEqual([]);
  });

  test("runs the jobs that belong to the deployment only for the first shard", async () => {
    let reads = 0;
    const counting = Object.defineProperty({ ...platform }, "attestors", {
      get: () => {
        reads += 1;
        return [];
      },
    });
    await runRequestedJobs(counting, { shard: "01" as never, cron: everyMinute, at: quarter });
    const readsForOther = reads;
    await runRequestedJobs(counting, { shard: "00" as never, cron: everyMinute, at: quarter });
    expect([readsForOther, reads > 0]).toEqual([0, true]);
  });

  test("closes the interval of only its shard's audit log", async () => {
    await runRequestedJobs(platform, { shard: "01" as never, cron: everyQuarterHour, at: quarter });
    expect(closedLogs).toEqual(["01"]);
  });

  test("is ignored for a shard that no longer has a database", async () => {
    await runRequestedJobs(platform, { shard: "zz" as never, cron: everyMinute, at: quarter });
    expect(faults).toEqual([]);
  });

  test("records the size of its shard every 15 minutes", async () => {
    await runRequestedJobs(platform, { shard: "01" as never, cron: everyQuarterHour, at: quarter });
    const { results } = await env.DB.prepare("SELECT shard, state, bytes FROM shard_registry").all();
    expect(results).toEqual([{ shard: "01", state: "open", bytes: expect.any(Number) }]);
  });

  test.each([
    [null],
    ["jobs"],
    [{}],
    [{ shard: "0", cron: "* * * * *", at: 1 }],
    [{ shard: "00", cron: 1, at: 1 }],
    [{ shard: "00", cron: "x" }],
  ])("that is not a request for jobs is recognized: %j", (body) => {
    expect(parseJobRequest(body)).toBeNull();
  });
});
