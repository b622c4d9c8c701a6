// Sets up every workerd test file: creates databases with the current schema and the demo businesses.
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { seedDemo, seedPeople, openVaultFromVars } from "../../scripts/demo-world.ts";
import { clockOffsetMs } from "./flakiness.ts";
import { captureLog } from "./captured-log.ts";
import { startNewIsolate, waitUntilSettled } from "./background-work.ts";
import { world, worldInSecondShard } from "./world.ts";

/** Shifts alarms by the test clock's offset, because the runtime fires alarms according to the real clock. */
const postponeAlarms = async (): Promise<void> => {
  if (clockOffsetMs === 0) return;
  const anyObject = env.RATE_LIMITER.getByName("clock");
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

// Test files that share a runtime each run this module, so state that must outlive a file is kept in properties of the bindings.
const usedObjects = Symbol.for("svc.test.used-objects");
const getOriginalByName = Symbol.for("svc.test.rate-limiters");

/** Returns the binding's objects that were used since they were last cleared. Objects that are used later are added to the same map. */
const recordUsedObjects = (objects: DurableObjectNamespace): Map<string, DurableObjectId> => {
  const recorded = Reflect.get(objects, usedObjects) as Map<string, DurableObjectId> | undefined;
  if (recorded !== undefined) return recorded;
  const used = new Map<string, DurableObjectId>();
  const get = objects.get.bind(objects);
  Object.assign(objects, {
    [usedObjects]: used,
    get: (id: DurableObjectId, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
      used.set(id.toString(), id);
      return get(id, options);
    },
    getByName: (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => objects.get(objects.idFromName(name), options),
  });
  return used;
};

/**
 * Deletes what Durable Objects store. The runtime's reset skips hibernating objects, so they would keep their data. Objects that have not
 * been used since the last call are skipped, because it takes two milliseconds to open one, and some files use thousands.
 */
const clearObjects = async (): Promise<void> => {
  for (const binding of ["AUDIT_LOG", "EVENT_SEQUENCE", "DELIVERY_QUEUE", "DESTINATION_HOST", "LEDGER_LOG", "INTAKE_JOURNAL"] as const) {
    const objects = env[binding] as DurableObjectNamespace;
    const used = recordUsedObjects(objects);
    const clear = (id: DurableObjectId) =>
      runInDurableObject(objects.get(id), async (_, { storage }) => {
        await storage.deleteAlarm();
        await storage.deleteAll();
      });
    await Promise.all([...used.values()].map(clear));
    used.clear();
  }
  for (const db of [env.DB, env.DB_01]) await db.prepare("SELECT 1").run();
  await env.KV.get("nothing");
};

/** Gives the file its own rate limiters. There are too many of them to clear between two files. */
const startNewRateLimits = (): void => {
  const limiters = env.RATE_LIMITER;
  const getByName: typeof limiters.getByName = Reflect.get(limiters, getOriginalByName) ?? limiters.getByName.bind(limiters);
  const file = crypto.randomUUID();
  Object.assign(limiters, {
    [getOriginalByName]: getByName,
    getByName: (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => getByName(`${file} ${name}`, options),
  });
};

const { forget, show } = captureLog();
beforeEach(forget);
afterEach(({ task }) => {
  if (task.result?.state === "fail") show();
});

// Waits for background work, which would otherwise write to the next file's databases.
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
  // Seeds people only in the first shard, because an email address belongs to one shard.
  if (db === env.DB) await seedPeople(db, await openVaultFromVars(env), demo, Date.now());
}
startNewRateLimits();
