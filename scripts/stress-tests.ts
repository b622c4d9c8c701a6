// The stress tests of `npm run stress`: which tests they run, and at what size.
import { flakinessRounds, type FlakinessRound } from "./flakiness.ts";

export interface StressTest {
  readonly description: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Arguments for vitest: project, files and title pattern. */
  readonly tests: readonly string[];
  /** The tests run once per round, with the round's settings. Without rounds, they run once. */
  readonly rounds?: readonly (() => FlakinessRound)[];
}

const createForProject =
  (project: string) =>
  (description: string, settings: StressTest["settings"], ...tests: readonly string[]): StressTest => ({
    description,
    settings,
    tests: ["--project", project, ...tests],
  });
const nodeTest = createForProject("node");
const workerdTest = createForProject("workerd");

export const stressTests: Readonly<Record<string, StressTest>> = {
  kills: nodeTest("20 kills of the service during submissions and withdrawals", { KILL_ROUNDS: "20" }, "test/flows/kill.test.ts"),
  events: nodeTest("8 kills of the service while it delivers 600 events", { EVENT_KILLS: "8" }, "test/flows/events-kill.test.ts"),
  neighbors: nodeTest(
    "5,000 events to one endpoint, and their effect on another business's feed",
    { BESIDE_EVENTS: "5000" },
    "test/flows/receivers.test.ts",
  ),
  deploy: nodeTest("a deployment in which every step fails once", { DEPLOY_FAILURES: "all" }, "test/flows/deploy.test.ts"),
  outage: nodeTest("a database that refuses all writes for 30 seconds", { OUTAGE_MS: "30000" }, "test/flows/database-outage.test.ts"),
  intake: nodeTest(
    "60 kills of the service while its database fails, and 79 submissions per second during a hang of 80 seconds",
    { INTAKE_KILLS: "60", INTAKE_HANG_MS: "80000", INTAKE_WAIT_MS: "" },
    "test/flows/intake.test.ts",
  ),
  "intake-hour": nodeTest(
    "79 submissions per second, of 32 clients, during a hang of one hour",
    { INTAKE_KILLS: "1", INTAKE_HANG_MS: "3600000", INTAKE_CLIENTS: "32", INTAKE_WAIT_MS: "" },
    "test/flows/intake.test.ts",
  ),
  hour: workerdTest(
    "a ledger outage of one hour at 50 statements per second (O2)",
    { ANCHORS_A_SECOND: "50" },
    "test/jobs/anchoring-hour.test.ts",
  ),
  "delivery-queue": workerdTest(
    "10,000 alarms of one delivery queue, and of two queues in parallel",
    { SOAK_ALARMS: "10000" },
    "test/durable-objects/delivery-queue-soak.test.ts",
  ),
  bytes: nodeTest(
    "every byte of an evidence pack changed, and random changes in each of its files (T1)",
    { BYTE_STEP: "1", TAMPER_TIMES: "8" },
    "test/core/verifier/every-byte.test.ts",
    "test/core/verifier/tamper.test.ts",
  ),
  "lying-packs": nodeTest(
    "10,000 evidence packs that lie, built from honest ones by seed (T9)",
    { LYING_PACKS: "10000" },
    "test/core/verifier/lying-packs.test.ts",
  ),
  tiles: nodeTest(
    "consistency proofs between every two sizes of a log up to 1,300 (L1)",
    { PAIR_STEP: "1" },
    "test/core/ledger/tiles.test.ts",
  ),
  guesses: nodeTest(
    "1,000,000 guesses of a phone number against the commitments of a certificate (F8)",
    { GUESSES: "1000000" },
    "test/core/certificates/subject.test.ts",
  ),
  concurrency: workerdTest(
    "1,000 concurrent redemptions of each of 100 codes, withdrawal confirmations, guesses and token exchanges",
    { AT_ONCE: "1000", REDEEMED_CODES: "100" },
    ...["test/api/share-abuse.test.ts", "test/api/withdrawal-abuse.test.ts", "test/mcp/oauth.test.ts", "-t", "(?:P1|O2|many)\\b"],
  ),
  shares: workerdTest("1,000 random share histories compared with a model", { HISTORIES: "1000" }, "test/jobs/share-histories.test.ts"),
  agents: workerdTest(
    "60 people with three assistants each, concurrently, whose tokens expire midway",
    { STORM_AGENTS: "60" },
    "test/mcp/concurrent-agents.test.ts",
  ),
  flakiness: {
    description: "the core and runtime tests 20 times, at other dates, in other orders and with other random seeds",
    settings: {},
    tests: ["test/core/", "test/storage/", "test/api/", "test/durable-objects/", "test/jobs/", "test/pages/", "test/mcp/"],
    rounds: flakinessRounds,
  },
};
