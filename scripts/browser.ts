// The browser of the tests. Found where the machine has it, installed by apt where it has none and can; tests in a
// browser are never skipped, because the page script and the pages run nowhere else.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

const wellKnown = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The setting CHROMIUM, else the first well-known place; null when there is none. */
const installedBrowser = (): string | null => {
  const chosen = process.env.CHROMIUM;
  if (chosen !== undefined && chosen !== "") return existsSync(chosen) ? chosen : null;
  return wellKnown.find((path) => existsSync(path)) ?? null;
};

const commandExists = (name: string): boolean => spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;

/** Installs packages of Debian, where that can be done here. */
export const aptInstall = async (packages: readonly string[]): Promise<boolean> => {
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "--non-interactive"];
  if (!commandExists("apt-get") || (asRoot.length > 0 && !commandExists("sudo"))) return false;
  for (const command of [
    ["apt-get", "update", "--quiet"],
    ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", ...packages],
  ]) {
    const [program, ...args] = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...command];
    const [status] = await once(spawn(program as string, args, { stdio: ["ignore", 2, 2] }), "close");
    if (status !== 0) return false;
  }
  return true;
};

/** Path of a browser that is there. Throws, saying what to do, when there is none and none can be installed. */
export const ensureBrowser = async (): Promise<string> => {
  const found = installedBrowser();
  if (found !== null) return found;
  if (process.env.CHROMIUM === undefined && (await aptInstall(["chromium"]))) {
    const installed = installedBrowser();
    if (installed !== null) return installed;
  }
  throw new Error(
    process.env.CHROMIUM === undefined
      ? "The tests need Chromium, and it could not be installed here (that takes apt-get and root or sudo). Install it, or set CHROMIUM to the path of a Chromium or Chrome."
      : "CHROMIUM names a file that is not there.",
  );
};
