// `npm test`: everything there is to check, in one command. Arguments after `--` go to vitest.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensureBrowsers } from "./browser.ts";
import { ensureThirdPartyTools } from "./third-party-tools.ts";
import { buildAssets } from "./build.ts";
import { printResult, runChecks } from "./checks.ts";
import { bundleWorker } from "./local-runtime.ts";
import { withMemoryFolder } from "./memory-folder.ts";

const failed: string[] = [];

/** Whether it went well; if not, says why. */
const runStep = async (name: string, work: () => unknown): Promise<boolean> => {
  const start = performance.now();
  try {
    await work();
    printResult(true, name, start);
    return true;
  } catch (error) {
    printResult(false, name, start);
    console.error(error instanceof Error ? error.message : error);
    failed.push(name);
    return false;
  }
};

const options = process.argv.slice(2);
const isOfOneProject = options.some((option) => option.startsWith("--project"));
const projects = isOfOneProject ? [null] : ["node", "workerd"];
const getResultsPath = (project: string | null): string => `dist/test-results${project === null ? "" : `-${project}`}.json`;

const runProject = async (project: string | null, env: NodeJS.ProcessEnv): Promise<boolean> => {
  const only = project === null ? [] : [`--project=${project}`, "--passWithNoTests"]; // files that are named may all be the other's
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${getResultsPath(project)}`];
  const child = spawn("node_modules/.bin/vitest", ["run", ...only, ...reporters, ...options], { stdio: ["ignore", "pipe", "pipe"], env });
  // With equal shares the tests on the runtime end forty seconds after the others, at 10 (below normal) a minute before them.
  if (project === "node" && child.pid !== undefined) setPriority(child.pid, 4);
  // By lines, so that those of one do not end in those of the other.
  createInterface(child.stdout).on("line", (line) => console.log(line));
  createInterface(child.stderr).on("line", (line) => console.error(line));
  const [status] = await once(child, "close");
  return status === 0;
};

/** Side by side: installing waits for the network, and what waits for browsers and services leaves the processor to what computes. */
const runAll = (): Promise<void> =>
  withMemoryFolder(async (folder) => {
    // The settings that keep a service small (local-runtime.ts) would have the tests collect garbage for a quarter of their time.
    // Many processes load the tools of the runtime: the first of them compiles those for all.
    const inMemory = folder !== null && { TMPDIR: folder, NODE_COMPILE_CACHE: join(folder, "compiled") };
    const env = { ...process.env, MINIFLARE_WORKERD_V8_FLAGS: undefined, ...inMemory };
    const checks = runChecks();
    const runs = isOfOneProject ? [] : [runProject("workerd", env)]; // needs nothing that has to be installed
    if ((await runStep("browsers", ensureBrowsers)) && (await runStep("tools of others (Go, openssl, Python, PHP)", ensureThirdPartyTools)))
      runs.push(runProject(isOfOneProject ? null : "node", env));
    if ((await Promise.all(runs)).includes(false)) failed.push("tests");
    failed.push(...(await checks));
  });

/** How many passed and failed, from what vitest wrote; nothing of one that found no tests or died before writing. */
const countResults = (): { readonly passed: number; readonly failed: number } => {
  const written = projects.map(getResultsPath).filter((path) => existsSync(path));
  const results = written.map((path) => JSON.parse(readFileSync(path, "utf8")) as Record<"numPassedTests" | "numFailedTests", number>);
  const sum = (name: "numPassedTests" | "numFailedTests"): number => results.reduce((total, result) => total + result[name], 0);
  return { passed: sum("numPassedTests"), failed: sum("numFailedTests") };
};

const startedAt = performance.now();
for (const project of projects) rmSync(getResultsPath(project), { force: true });
console.log("svc: every check");
// The type checks and the tests read what these generate.
if ((await runStep("page script, styles", buildAssets)) && (await runStep("bundle of the Worker", bundleWorker))) await runAll();

const testCounts = countResults();
console.log(`${testCounts.passed} passed, ${testCounts.failed} failed`);
if (testCounts.passed + testCounts.failed === 0) failed.push("tests: none were found");
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}.`);
console.log(
  `${failed.length === 0 ? "Everything passed" : "Not everything passed"} in ${Math.round((performance.now() - startedAt) / 1_000)} s.`,
);
process.exit(failed.length === 0 ? 0 : 1);
