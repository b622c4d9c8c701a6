// `npm run stress`: the storms of the test suite at full length, one after the other. `npm test` runs the same tests in a short form.
//   npm run stress                  all of them, some hours on two cores; most of an hour without `chance`
//   npm run stress -- hour lanes    these only
// A setting of a storm that is given in the environment stays: OUTAGE_MS=5000 npm run stress -- outage
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ensureBrowsers } from "./browser.ts";
import { buildAssets } from "./build.ts";
import { flakinessRounds, type FlakinessRound } from "./flakiness.ts";
import { ensureThirdPartyTools } from "./third-party-tools.ts";

interface StressTest {
  readonly description: string;
  readonly settings: Readonly<Record<string, string>>;
  /** What of the suite is run: arguments of vitest. */
  readonly tests: readonly string[];
  /** Once for each of these, with its settings; once when there are none. */
  readonly rounds?: readonly (() => FlakinessRound)[];
}

const createForProject =
  (project: string) =>
  (does: string, settings: StressTest["settings"], ...tests: readonly string[]): StressTest => ({
    description: does,
    settings,
    tests: ["--project", project, ...tests],
  });
const nodeTest = createForProject("node");
const workerdTest = createForProject("workerd");

const stressTests: Readonly<Record<string, StressTest>> = {
  kills: nodeTest("the service killed twenty times under submissions and withdrawals", { KILL_ROUNDS: "20" }, "test/flows/kill.test.ts"),
  events: nodeTest("the service killed eight times under six hundred events (W1)", { EVENT_KILLS: "8" }, "test/flows/events-kill.test.ts"),
  neighbors: nodeTest(
    "five thousand events to one endpoint, and beside another business's feed (W27, W19)",
    { BESIDE_EVENTS: "5000" },
    "test/flows/receivers.test.ts",
  ),
  outage: nodeTest(
    "a database that refuses every write for thirty seconds (W6)",
    { OUTAGE_MS: "30000" },
    "test/flows/database-outage.test.ts",
  ),
  hour: workerdTest(
    "a ledger that is down for an hour at fifty statements a second (O2)",
    { ANCHORS_A_SECOND: "50" },
    "test/jobs/anchoring-hour.test.ts",
  ),
  queues: workerdTest(
    "ten thousand alarms of a lane, and of two side by side (W31)",
    { SOAK_ALARMS: "10000" },
    "test/durable-objects/delivery-queue-soak.test.ts",
  ),
  bytes: nodeTest(
    "every byte of an evidence pack changed, and random bytes in each of its files (T1)",
    { BYTE_STEP: "1", TAMPER_TIMES: "8" },
    "test/core/verifier/every-byte.test.ts",
    "test/core/verifier/tamper.test.ts",
  ),
  tiles: nodeTest("every two sizes of a log up to 1,300 connected (L1)", { PAIR_STEP: "1" }, "test/core/ledger/tiles.test.ts"),
  guesses: nodeTest(
    "a million telephone numbers guessed at the commitments of a certificate (F8)",
    { GUESSES: "1000000" },
    "test/core/certificates/subject.test.ts",
  ),
  once: workerdTest(
    "a thousand at once: redemptions of each of a hundred codes, answers, guesses, exchanges of a code for a token (P1, O2, W2)",
    { AT_ONCE: "1000", REDEEMED_CODES: "100" },
    ...["test/api/share-abuse.test.ts", "test/api/withdrawal-abuse.test.ts", "test/mcp/oauth.test.ts", "-t", "(?:P1|O2|W2|many)\\b"],
  ),
  shares: workerdTest("a thousand random histories of sharing against a model", { HISTORIES: "1000" }, "test/jobs/share-histories.test.ts"),
  agents: workerdTest(
    "sixty persons with three assistants each, at once, whose tokens end in the middle",
    { STORM_AGENTS: "60" },
    "test/mcp/storm.test.ts",
  ),
  flakiness: {
    description: "the tests of the rules and of the runtime twenty times, with the clock and the random values changed",
    settings: {},
    tests: ["test/core/", "test/storage/", "test/api/", "test/durable-objects/", "test/jobs/", "test/pages/", "test/mcp/"],
    rounds: flakinessRounds,
  },
};

/** The service's own log, the heading that vitest gives to each line of it, and what the runtime says of hosts that are not there. */
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

/** Every round is run, whatever became of those before it. */
const runRounds = async (storm: StressTest): Promise<boolean> => {
  if (storm.rounds === undefined) return runTests(storm, "verbose");
  let passed = true;
  for (const round of storm.rounds) {
    const { name, settings } = round();
    console.log(name);
    if (await runTests({ tests: storm.tests, settings: { ...storm.settings, ...settings } }, "dot")) continue;
    console.log(`${name}: FAILED`);
    passed = false;
  }
  return passed;
};

const requestedNames = process.argv.slice(2);
const unknownNames = requestedNames.filter((name) => stressTests[name] === undefined);
if (unknownNames.length > 0) {
  console.error(`stress: ${unknownNames.join(", ")}: not one of ${Object.keys(stressTests).join(", ")}.`);
  process.exit(2);
}
// What the tests read, in a fresh clone too.
await buildAssets();
await ensureBrowsers();
await ensureThirdPartyTools();
const failed: string[] = [];
for (const [name, storm] of Object.entries(stressTests)) {
  if (requestedNames.length > 0 && !requestedNames.includes(name)) continue;
  const began = performance.now();
  console.log(`\n${name}: ${storm.description}`);
  if (!(await runRounds(storm))) failed.push(name);
  console.log(`${name}: ${failed.includes(name) ? "FAILED" : "passed"} in ${Math.round((performance.now() - began) / 1_000)} s`);
}
if (failed.length > 0) console.error(`\nFailed: ${failed.join(", ")}.`);
process.exit(failed.length === 0 ? 0 : 1);
