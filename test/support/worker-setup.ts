// Every test file starts on empty databases of the present schema, holding the demo's businesses.
import { listDurableObjectIds, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { seedDemo, seedPeople, vaultOf } from "../../scripts/demo-world.ts";
import { defaultLimits } from "../../workers/limits.ts";
import { clockOffsetMs } from "./chance.ts";
import { keepLog } from "./kept-log.ts";
import { settled } from "./settled.ts";
import { world, worldInSecondHome } from "./world.ts";

/** The runtime rings alarms by its own clock, which no test can move. */
const moveAlarms = async (): Promise<void> => {
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
const wakeLogs = async (): Promise<void> => {
  for (const binding of ["AUDIT_LOG", "BUSINESS_LOG", "LEDGER_LOG"] as const) {
    const objects = env[binding] as DurableObjectNamespace;
    await Promise.all((await listDurableObjectIds(objects)).map((id) => runInDurableObject(objects.get(id), () => {})));
  }
  for (const db of [env.DB, env.DB_01]) await db.prepare("SELECT 1").run();
  await env.KV.get("nothing");
};

/** Likewise what the demo's people, keys and businesses had used of their limits; there are too many limiters to wake them all. */
const forgetUse = async (): Promise<void> => {
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

const { forget, show } = keepLog();
beforeEach(forget);
afterEach(({ task }) => {
  if (task.result?.state === "fail") show();
});

// What a file has asked for, ended half in its databases and half in those of the next, would spoil both.
afterAll(settled, 70_000);
vi.useRealTimers(); // whatever time the file before it left
await wakeLogs();
await reset();
await moveAlarms();
for (const [db, demo] of [
  [env.DB, world],
  [env.DB_01, worldInSecondHome],
] as const) {
  await db.batch(env.TEST_SCHEMA.map((statement) => db.prepare(statement)));
  await seedDemo(db, demo, Date.now());
  if (db === env.DB) await seedPeople(db, await vaultOf(env), demo, Date.now()); // an address belongs to one home
}
await forgetUse();
