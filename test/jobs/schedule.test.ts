// Tests the cron runs. If a job fails, the other jobs still run, and the log contains the name of the failed job. Also tests when audit
// logs are called, and which changes are deleted.
import { toAuditLog } from "../support/audit.ts";
import { firstShard, type ShardId } from "../../core/ids.ts";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { minuteMs } from "../../core/time.ts";
import { openShards } from "../../storage/shards.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { deletePassed } from "../../workers/background/change-log-cleanup.ts";
import { requestAuditDrains } from "../../workers/background/audit-drain-requests.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { appendAuditedChanges } from "../support/changes.ts";

const base = await getPlatform(env);
const quarter = Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs;
let faults: string[] = [];

beforeEach(() => {
  faults = [];
});

const createPlatformOn = (db: D1Database, changes: Partial<Platform> = {}): Platform => ({
  ...base,
  shards: openShards({ DB: db }),
  attestors: [],
  log: { ...base.log, error: ({ at }) => void faults.push(at) },
  ...changes,
});

/** Creates a database whose first batch fails. */
const createFlakyDatabase = (): D1Database => {
  let left = 1;
  return new Proxy(env.DB, {
    get: (db, name) => {
      if (name === "batch" && left > 0) {
        left -= 1;
        return () => Promise.reject(new Error("D1_ERROR: the network connection was lost"));
      }
      const value = Reflect.get(db, name);
      return typeof value === "function" ? value.bind(db) : value;
    },
  });
};

const countCheckpoints = async (): Promise<number> =>
  (await env.DB.prepare("SELECT COUNT(*) AS n FROM checkpoints").first<{ n: number }>())?.n ?? 0;

describe("the cron run every 15 minutes", () => {
  test("creates its checkpoint even if the database failed for a moment", async () => {
    const before = await countCheckpoints();
    await runScheduledJobs(createPlatformOn(createFlakyDatabase()), "*/15 * * * *", quarter);
    expect(faults).toEqual(["ledger"]);
    expect(await countCheckpoints()).toBe(before + 1);
  });
});

describe("the audit logs", () => {
  test("are called to drain only when entries wait for them in some shard", async () => {
    const notified: ShardId[] = [];
    const [first, second, third] = [26, 27, 28].map(toAuditLog) as [ShardId, ShardId, ShardId];
    const { DB, DB_01 } = env;
    const platform = {
      ...base,
      shards: openShards({ [`DB_${first}`]: DB, [`DB_${second}`]: DB_01, [`DB_${third}`]: DB_01 }),
      auditLogStub: (shard: ShardId) => {
        notified.push(shard);
        return base.auditLogStub(shard);
      },
    };
    await requestAuditDrains(platform);
    expect(notified).toEqual([]);
    const appendEntry = (db: D1Database, auditLog: ShardId) => appendAuditedChanges(db, [`told ${auditLog}`], auditLog, "c".repeat(32));
    await appendEntry(DB, third);
    await appendEntry(DB_01, second);
    await requestAuditDrains(platform);
    expect(notified.sort()).toEqual([second, third]);
  });
});

describe("the change log", () => {
  test("keeps only the newest change once every reader has moved past the others, including readers without work", async () => {
    const { DB } = env;
    const [busy, idle] = [24, 25].map(toAuditLog) as [ShardId, ShardId];
    const platform = { ...createPlatformOn(DB), shards: openShards({ [`DB_${busy}`]: DB, [`DB_${idle}`]: DB }) };
    const countChanges = () => DB.prepare("SELECT COUNT(*) AS n FROM changes").first<number>("n");
    await appendAuditedChanges(DB, ["first", "second", "third"], busy, "d".repeat(32));
    await deletePassed(platform);
    expect(await countChanges()).toBeGreaterThanOrEqual(3); // no reader has processed them yet
    await base.auditLogStub(busy).drainNow();
    await requestAuditDrains(platform); // moves the position of the other audit log past them without starting that log
    await submitAnchors(platform);
    await deletePassed(platform);
    expect(await countChanges()).toBe(1);
  });
});

describe("the cron run every minute", () => {
  test("runs the other jobs when one throws, and logs the one that throws", async () => {
    const notified: ShardId[] = [];
    const platform = Object.defineProperty(
      createPlatformOn(env.DB, {
        auditLogStub: (shard) => {
          notified.push(shard);
          return base.auditLogStub(shard);
        },
      }),
      "ledgersOf",
      {
        get: () => {
          throw new TypeError("a fault of ours");
        },
      },
    );
    await env.DB.prepare(
      "INSERT INTO idempotent_responses (key_hash, body_hash, status, response_sealed, expires_at) VALUES ('k', 'b', 201, 's', 1)",
    ).run();
    await runScheduledJobs(platform, "* * * * *", quarter);
    expect(faults.sort()).toEqual(["job anchoring", "job change-log-cleanup"]); // only the jobs that need the ledgers fail
    expect(notified).toEqual([firstShard]);
    expect(await env.DB.prepare("SELECT 1 FROM idempotent_responses WHERE key_hash = 'k'").first()).toBeNull();
  });
});
