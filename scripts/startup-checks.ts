// Checks, before `npm start` writes anything, whether the local service can run, and says what to do if it cannot.
import { createServer } from "node:net";
import { devVarsPath, StartRefusal, type LocalSettings } from "./settings.ts";

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

/** Reads settings as the Worker does. Returns the faults that it finds. */
const listConfigFaults = async (vars: LocalSettings["vars"]): Promise<readonly string[]> => {
  // The address is a variable, so that the type checker skips this import. It cannot check the Worker's modules and Node's types together.
  const address = new URL("../workers/env.ts", import.meta.url).href;
  const { loadConfig } = (await import(address)) as { readonly loadConfig: (settings: object) => object };
  try {
    loadConfig(vars);
    return [];
  } catch (error) {
    if (error instanceof Error && "faults" in error) return error.faults as readonly string[];
    throw error;
  }
};

/**
 * Returns the invalid settings in .dev.vars and the environment, and how to correct them; null if there are none. Settings that only
 * wrangler.toml contains are not checked.
 */
export const findSettingsProblem = async ({
  vars,
  stateDir,
}: Pick<LocalSettings, "vars" | "stateDir">): Promise<SettingsProblem | null> => {
  const faults = (await listConfigFaults(vars)).filter((fault) => (/^[A-Z0-9_]+/.exec(fault)?.[0] ?? "") in vars);
  if (faults.length === 0) return null;
  return {
    text: `Settings in ${devVarsPath} or the environment are invalid: ${faults.join(", ")}.`,
    fix: `Correct or delete these settings (docs/reference/settings.md). If an earlier version of svc wrote ${devVarsPath}, delete ${devVarsPath} and ${stateDir}: npm start then creates new keys and an empty database.`,
  };
};

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 65_535;

/** Throws with instructions if a port or the settings are invalid, or if a port is in use. */
export const assertCanStart = async (settings: LocalSettings): Promise<void> => {
  const ports = [
    ["PORT", settings.port],
    ["DEMO_PORT", settings.demoPort],
  ] as const;
  for (const [name, port] of ports) if (!isPort(port)) throw new StartRefusal(`${name} must be a port number from 1 to 65535.`);
  const problem = await findSettingsProblem(settings);
  if (problem !== null) throw new StartRefusal(`${problem.text}\n${problem.fix}`);
  for (const [name, port] of ports)
    if (!(await isPortFree(port)))
      throw new StartRefusal(`Port ${port} is already in use. Stop the program that uses it, or choose another port with ${name}.`);
};
