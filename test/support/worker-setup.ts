// Every test file starts on empty, migrated databases holding the demo's businesses.
import { applyD1Migrations, listDurableObjectIds, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, vi } from "vitest";
import { seedDemo, seedPeople, vaultOf } from "../../scripts/demo-world.ts";
import { clockOffsetMs } from "./chance.ts";
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
const wakeAll = async (): Promise<void> => {
  for (const binding of ["RATE_LIMITER", "AUDIT_LOG", "BUSINESS_LOG", "ENDPOINT_LANE", "LEDGER_LOG"] as const) {
    const objects = env[binding] as DurableObjectNamespace;
    for (const id of await listDurableObjectIds(objects)) await runInDurableObject(objects.get(id), () => {});
  }
  for (const db of [env.DB, env.DB_01]) await db.prepare("SELECT 1").run();
  await env.KV.get("nothing");
};

// What a file has asked for, ended half in its databases and half in those of the next, would spoil both.
afterAll(settled, 70_000);
vi.useRealTimers(); // whatever time the file before it left
await wakeAll();
await reset();
await moveAlarms();
for (const [db, demo] of [
  [env.DB, world],
  [env.DB_01, worldInSecondHome],
] as const) {
  await applyD1Migrations(db, env.TEST_MIGRATIONS);
  await seedDemo(db, demo, Date.now());
  if (db === env.DB) await seedPeople(db, await vaultOf(env), demo, Date.now()); // an address belongs to one home
}
