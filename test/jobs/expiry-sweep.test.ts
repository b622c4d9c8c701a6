// Tests that expired rows are deleted as fast as new ones are created. At 100 certificates per second, the service saves 6,000 idempotent
// responses per minute.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { minuteMs } from "../../core/time.ts";
import { openShards } from "../../storage/shards.ts";
import { deleteExpired } from "../../workers/background/expiry-sweep.ts";
import { withBudget } from "../../workers/operations/work-budget.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";

const base = await getPlatform(env);
const now = Date.now();

/** Inserts `count` saved responses of idempotent requests. The responses expire at `at`. */
const insertResponsesUntil = (prefix: string, count: number, at: number): Promise<unknown> =>
  env.DB.prepare(
    `INSERT INTO idempotent_responses (key_hash, body_hash, status, response_sealed, expires_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT ?2 || i, 'b', 201, 's', ?3 FROM n`,
  )
    .bind(count, prefix, at)
    .run();
const insertSessionsUntil = (count: number, at: number): Promise<unknown> =>
  env.DB.prepare(
    `INSERT INTO sessions (token_hash, realm, user_id, created_at, expires_at)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT 'ended' || i, 'consumer', 'none', 0, ?2 FROM n`,
  )
    .bind(count, at)
    .run();
const countLeft = async (table: "idempotent_responses" | "sessions"): Promise<number> =>
  (await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table}`).first<{ n: number }>())?.n ?? -1;

test("one minute deletes all expired rows and no others", async () => {
  await insertResponsesUntil("expired", 20_500, now);
  await insertResponsesUntil("kept", 3, now + minuteMs);
  await insertSessionsUntil(1_500, now);
  await deleteExpired({ ...base, clock: () => now });
  expect([await countLeft("idempotent_responses"), await countLeft("sessions")]).toEqual([3, 0]);
});

test("a minute stops at its time limit, and the next one continues", async () => {
  await insertResponsesUntil("slow", 5_000, now);
  let at = now;
  const slow: Platform = {
    ...base,
    shards: openShards({ DB: env.DB }), // one shard, because the current minute determines which of several shards the job starts with
    clock: () => {
      at += 4_000;
      return at;
    },
  };
  await deleteExpired(withBudget(slow, { maxMs: 20_000, maxQueries: 400 }));
  const remaining = await countLeft("idempotent_responses");
  expect(remaining).toBeGreaterThan(3);
  expect(remaining).toBeLessThan(5_003);
  await deleteExpired({ ...base, clock: () => now });
  expect(await countLeft("idempotent_responses")).toBe(3);
});
