// Finds the browsers for the tests and installs them with apt if they are missing. Browser tests are never skipped, because only a browser
// can run the page script and render the pages.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

/** `headless` uses a third of the CPU time of `whole`. Only `whole` has every feature of a full browser, such as the back-forward cache. */
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

/**
 * Returns a browser's path: the CHROMIUM environment variable or, if it is not set, the first well-known path that exists. Throws if there
 * is none.
 */
export const findBrowserPath = (kind: BrowserKind = "headless"): string => {
  const chosen = process.env.CHROMIUM;
  const path = chosen === undefined ? knownPaths[kind].find((known) => existsSync(known)) : chosen;
  if (path === undefined)
    throw new Error(
      "The tests need Chromium. It could not be installed automatically, which requires apt-get and root or sudo. Install it, or set CHROMIUM to the path of Chromium or Chrome.",
    );
  if (!existsSync(path)) throw new Error("CHROMIUM is set to a file that does not exist.");
  return path;
};

/** Paths of the other browsers on Debian, for `npm run browsers`. */
export const firefoxPath = "/usr/bin/firefox-esr";
export const webkit = {
  driver: "/usr/bin/WebKitWebDriver",
  browser: `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
  screen: "/usr/bin/Xvfb",
};

const commandExists = (name: string): boolean => spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;

let hasUpdatedLists = false;

/** Installs Debian packages. Returns false if that fails or is not possible on this machine. */
export const aptInstall = async (packages: readonly string[]): Promise<boolean> => {
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "--non-interactive"];
  if (!commandExists("apt-get") || (asRoot.length > 0 && !commandExists("sudo"))) return false;
  // Waits for the package lock, because a machine that has just started may be installing updates.
  const install = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--quiet", "--no-install-recommends", ...packages];
  for (const command of [...(hasUpdatedLists ? [] : [["apt-get", "update", "--quiet"]]), install]) {
    const [program, ...args] = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", ...command];
    const [status] = await once(spawn(program as string, args, { stdio: ["ignore", 2, 2] }), "close");
    if (status !== 0) return false;
    hasUpdatedLists = true;
  }
  return true;
};

/**
 * Installs missing browsers. Throws the error from `findBrowserPath` if a browser is still missing. The headless shell is optional, but
 * faster than the full browser.
 */
export const ensureBrowsers = async (): Promise<void> => {
  if (process.env.CHROMIUM === undefined) {
    if (!wholeBrowsers.some((path) => existsSync(path))) await aptInstall(["chromium"]);
    if (!existsSync(headlessShell)) await aptInstall(["chromium-headless-shell"]);
  }
  findBrowserPath("headless");
  findBrowserPath("whole");
};
