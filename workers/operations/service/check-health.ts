// Each store answers a small question; a store that does not is named, with nothing of its error.
import { isDatabaseHealthy, isKeyValueHealthy } from "../../../storage/health.ts";
import type { ReadDependencies, Runtime, Stores } from "../dependencies.ts";

const measureCheck = async (services: Runtime, question: () => Promise<boolean>) => {
  const start = services.clock();
  try {
    const ok = await question();
    return { ok, latencyMs: services.clock() - start };
  } catch {
    return { ok: false, latencyMs: services.clock() - start }; // the outcome is the answer; the fault is storage's to log
  }
};

const canReadDatabases = async (services: Stores): Promise<boolean> => {
  const homes = services.shards.all();
  const answers = await Promise.all(homes.map(([, db]) => isDatabaseHealthy(db)));
  return homes.length > 0 && answers.every((answer) => answer);
};

const canSealAndOpen = async (services: Stores): Promise<boolean> => {
  const place = { table: "health", record: "health", field: "probe", owner: "health" };
  return (await services.vault.open(place, await services.vault.seal(place, "probe"))) === "probe";
};

/** With the names of the checks that failed. */
export const checkHealth = async (services: ReadDependencies) => {
  const [database, kv, crypto] = await Promise.all([
    measureCheck(services, () => canReadDatabases(services)),
    measureCheck(services, () => isKeyValueHealthy(services.kv)),
    measureCheck(services, () => canSealAndOpen(services)),
  ]);
  const checks = { database, kv, crypto };
  return { checks, failing: Object.entries(checks).flatMap(([name, check]) => (check.ok ? [] : [name])), at: services.clock() };
};

export type Health = Awaited<ReturnType<typeof checkHealth>>;
