// Each store answers a small question; a store that does not is named, with nothing of its error.
import type { Instant } from "../../../core/time.ts";
import { databaseAnswers, keyValueAnswers } from "../../../storage/health.ts";
import type { Runtime, Stores } from "../../services.ts";

export interface HealthCheck {
  readonly ok: boolean;
  readonly latencyMs: number;
}

const timed = async (services: Runtime, question: () => Promise<boolean>): Promise<HealthCheck> => {
  const start = services.clock();
  try {
    const ok = await question();
    return { ok, latencyMs: services.clock() - start };
  } catch {
    return { ok: false, latencyMs: services.clock() - start }; // the outcome is the answer; the fault is storage's to log
  }
};

const readsDatabase = async (services: Stores): Promise<boolean> => {
  const homes = services.homes.all();
  const answers = await Promise.all(homes.map(([, db]) => databaseAnswers(db)));
  return homes.length > 0 && answers.every((answer) => answer);
};

const sealsAndOpens = async (services: Stores): Promise<boolean> => {
  const place = { table: "health", record: "health", field: "probe", owner: "health" };
  return (await services.vault.open(place, await services.vault.seal(place, "probe"))) === "probe";
};

export interface Health {
  readonly checks: Record<"database" | "kv" | "crypto", HealthCheck>;
  /** Names of the checks that failed. */
  readonly failing: readonly string[];
  readonly at: Instant;
}

export const checkHealth = async (services: Runtime & Stores): Promise<Health> => {
  const [database, kv, crypto] = await Promise.all([
    timed(services, () => readsDatabase(services)),
    timed(services, () => keyValueAnswers(services.kv)),
    timed(services, () => sealsAndOpens(services)),
  ]);
  const checks = { database, kv, crypto };
  return { checks, failing: Object.entries(checks).flatMap(([name, check]) => (check.ok ? [] : [name])), at: services.clock() };
};
