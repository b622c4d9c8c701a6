// Checks whether this machine has what `npm start` and `npm test` need.
import { existsSync, statfsSync, statSync } from "node:fs";
import { devVarsPath, loadLocalSettings, readPort, StartRefusal, type LocalSettings } from "../settings.ts";
import { findSettingsProblem, isPortFree } from "../startup-checks.ts";
import { failure, passed, warning, type Finding } from "./finding.ts";

const neededDiskBytes = 2_000_000_000; // the test suite writes databases and browser profiles to disk

const checkPort = async (setting: "PORT" | "DEMO_PORT", name: string): Promise<Finding> => {
  let port: number;
  try {
    port = readPort(setting);
  } catch (error) {
    return failure((error as Error).message, "Correct or unset it in your shell.");
  }
  if (await isPortFree(port)) return passed(`Port ${port} is free for ${name}.`);
  const isService = await fetch(`http://localhost:${port}/`, { signal: AbortSignal.timeout(2_000) }).then(
    () => true,
    () => false,
  );
  return isService
    ? passed(`Port ${port} responds, as it does while ${name} is running.`)
    : failure(`Port ${port} is used by another program.`, `Stop that program, or set ${setting}.`);
};

const checkDevVars = (path: string): Finding => {
  if (!existsSync(path)) return passed("No .dev.vars yet. npm start creates it.");
  return (statSync(path).mode & 0o077) === 0
    ? passed("Only you can read .dev.vars.")
    : warning("Other users of this machine can read .dev.vars.", "Run chmod 600 .dev.vars.");
};

const checkLocalSettings = async (): Promise<readonly Finding[]> => {
  if (!existsSync(devVarsPath)) return [];
  let settings: LocalSettings;
  try {
    settings = loadLocalSettings();
  } catch (error) {
    if (error instanceof StartRefusal) return [failure(error.message, "Correct or unset it in your shell.")];
    throw error;
  }
  const problem = await findSettingsProblem(settings);
  return [problem === null ? passed("The settings of the local service are valid.") : failure(problem.text, problem.fix)];
};

const checkDisk = (): Finding => {
  const { bavail, bsize } = statfsSync(".");
  const gigabytes = ((bavail * bsize) / 1_000_000_000).toFixed(1);
  return bavail * bsize >= neededDiskBytes
    ? passed(`${gigabytes} GB of disk space is free.`)
    : failure(`Only ${gigabytes} GB of disk space is free.`, "Free at least 2 GB. Databases of npm start are in .wrangler/state.");
};

/** Does not check the packages, because every npm script checks and installs them. */
export const checkMachine = async (): Promise<readonly Finding[]> => {
  const ports = [await checkPort("PORT", "the service"), await checkPort("DEMO_PORT", "the demo site")];
  const settings = await checkLocalSettings();
  return [
    passed(`Node.js ${process.version}, as pinned in package.json.`),
    checkDisk(),
    checkDevVars(devVarsPath),
    ...settings.filter(({ text }) => !ports.some((port) => port.text === text)), // an invalid port is already reported in `ports`
    ...ports,
  ];
};
