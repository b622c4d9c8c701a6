// Vitest projects. `npm test` runs `node` (core, architecture, browser and end-to-end tests) and `workerd` (tests inside the Workers
// runtime). `npm run interop` runs `inspector`, which needs a third-party program that is too large to install with every clone.
import { createHash } from "node:crypto";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig, type Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { buildFinalSchema } from "./test/support/final-schema.ts";
import { sharedVars } from "./test/support/local-vars.ts";
import { createRandomKey } from "./test/support/note-keys.ts";

/** Returns a sort key that depends only on the seed and the file. */
const rankBySeed = (seed: string, { moduleId }: TestSpecification): string =>
  createHash("sha256").update(`${seed} ${moduleId}`).digest("hex");

/** The slowest browser and end-to-end tests, slowest first. If one of them started late, it would run alone at the end. */
const slowestFiles = [
  "browser/share-sheet",
  "browser/withdrawal",
  "browser/app",
  "browser/docs",
  "flows/rows",
  "browser/share-button",
  "browser/verify-page",
  "flows/deploy",
  "flows/upgrade",
];

/**
 * Keeps Vitest's order (largest files first) but runs browser and end-to-end tests first, because they are slow even if the file is small.
 * With TEST_SEED, the order is random, because a file must not depend on the files that ran before it in the same runtime.
 */
class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seed = process.env.TEST_SEED;
    if (seed !== undefined) return files.toSorted((a, b) => (rankBySeed(seed, a) < rankBySeed(seed, b) ? -1 : 1));
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => /\/test\/(?:browser|flows)\//.test(moduleId);
    const slowest = slowestFiles.flatMap((path) => sorted.filter(({ moduleId }) => moduleId.endsWith(`/test/${path}.test.ts`)));
    return [...new Set([...slowest, ...sorted.filter(isSlow), ...sorted])];
  }
}

/**
 * Drops the source maps of packages and generated files, whose lines no stack trace needs. Vitest sends every module with its source map to
 * each runtime, and these maps were almost half of all bytes. Vite ignores the empty map unless the code changes, hence the added line.
 */
const dropUnusedSourceMaps: Plugin = {
  name: "drop-unused-source-maps",
  enforce: "post",
  transform: (code, id) => (/\/node_modules\/|\.gen\.ts$/.test(id) ? { code: `${code}\n`, map: { mappings: "" } } : null),
};

/** Polls wait up to 20 seconds, because the default of one second is too short on a busy machine. */
const poll = { timeout: 20_000 };

/** Runs the tests in a step of the rotation of the index key: `TEST_INDEX_KEYS=both npm test`. */
const indexEncryptionKeys: Readonly<Record<string, string>> = {
  next: `index,1:${createRandomKey(92)}@next`,
  both: `index,1:${createRandomKey(92)}`,
  new: `1:${createRandomKey(92)}`,
};

export default defineConfig({
  test: {
    silent: "passed-only",
    sequence: { sequencer: SlowFirstSequencer },
    projects: [
      {
        plugins: [
          dropUnusedSourceMaps,
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                ...sharedVars,
                INDEX_ENCRYPTION_KEYS: indexEncryptionKeys[process.env.TEST_INDEX_KEYS ?? ""] ?? "",
                STRIPE_SECRET_KEY: "sk_test_of_the_tests",
                STRIPE_WEBHOOK_SECRET: "whsec_of_the_tests_not_a_secret",
                STRIPE_PRICE_BUSINESS: "price_business",
                STRIPE_PRICE_WHITE_GLOVE: "price_white_glove",
                DEV_RATE_SCALE: "1000",
                DEV_BATCH_WINDOW_MS: "200",
                // Sizes of the stress tests. They are small here; `npm run stress` sets the full sizes.
                SOAK_ALARMS: process.env.SOAK_ALARMS ?? "100",
                AT_ONCE: process.env.AT_ONCE ?? "150",
                HISTORIES: process.env.HISTORIES ?? "3",
                HISTORY_SEED: process.env.HISTORY_SEED ?? "1",
                STORM_AGENTS: process.env.STORM_AGENTS ?? "6",
                REDEEMED_CODES: process.env.REDEEMED_CODES ?? "1",
                ANCHORS_A_SECOND: process.env.ANCHORS_A_SECOND ?? "0.2",
                // Set by `npm run stress -- flakiness` (test/support/flakiness.ts).
                TEST_CLOCK_OFFSET_MS: process.env.TEST_CLOCK_OFFSET_MS ?? "0",
                TEST_SEED: process.env.TEST_SEED ?? "0",
                TEST_SCHEMA: [...buildFinalSchema((await readD1Migrations("./d1-migrations")).flatMap(({ queries }) => queries))],
              },
              d1Databases: { DB_01: "svc-test-shard-01" },
              // Tests have no network: a fetch that is not mocked gets this response.
              outboundService: () => new Response("no network in tests", { status: 599 }),
            },
          })),
        ],
        test: {
          name: "workerd",
          include: ["test/{storage,api,durable-objects,jobs,pages,mcp}/**/*.test.{ts,tsx}"],
          setupFiles: ["./test/support/flakiness.ts", "./test/support/worker-setup.ts"],
          isolate: false,
          expect: { poll },
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: 2, // leaves CPU cores for the other project; each worker loads all modules
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "node",
          environment: "node",
          isolate: false, // loading every module again for each file took longer than running most files; tests leave no state behind
          setupFiles: ["./test/support/flakiness.ts"],
          // The WebKit tests run only in `npm run browsers`.
          include: [
            `test/${process.env.TEST_BROWSER === "webkit" ? "webkit" : "{core,architecture,widget,browser,flows,interop}"}/**/*.test.ts`,
          ],
          expect: { poll },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 3, // these tests often wait for other processes
          sequence: { groupOrder: 0 }, // runs before the other project when one command runs both
        },
      },
      {
        test: { name: "inspector", environment: "node", include: ["test/inspector/*.test.ts"], testTimeout: 60_000, hookTimeout: 120_000 },
      },
    ],
  },
});
