// Sets up every workerd test file: creates databases with the current schema and the demo businesses.
import { listDurableObjectIds, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { seedDemo, seedPeople, openVaultFromVars } from "../../scripts/demo-world.ts";
import { defaultLimits } from "../../workers/limits.ts";
import { clockOffsetMs } from "./flakiness.ts";
import { captureLog } from "./captured-log.ts";
import { startNewIsolate, waitUntilSettled } from "./background-work.ts";
import { world, worldInSecondShard } from "./world.ts";

/** Shifts alarms by the test clock's offset, because the runtime fires them by the real clock. */
const postponeAlarms = async (): Promise<void> => {
  if (clockOffsetMs === 0) return;
  const anyObject = (env.RATE_LIMITER as DurableObjectNamespace).getByName("clock");
  await runInDurableObject(anyObject, (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage) as DurableObjectStorage;
    const { setAlarm, getAlarm } = prototype;
    if (Object.hasOwn(setAlarm, "isMoved")) return;
    prototype.setAlarm = Object.assign(
      function (this: DurableObjectStorage, at: number | Date) {
        return setAlarm.call(this, Number(at) - clockOffsetMs);
      },
      { isMoved: true },
    );
    prototype.getAlarm = async function (this: DurableObjectStorage) {
      const at = await getAlarm.call(this);
      return at === null ? null : at + clockOffsetMs;
    };
  });
};

/** Deletes what Durable Objects store. The reset skips objects that hibernate, so they would keep their data. */
const clearObjects = async (): Promise<void> => {
  for (const binding of ["AUDIT_LOG", "EVENT_SEQUENCE", "DELIVERY_QUEUE", "DESTINATION_HOST", "LEDGER_LOG", "INTAKE_JOURNAL"] as const) {
    const objects = env[binding] as DurableObjectNamespace;
    const clear = (id: DurableObjectId) =>
      runInDurableObject(objects.get(id), async (_, { storage }) => {
        await storage.deleteAlarm();
        await storage.deleteAll();
      });
    await Promise.all((await listDurableObjectIds(objects)).map(clear));
  }
  for (const db of [env.DB, env.DB_01]) await db.prepare("SELECT 1").run();
  await env.KV.get("nothing");
};

/**
 * Clears the rate limiters of the demo's people, keys and businesses. Only these are cleared, because there are too many limiters to start
 * all of them.
 */
const resetRateLimits = async (): Promise<void> => {
  const limiters = env.RATE_LIMITER as DurableObjectNamespace;
  const existingIds = new Set((await listDurableObjectIds(limiters)).map(String));
  const { results } = await env.DB.prepare(
    "SELECT id FROM businesses UNION SELECT key_hash FROM api_keys UNION SELECT id FROM members UNION SELECT id FROM consumers",
  ).all<{ id: string }>();
  for (const name of Object.keys(defaultLimits))
    for (const { id } of results) {
      const limiter = limiters.idFromName(`${name}:${id}`);
      if (existingIds.has(String(limiter)))
        await runInDurableObject(limiters.get(limiter), (_, { storage }) => {
          storage.sql.exec("DELETE FROM calls");
        });
    }
};

const { forget, show } = captureLog();
beforeEach(forget);
afterEach(({ task }) => {
  if (task.result?.state === "fail") show();
});

// Background work that outlives the file would write to the next file's databases.
afterAll(waitUntilSettled, 70_000);
vi.useRealTimers(); // the previous file may have left fake timers installed
await clearObjects();
await reset();
await startNewIsolate();
await postponeAlarms();
for (const [db, demo] of [
  [env.DB, world],
  [env.DB_01, worldInSecondShard],
] as const) {
  await db.batch(env.TEST_SCHEMA.map((statement) => db.prepare(statement)));
  await seedDemo(db, demo, Date.now());
  if (db === env.DB) await seedPeople(db, await openVaultFromVars(env), demo, Date.now()); // an email address belongs to one shard
}
await resetRateLimits();
