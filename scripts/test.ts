// `npm test`: runs all static checks and tests. Arguments after `--` go to vitest.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setPriority } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { ensureBrowsers } from "./browser.ts";
import { ensureThirdPartyTools } from "./third-party-tools.ts";
import { buildAssets } from "./build.ts";
import { printResult, runChecks } from "./checks.ts";
import { withMemoryFolder } from "./memory-folder.ts";
import { updateWorkerBundle } from "./worker-bundle.ts";

const failed: string[] = [];

/** Runs a step and prints its result. If the step throws, prints the error and returns false. */
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
const isSingleProject = options.some((option) => option.startsWith("--project"));
const projects = isSingleProject ? [null] : ["node", "workerd"];
const getResultsPath = (project: string | null): string => `dist/test-results${project === null ? "" : `-${project}`}.json`;

const runProject = async (project: string | null, env: NodeJS.ProcessEnv): Promise<boolean> => {
  // If all given files belong to the other project, this one must not fail.
  const only = project === null ? [] : [`--project=${project}`, "--passWithNoTests"];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${getResultsPath(project)}`];
  const child = spawn("node_modules/.bin/vitest", ["run", ...only, ...reporters, ...options], { stdio: ["ignore", "pipe", "pipe"], env });
  // The node tests run at a lower priority, because they often wait for other processes. At equal priority, the workerd tests, which never
  // wait, finish two minutes after them.
  if (project === "node" && child.pid !== undefined) setPriority(child.pid, 4);
  // Prints line by line, so that lines from the two projects do not mix.
  createInterface(child.stdout).on("line", (line) => console.log(line));
  createInterface(child.stderr).on("line", (line) => console.error(line));
  const [status] = await once(child, "close");
  return status === 0;
};

/** Runs checks and test projects in parallel: installing tools waits for the network, and browser tests leave CPU time unused. */
const runAll = (): Promise<void> =>
  withMemoryFolder(async (folder) => {
    // The V8 flags that keep a local service small would slow the tests down: they would spend a quarter of their time on garbage
    // collection, and the runtime could not use its compile cache. An empty string turns the flags off, because miniflare.ts sets them only
    // if they are undefined. Node's own compile cache helps, because many processes load the same runtime tools.
    const inMemory = folder !== null && { TMPDIR: folder, NODE_COMPILE_CACHE: join(folder, "compiled") };
    const env = { ...process.env, MINIFLARE_WORKERD_V8_FLAGS: "", ...inMemory };
    const checks = runChecks();
    const runs = isSingleProject ? [] : [runProject("workerd", env)]; // start this project first, because it needs no installed tools
    if (
      (await runStep("browsers", ensureBrowsers)) &&
      (await runStep("third-party tools (Go, openssl, Python, PHP)", ensureThirdPartyTools))
    )
      runs.push(runProject(isSingleProject ? null : "node", env));
    if ((await Promise.all(runs)).includes(false)) failed.push("tests");
    failed.push(...(await checks));
  });

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Reads vitest's reports. A project has no report if it found no tests, or if it crashed before it wrote one. */
const readReports = (): readonly Report[] =>
  projects
    .map(getResultsPath)
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, "utf8")) as Report);

/** Prints each failed test again at the end, because some systems keep only the end of a long log. */
const printFailures = (reports: readonly Report[]): void => {
  for (const { name, assertionResults } of reports.flatMap((report) => report.testResults))
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === "failed") console.error(`✗ ${relative(".", name)} > ${fullName}\n${failureMessages.join("\n")}`);
};

const startedAt = performance.now();
for (const project of projects) rmSync(getResultsPath(project), { force: true });
console.log("svc: all checks");
// The type checks and the tests need the generated files.
if ((await runStep("page script, styles", buildAssets)) && (await runStep("bundle of the Worker", () => updateWorkerBundle())))
  await runAll();

const reports = readReports();
const sum = (name: "numPassedTests" | "numFailedTests"): number => reports.reduce((total, report) => total + report[name], 0);
printFailures(reports);
console.log(`${sum("numPassedTests")} passed, ${sum("numFailedTests")} failed`);
if (sum("numPassedTests") + sum("numFailedTests") === 0) failed.push("no tests were found");
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}.`);
console.log(
  `${failed.length === 0 ? "All checks passed" : "Some checks failed"} in ${Math.round((performance.now() - startedAt) / 1_000)} s.`,
);
process.exit(failed.length === 0 ? 0 : 1);
