// Checks, before `npm start` writes anything, whether the local service can run, and says what to do if it cannot.
import { createServer } from "node:net";
import { listFaultsOfGiven } from "./config-faults.ts";
import { assertPort, devVarsPath, StartRefusal, type LocalSettings } from "./settings.ts";

export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

export interface SettingsProblem {
  readonly text: string;
  readonly fix: string;
}

/**
 * Returns the invalid settings in .dev.vars and the environment, and how to correct them; null if there are none. Settings that only
 * wrangler.toml contains are not checked.
 */
export const findSettingsProblem = async ({
  vars,
  stateDir,
}: Pick<LocalSettings, "vars" | "stateDir">): Promise<SettingsProblem | null> => {
  const faults = await listFaultsOfGiven(vars);
  if (faults.length === 0) return null;
  return {
    text: `Settings in ${devVarsPath} or the environment are invalid: ${faults.join(", ")}.`,
    fix: `Correct or delete these settings (docs/reference/settings.md). If an earlier version of svc wrote ${devVarsPath}, delete ${devVarsPath} and ${stateDir}: npm start then creates new keys and an empty database.`,
  };
};

/** Throws with instructions if a port or the settings are invalid, or if a port is used twice or in use. */
export const assertCanStart = async (settings: LocalSettings): Promise<void> => {
  const ports = [
    ["PORT", settings.port],
    ["DEMO_PORT", settings.demoPort],
  ] as const;
  for (const [name, port] of ports) assertPort(name, port);
  if (settings.port === settings.demoPort && settings.port !== 0) throw new StartRefusal("PORT and DEMO_PORT must be different.");
  const problem = await findSettingsProblem(settings);
  if (problem !== null) throw new StartRefusal(`${problem.text}\n${problem.fix}`);
  for (const [name, port] of ports)
    if (!(await isPortFree(port)))
      throw new StartRefusal(`Port ${port} is already in use. Stop the program that uses it, or choose another port with ${name}.`);
};
