// Health checks for the databases, KV and encryption. The results contain the names of failed checks, but no error messages.
import { isDatabaseHealthy, isKeyValueHealthy } from "../../../storage/health.ts";
import type { ReadDependencies, Runtime, Stores } from "../dependencies.ts";

const measureCheck = async (services: Runtime, check: () => Promise<boolean>) => {
  const start = services.clock();
  try {
    const ok = await check();
    return { ok, latencyMs: services.clock() - start };
  } catch {
    return { ok: false, latencyMs: services.clock() - start }; // the storage layer has already logged the error
  }
};

const canReadDatabases = async (services: Stores): Promise<boolean> => {
  const shards = services.shards.all();
  const results = await Promise.all(shards.map(([, db]) => isDatabaseHealthy(db)));
  return shards.length > 0 && results.every((isHealthy) => isHealthy);
};

const canSealAndOpen = async (services: Stores): Promise<boolean> => {
  const context = { table: "health", record: "health", field: "probe", owner: "health" };
  return (await services.vault.open(context, await services.vault.seal(context, "probe"))) === "probe";
};

/** Runs all checks. Latencies are in milliseconds. `failing` lists the names of the checks that failed. Never throws. */
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
