// Prepares the databases of a local service: migrations, the demo accounts and, unless the service should start empty, a month of demo data.
import { dayMs } from "../core/time.ts";
import { replayDemoMonth, type ReplayedMonth, type ReplayOptions } from "./demo-month.ts";
import { openVaultFromVars, seedDemo, seedPeople, type DemoWorld } from "./demo-world.ts";
import { prepareDatabases, type D1Like } from "./local-runtime.ts";

const accountAgeMs = 45 * dayMs; // accounts with a month of data are older than that month

const hasCertificates = async (db: D1Like, businessId: string): Promise<boolean> =>
  (await db.prepare("SELECT 1 FROM certificates WHERE business_id = ? LIMIT 1").bind(businessId).first()) !== null;

/**
 * Prepares the databases. Existing accounts stay unchanged, and the month is replayed only if the business `world.acme` has no certificates
 * yet. Returns null if it was not replayed. Throws as `prepareDatabases` and `replayDemoMonth` do.
 */
export const prepareDemoData = async (
  options: ReplayOptions,
  world: DemoWorld,
  { isEmpty }: { readonly isEmpty: boolean },
): Promise<ReplayedMonth | null> => {
  const vault = await openVaultFromVars(options.vars);
  let isUsed = false;
  const seed = async (db: D1Like): Promise<void> => {
    const createdAt = isEmpty ? Date.now() : Date.now() - accountAgeMs;
    await seedDemo(db, world, createdAt);
    await seedPeople(db, vault, world, createdAt);
    isUsed = await hasCertificates(db, world.acme.id);
  };
  await prepareDatabases({ ...options, seed });
  return isEmpty || isUsed ? null : replayDemoMonth(options, world);
};
