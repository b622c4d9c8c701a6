// Every test file starts on empty, migrated databases holding the demo's businesses.
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { seedDemo, seedPeople, vaultOf } from "../../scripts/demo-world.ts";
import { world, worldInSecondHome } from "./world.ts";

const settlesMs = 4_000; // changes are gathered for 2 s, their kick is delivered within 1 s, and the work it asks for is short

/** What the file before has asked for may still be under way; ended half in its databases and half in ours, it would spoil both. */
const settled = async (): Promise<void> => {
  const last = await env.DB.prepare("SELECT MAX(at) AS at FROM audit_outbox")
    .first<{ at: number | null }>()
    .catch(() => null); // the first file finds no tables
  if (last === null || last.at === null) return;
  const passed = Math.max(0, Date.now() - last.at); // a test's own clock may have run ahead
  if (passed < settlesMs) await new Promise((resolve) => setTimeout(resolve, settlesMs - passed));
};

await settled();
await reset();
for (const [db, demo] of [
  [env.DB, world],
  [env.DB_01, worldInSecondHome],
] as const) {
  await applyD1Migrations(db, env.TEST_MIGRATIONS);
  await seedDemo(db, demo, Date.now());
  if (db === env.DB) await seedPeople(db, await vaultOf(env), demo, Date.now()); // an address belongs to one home
}
