// Prepares the databases of a local service: migrations, the demo accounts and, unless the service should start empty, a month of demo data.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { firstShard } from "../core/ids.ts";
import { dayMs } from "../core/time.ts";
import { openMonthReplay, type MonthReplay, type ReplayedMonth, type ReplayOptions } from "./demo-month.ts";
import { openVaultFromVars, seedDemo, seedPeople, type DemoWorld } from "./demo-world.ts";
import { prepareDatabases, type D1Like } from "./local-runtime.ts";

const accountAgeMs = 45 * dayMs; // so that the accounts are older than their month of data

const hasCertificates = async (db: D1Like, businessId: string): Promise<boolean> =>
  (await db.prepare("SELECT 1 FROM certificates WHERE business_id = ? LIMIT 1").bind(businessId).first()) !== null;

/** Returns whether the folder holds databases, which may already contain the month of demo data. */
const hasDatabases = (stateDir: string): boolean => existsSync(join(stateDir, "v3"));

/**
 * Prepares the databases. Existing accounts stay unchanged. The month is replayed only if the business `world.acme` has no certificates
 * yet; otherwise returns null. Throws as `prepareDatabases` and `MonthReplay.run` do.
 */
export const prepareDemoData = async (
  options: ReplayOptions,
  world: DemoWorld,
  { isEmpty }: { readonly isEmpty: boolean },
): Promise<ReplayedMonth | null> => {
  let opened: Promise<MonthReplay> | null = null;
  const openReplay = (): Promise<MonthReplay> => {
    opened ??= openMonthReplay(options);
    return opened;
  };
  if (!isEmpty && !hasDatabases(options.stateDir)) openReplay().catch(() => undefined); // starts while the databases are prepared
  try {
    const vault = await openVaultFromVars(options.vars);
    let isUsed = false;
    const seed = async (db: D1Like, shard: string): Promise<void> => {
      if (shard !== firstShard) return;
      const createdAt = isEmpty ? Date.now() : Date.now() - accountAgeMs;
      await seedDemo(db, world, createdAt);
      await seedPeople(db, vault, world, createdAt);
      isUsed = await hasCertificates(db, world.acme.id);
    };
    await prepareDatabases({ ...options, seed });
    return isEmpty || isUsed ? null : await (await openReplay()).run(world);
  } finally {
    await (opened as Promise<MonthReplay> | null)?.then(
      (replay) => replay.close(),
      () => undefined,
    );
  }
};
