// Every test file starts on empty, migrated databases holding the demo's businesses.
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll } from "vitest";
import { seedDemo, seedPeople, vaultOf } from "../../scripts/demo-world.ts";
import { settled } from "./settled.ts";
import { world, worldInSecondHome } from "./world.ts";

// What a file has asked for, ended half in its databases and half in those of the next, would spoil both.
afterAll(settled);
await reset();
for (const [db, demo] of [
  [env.DB, world],
  [env.DB_01, worldInSecondHome],
] as const) {
  await applyD1Migrations(db, env.TEST_MIGRATIONS);
  await seedDemo(db, demo, Date.now());
  if (db === env.DB) await seedPeople(db, await vaultOf(env), demo, Date.now()); // an address belongs to one home
}
