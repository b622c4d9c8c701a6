// Every test file starts on empty databases of the present schema, holding the demo's businesses.
import { listDurableObjectIds, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { seedDemo, seedPeople, openVaultFromVars } from "../../scripts/demo-world.ts";
import { defaultLimits } from "../../workers/limits.ts";
import { clockOffsetMs } from "./flakiness.ts";
import { captureLog } from "./captured-log.ts";
import { waitUntilSettled } from "./background-work.ts";
import { world, worldInSecondShard } from "./world.ts";

/** The runtime rings alarms by its own clock, which no test can move. */
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

/** A reset passes over what sleeps, as each object does after ten seconds without a call: it would come back with what it held. */
const wakeEventSequences = async (): Promise<void> => {
  for (const binding of ["AUDIT_LOG", "EVENT_SEQUENCE", "LEDGER_LOG"] as const) {
    const objects = env[binding] as DurableObjectNamespace;
    await Promise.all((await listDurableObjectIds(objects)).map((id) => runInDurableObject(objects.get(id), () => {})));
  }
  for (const db of [env.DB, env.DB_01]) await db.prepare("SELECT 1").run();
  await env.KV.get("nothing");
};

/** Likewise what the demo's people, keys and businesses had used of their limits; there are too many limiters to wake them all. */
const resetRateLimits = async (): Promise<void> => {
  const limiters = env.RATE_LIMITER as DurableObjectNamespace;
  const there = new Set((await listDurableObjectIds(limiters)).map(String));
  const { results } = await env.DB.prepare(
    "SELECT id FROM businesses UNION SELECT key_hash FROM api_keys UNION SELECT id FROM members UNION SELECT id FROM consumers",
  ).all<{ id: string }>();
  for (const name of Object.keys(defaultLimits))
    for (const { id } of results) {
      const limiter = limiters.idFromName(`${name}:${id}`);
      if (there.has(String(limiter)))
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

// What a file has asked for, ended half in its databases and half in those of the next, would spoil both.
afterAll(waitUntilSettled, 70_000);
vi.useRealTimers(); // whatever time the file before it left
await wakeEventSequences();
await reset();
await postponeAlarms();
for (const [db, demo] of [
  [env.DB, world],
  [env.DB_01, worldInSecondShard],
] as const) {
  await db.batch(env.TEST_SCHEMA.map((statement) => db.prepare(statement)));
  await seedDemo(db, demo, Date.now());
  if (db === env.DB) await seedPeople(db, await openVaultFromVars(env), demo, Date.now()); // an address belongs to one home
}
await resetRateLimits();
