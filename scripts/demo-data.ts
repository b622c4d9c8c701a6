// Prepares the databases of a local service: migrations, the demo accounts and, unless the service should start empty, a month of demo
// data.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasStoredData } from "./export/local-stores.ts";
import { sha256Hex } from "../core/hash.ts";
import { firstShard } from "../core/ids.ts";
import { dayMs } from "../core/time.ts";
import { openMonthReplay, type MonthReplay, type ReplayedMonth, type ReplayOptions } from "./demo-month.ts";
import { openVaultFromVars, seedDemo, seedPeople, type DemoWorld } from "./demo-world.ts";
import { prepareDatabases, UnusableStateError, type D1Like } from "./local-databases.ts";
import type { RuntimeOptions } from "./local-runtime.ts";

const accountAgeMs = 45 * dayMs; // the accounts must be older than the month of data

/** Returns whether the database has certificates, or businesses that are not in the demo, for example after an import. */
const isInUse = async (db: D1Like, { acme, other, examples }: DemoWorld): Promise<boolean> => {
  const ids = [acme, other, ...Object.values(examples)].map(({ id }) => id);
  const sql = "SELECT 1 FROM certificates UNION ALL SELECT 1 FROM businesses WHERE id NOT IN (SELECT value FROM json_each(?)) LIMIT 1";
  return (await db.prepare(sql).bind(JSON.stringify(ids)).first()) !== null;
};

type DemoDataOptions = ReplayOptions & Pick<RuntimeOptions, "extraShards">;

/** The record of what `prepareDemoData` last wrote to a state folder. */
interface Preparation {
  /** A hash of everything that determines which rows are written, except for the month of demo data. */
  readonly digest: string;
  readonly hasMonth: boolean;
}

const markerName = "prepared.json";
/** The name of a file that exists while the month is being replayed. If it exists later, the replay was interrupted. */
const replayName = "replaying-month";

const computePreparationDigest = ({ vars, extraShards = [] }: DemoDataOptions): string => {
  const files = [...readdirSync("d1-migrations").map((name) => join("d1-migrations", name)), "scripts/demo-world.ts"];
  const contents = files.sort().map((path) => [path, readFileSync(path, "utf8")]);
  return sha256Hex(JSON.stringify([contents, extraShards, vars.ISSUER_KEY, vars.MASTER_KEYS, vars.INDEX_KEY]));
};

/**
 * Returns true if the databases already contain the data that would be written. Reads this from a file, so that a restart does not have to
 * open the databases.
 */
const isPrepared = (stateDir: string, { digest, hasMonth }: Preparation): boolean => {
  if (!hasStoredData(stateDir)) return false;
  try {
    const found = JSON.parse(readFileSync(join(stateDir, markerName), "utf8")) as Preparation;
    return found.digest === digest && (found.hasMonth || !hasMonth);
  } catch {
    return false; // there is no file, or writing it was interrupted
  }
};

/**
 * Prepares the databases, unless they are already prepared. Existing accounts stay unchanged. Then replays the month, unless `isEmpty` is
 * true or the databases already have certificates or other businesses. Returns null if the month was not replayed. Throws
 * UnusableStateError if an earlier replay was interrupted.
 */
export const prepareDemoData = async (
  options: DemoDataOptions,
  world: DemoWorld,
  { isEmpty }: { readonly isEmpty: boolean },
): Promise<ReplayedMonth | null> => {
  const preparation = { digest: computePreparationDigest(options), hasMonth: !isEmpty };
  if (isPrepared(options.stateDir, preparation)) return null;
  const replayPath = join(options.stateDir, replayName);
  if (!isEmpty && existsSync(replayPath))
    throw new UnusableStateError("contains only a part of the demo data, because a start was interrupted");
  let opened: Promise<MonthReplay> | null = null;
  const openReplay = (): Promise<MonthReplay> => {
    opened ??= openMonthReplay(options);
    return opened;
  };
  // Opens the replay while the databases are prepared, to save time.
  if (!isEmpty && !hasStoredData(options.stateDir)) openReplay().catch(() => undefined);
  try {
    const vault = await openVaultFromVars(options.vars);
    let isUsed = false;
    const seed = async (db: D1Like, shard: string): Promise<void> => {
      isUsed ||= await isInUse(db, world);
      if (shard !== firstShard) return;
      const now = Date.now();
      const createdAt = isEmpty ? now : now - accountAgeMs;
      await seedDemo(db, world, createdAt, now);
      await seedPeople(db, vault, world, createdAt);
    };
    await prepareDatabases({ ...options, seed });
    let month: ReplayedMonth | null = null;
    if (!isEmpty && !isUsed) {
      const replay = await openReplay();
      writeFileSync(replayPath, "");
      month = await replay.run(world);
      rmSync(replayPath);
    }
    writeFileSync(join(options.stateDir, markerName), JSON.stringify(preparation));
    return month;
  } finally {
    await (opened as Promise<MonthReplay> | null)?.then(
      (replay) => replay.close(),
      () => undefined,
    );
  }
};
