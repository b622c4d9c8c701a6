// `npm run stress`: runs the stress tests at full size, one after another. `npm test` runs the same tests at a small size.
//   npm run stress                           all of them: several hours on two cores, most of it `flakiness`
//   npm run stress -- hour delivery-queue    only these
// Environment variables override the settings of a stress test: OUTAGE_MS=5000 npm run stress -- outage
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ensureBrowsers } from "./browser.ts";
import { buildAssets } from "./build.ts";
import { stressTests, type StressTest } from "./stress-tests.ts";
import { ensureThirdPartyTools } from "./third-party-tools.ts";

/**
 * Matches lines to hide: the service's log lines, the headings that vitest prints above them, and the runtime's messages about unreachable
 * hosts.
 */
const noisePattern = new RegExp(`^(?:${String.fromCharCode(27)}\\[\\d+m)*(?:\\{"|std(?:out|err)\\b|e = |stack: |$)`);

const printOutput = (stream: Readable): void => {
  createInterface({ input: stream }).on("line", (text) => {
    if (!noisePattern.test(text)) console.log(text);
  });
};

const runTests = ({ tests, settings }: Pick<StressTest, "tests" | "settings">, reporter: "verbose" | "dot"): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", ...(reporter === "verbose" ? ["--silent=false"] : []), `--reporter=${reporter}`, ...tests],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...settings, ...pickEnvironment(settings) } },
    );
    printOutput(child.stdout);
    printOutput(child.stderr);
    child.on("close", (status) => resolve(status === 0));
  });

const pickEnvironment = (settings: StressTest["settings"]): Record<string, string> =>
  Object.fromEntries(Object.keys(settings).flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));

/** Runs all rounds, even after one has failed. */
const runStressRounds = async (stressTest: StressTest): Promise<boolean> => {
  if (stressTest.rounds === undefined) return runTests(stressTest, "verbose");
  let passed = true;
  for (const round of stressTest.rounds) {
    const { name, settings } = round();
    console.log(name);
    if (await runTests({ tests: stressTest.tests, settings: { ...stressTest.settings, ...settings } }, "dot")) continue;
    console.log(`${name}: FAILED`);
    passed = false;
  }
  return passed;
};

const requestedNames = process.argv.slice(2);
const unknownNames = requestedNames.filter((name) => stressTests[name] === undefined);
if (unknownNames.length > 0) {
  console.error(`Unknown stress test: ${unknownNames.join(", ")}. Use ${Object.keys(stressTests).join(", ")}.`);
  process.exit(2);
}
// The tests need the built assets, which a fresh clone does not contain.
await buildAssets();
await ensureBrowsers();
await ensureThirdPartyTools();
const failed: string[] = [];
for (const [name, stressTest] of Object.entries(stressTests)) {
  if (requestedNames.length > 0 && !requestedNames.includes(name)) continue;
  const startedAt = performance.now();
  console.log(`\n${name}: ${stressTest.description}`);
  if (!(await runStressRounds(stressTest))) failed.push(name);
  console.log(`${name}: ${failed.includes(name) ? "FAILED" : "passed"} in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}
if (failed.length > 0) console.error(`\nFailed: ${failed.join(", ")}.`);
process.exit(failed.length === 0 ? 0 : 1);
