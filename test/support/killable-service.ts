// Runs the service in a separate process that a test can kill, and opens the service's database file.
import { DatabaseSync } from "node:sqlite";
import { startProgram } from "../../scripts/bench/peers/processes.ts";
import { getShardDatabasePath } from "../../scripts/worker-configuration.ts";

export interface KillableService {
  readonly url: string;
  /** Sends SIGKILL to the runtime and everything it started. Does nothing if the service was already killed. */
  readonly kill: () => Promise<void>;
}

/** Starts the service with a script in this folder, and waits until it listens. */
export const startKillableService = async (
  script: "runtime-child" | "events-child",
  ...args: readonly string[]
): Promise<KillableService> => {
  const { ready, kill } = await startProgram(process.cwd(), [`test/support/${script}.ts`, ...args], {}, /^\{"url"/);
  return { url: (JSON.parse(ready) as { url: string }).url, kill };
};

/** Opens the database file of a service with one shard. */
export const openServiceDatabase = (stateDir: string): DatabaseSync =>
  new DatabaseSync(getShardDatabasePath(stateDir), { timeout: 20_000 });
