// The browsers of the tests. Found where the machine has them, installed by apt where it has none and can; tests in a
// browser are never skipped, because the page script and the pages run nowhere else.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

/** `headless` takes a third of the processor's time; `whole` also has what only a browser with windows has, as the back-forward cache. */
export type BrowserKind = "headless" | "whole";

const wholeBrowsers = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const headlessShell = "/usr/bin/chromium-headless-shell";

const knownPaths: Readonly<Record<BrowserKind, readonly string[]>> = {
  headless: [headlessShell, ...wholeBrowsers],
  whole: wholeBrowsers,
};

/** Path of a browser: the setting CHROMIUM, else the first well-known place. Throws, saying what to do, when there is none. */
export const findBrowserPath = (kind: BrowserKind = "headless"): string => {
  const chosen = process.env.CHROMIUM;
  const path = chosen === undefined ? knownPaths[kind].find((known) => existsSync(known)) : chosen;
  if (path === undefined)
    throw new Error(
      "The tests need Chromium, and it could not be installed here (that takes apt-get and root or sudo). Install it, or set CHROMIUM to the path of a Chromium or Chrome.",
    );
  if (!existsSync(path)) throw new Error("CHROMIUM names a file that is not there.");
  return path;
};

/** Where Debian puts the others, for `npm run browsers`. */
export const firefoxPath = "/usr/bin/firefox-esr";
export const webkit = {
  driver: "/usr/bin/WebKitWebDriver",
  browser: `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
  screen: "/usr/bin/Xvfb",
};

const commandExists = (name: string): boolean => spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;

let hasFreshLists = false;

/** Installs packages of Debian, where that can be done here. */
export const aptInstall = async (packages: readonly string[]): Promise<boolean> => {
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "--non-interactive"];
  if (!commandExists("apt-get") || (asRoot.length > 0 && !commandExists("sudo"))) return false;
  // A machine that has just started may be installing something itself.
  const install = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--quiet", "--no-install-recommends", ...packages];
  for (const command of [...(hasFreshLists ? [] : [["apt-get", "update", "--quiet"]]), install]) {
    const [program, ...args] = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...command];
    const [status] = await once(spawn(program as string, args, { stdio: ["ignore", 2, 2] }), "close");
    if (status !== 0) return false;
    hasFreshLists = true;
  }
  return true;
};

/** Installs what is missing, and throws as `browserPath` does when there is no browser then. The shell is only the faster way. */
export const ensureBrowsers = async (): Promise<void> => {
  if (process.env.CHROMIUM === undefined) {
    if (!wholeBrowsers.some((path) => existsSync(path))) await aptInstall(["chromium"]);
    if (!existsSync(headlessShell)) await aptInstall(["chromium-headless-shell"]);
  }
  findBrowserPath("headless");
  findBrowserPath("whole");
};
