// `npm test`: everything there is to check, in one command. Arguments after `--` go to vitest.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { ensureBrowsers } from "./browser.ts";
import { ensureForeignTools } from "./foreign-tools.ts";
import { buildAssets } from "./build.ts";
import { report, runChecks } from "./checks.ts";
import { bundleWorker } from "./local-runtime.ts";
import { withFolderInMemory } from "./memory.ts";

const resultsPath = "dist/test-results.json";

const failed: string[] = [];

/** Steps that the rest builds on: the first one that fails ends the run. */
const prepare = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
  const start = performance.now();
  try {
    const value = await work();
    report(true, name, start);
    return value;
  } catch (error) {
    report(false, name, start);
    console.error(error instanceof Error ? error.message : error);
    console.error(`\nFailed: ${name}.`);
    process.exit(1);
  }
};

const runTests = (): void => {
  rmSync(resultsPath, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${resultsPath}`];
  const options = ["run", "--project=node", "--project=workerd", ...reporters, ...process.argv.slice(2)];
  const { status } = withFolderInMemory((folder) =>
    spawnSync("node_modules/.bin/vitest", options, {
      stdio: "inherit",
      // The settings that keep a service small (local-runtime.ts) would have the tests collect garbage for a quarter of their time.
      env: { ...process.env, MINIFLARE_WORKERD_V8_FLAGS: undefined, ...(folder !== null && { TMPDIR: folder }) },
    }),
  );
  if (status !== 0) failed.push("tests");
};

/** `N passed, N failed`, from what vitest wrote; nothing when it died before writing. */
const summary = (): string | null => {
  if (!existsSync(resultsPath)) return null;
  const results = JSON.parse(readFileSync(resultsPath, "utf8")) as Record<"numPassedTests" | "numFailedTests", number>;
  return `${results.numPassedTests} passed, ${results.numFailedTests} failed`;
};

const start = performance.now();
console.log("svc: every check");
await prepare("page script, styles", buildAssets); // the type checks read what it generates
await prepare("bundle of the Worker", bundleWorker);
// Side by side: installing waits for the network, checking for the processor.
const checks = runChecks();
await prepare("browsers", ensureBrowsers);
await prepare("tools of others (Go, openssl, Python, PHP)", ensureForeignTools); // after the browser: apt works for one at a time
failed.push(...(await checks));
runTests();

const counted = summary();
if (counted !== null) console.log(counted);
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}.`);
console.log(
  `${failed.length === 0 ? "Everything passed" : "Not everything passed"} in ${Math.round((performance.now() - start) / 1_000)} s.`,
);
process.exit(failed.length === 0 ? 0 : 1);
