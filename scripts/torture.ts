// `npm run torture`: the storms of the test suite at full length, one after the other. `npm test` runs the same tests in a short form.
//   npm run torture                  all of them, some hours on two cores; most of an hour without `chance`
//   npm run torture -- hour lanes    these only
// A setting of a storm that is given in the environment stays: OUTAGE_MS=5000 npm run torture -- outage
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ensureBrowsers } from "./browser.ts";
import { buildAssets } from "./build.ts";
import { rounds, type Round } from "./chance.ts";
import { ensureForeignTools } from "./foreign-tools.ts";

interface Storm {
  readonly does: string;
  /** What of the suite is run: arguments of vitest. */
  readonly tests: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  /** Once for each of these, with its settings; once when there are none. */
  readonly rounds?: readonly (() => Round)[];
}

const node = (file: string): readonly string[] => ["--project", "node", file];
const workerd = (file: string): readonly string[] => ["--project", "workerd", file];

const storms: Readonly<Record<string, Storm>> = {
  kills: {
    does: "the service killed twenty times under submissions and withdrawals",
    tests: node("test/flows/kill.test.ts"),
    settings: { KILL_ROUNDS: "20" },
  },
  events: {
    does: "the service killed eight times under six hundred events (W1)",
    tests: node("test/flows/events-kill.test.ts"),
    settings: { EVENT_KILLS: "8" },
  },
  beside: {
    does: "five thousand events to one endpoint, and beside another business's feed (W27, W19)",
    tests: node("test/flows/receivers.test.ts"),
    settings: { BESIDE_EVENTS: "5000" },
  },
  outage: {
    does: "a database that refuses every write for thirty seconds (W6)",
    tests: node("test/flows/database-outage.test.ts"),
    settings: { OUTAGE_MS: "30000" },
  },
  hour: {
    does: "a ledger that is down for an hour at fifty statements a second (O2)",
    tests: workerd("test/jobs/anchoring-hour.test.ts"),
    settings: { ANCHORS_A_SECOND: "50" },
  },
  lanes: {
    does: "ten thousand alarms of a lane, and of two side by side (W31)",
    tests: workerd("test/durable-objects/lane-soak.test.ts"),
    settings: { SOAK_ALARMS: "10000" },
  },
  bytes: {
    does: "every byte of an evidence pack changed, and random bytes in each of its files (T1)",
    tests: [...node("test/core/verifier/every-byte.test.ts"), "test/core/verifier/tamper.test.ts"],
    settings: { BYTE_STEP: "1", TAMPER_TIMES: "8" },
  },
  tiles: {
    does: "every two sizes of a log up to 1,300 connected (L1)",
    tests: node("test/core/ledger/tiles.test.ts"),
    settings: { PAIR_STEP: "1" },
  },
  guesses: {
    does: "a million telephone numbers guessed at the commitments of a certificate (F8)",
    tests: node("test/core/certificates/subject.test.ts"),
    settings: { GUESSES: "1000000" },
  },
  once: {
    does: "a thousand at once: redemptions of each of a hundred codes, answers, guesses, exchanges of a code for a token (P1, O2, W2)",
    tests: [
      ...workerd("test/api/share-abuse.test.ts"),
      "test/api/withdrawal-abuse.test.ts",
      "test/mcp/oauth.test.ts",
      "-t",
      "(?:P1|O2|W2|many)\\b",
    ],
    settings: { AT_ONCE: "1000", REDEEMED_CODES: "100" },
  },
  shares: {
    does: "a thousand random histories of sharing against a model",
    tests: workerd("test/jobs/share-histories.test.ts"),
    settings: { HISTORIES: "1000" },
  },
  agents: {
    does: "sixty persons with three assistants each, at once, whose tokens end in the middle",
    tests: workerd("test/mcp/storm.test.ts"),
    settings: { STORM_AGENTS: "60" },
  },
  chance: {
    does: "the tests of the rules and of the runtime twenty times, with the clock and the random values changed",
    tests: ["test/core/", "test/storage/", "test/api/", "test/durable-objects/", "test/jobs/", "test/pages/", "test/mcp/"],
    settings: {},
    rounds,
  },
};

/** The service's own log, the heading that vitest gives to each line of it, and what the runtime says of hosts that are not there. */
const noise = new RegExp(`^(?:${String.fromCharCode(27)}\\[\\d+m)*(?:\\{"|std(?:out|err)\\b|e = |stack: |$)`);

const print = (stream: Readable): void => {
  createInterface({ input: stream }).on("line", (text) => {
    if (!noise.test(text)) console.log(text);
  });
};

const run = ({ tests, settings }: Pick<Storm, "tests" | "settings">, reporter: "verbose" | "dot"): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", ...(reporter === "verbose" ? ["--silent=false"] : []), `--reporter=${reporter}`, ...tests],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...settings, ...given(settings) } },
    );
    print(child.stdout);
    print(child.stderr);
    child.on("close", (status) => resolve(status === 0));
  });

const given = (settings: Storm["settings"]): Record<string, string> =>
  Object.fromEntries(Object.keys(settings).flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));

/** Every round is run, whatever became of those before it. */
const runRounds = async (storm: Storm): Promise<boolean> => {
  if (storm.rounds === undefined) return run(storm, "verbose");
  let passed = true;
  for (const round of storm.rounds) {
    const { name, settings } = round();
    console.log(name);
    if (await run({ tests: storm.tests, settings: { ...storm.settings, ...settings } }, "dot")) continue;
    console.log(`${name}: FAILED`);
    passed = false;
  }
  return passed;
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => storms[name] === undefined);
if (unknown.length > 0) {
  console.error(`torture: ${unknown.join(", ")}: not one of ${Object.keys(storms).join(", ")}.`);
  process.exit(2);
}
// What the tests read, in a fresh clone too.
await buildAssets();
await ensureBrowsers();
await ensureForeignTools();
const failed: string[] = [];
for (const [name, storm] of Object.entries(storms)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const began = performance.now();
  console.log(`\n${name}: ${storm.does}`);
  if (!(await runRounds(storm))) failed.push(name);
  console.log(`${name}: ${failed.includes(name) ? "FAILED" : "passed"} in ${Math.round((performance.now() - began) / 1_000)} s`);
}
if (failed.length > 0) console.error(`\nFailed: ${failed.join(", ")}.`);
process.exit(failed.length === 0 ? 0 : 1);
