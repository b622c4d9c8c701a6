// `npm test` runs two projects: `node` for rules, house rules, browsers and whole-runtime flows; `workerd` for everything that runs
// there. `npm run interop` runs a third, with programs of others that are too large to install with every clone.
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { keyKinds } from "./core/ledger/note.ts";
import { buildFinalSchema } from "./test/support/final-schema.ts";
import { createRandomKey, createSecret, deriveVkey } from "./test/support/note-keys.ts";

/** Thirty shards of the audit log, so that a test can have one to itself. */
const auditKeys = await Promise.all(Array.from({ length: 30 }, (_, shard) => createSecret(`svc.test/audit/${shard}`, 40 + shard)));

/** Large files first, as always; but what starts a browser or a service takes long however short it is written. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => /\/test\/(?:browser|flows)\//.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    silent: "passed-only",
    sequence: { sequencer: LongFirst },
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                ENVIRONMENT: "development",
                BASE_URL: "http://svc.test/v1",
                VERIFY_URL: "http://svc.test",
                CDN_URL: "http://svc.test",
                MCP_URL: "http://svc.test/mcp",
                APP_URL: "http://svc.test",
                LEDGER_ORIGIN: "ledger.svc.test/ledger/test",
                MASTER_KEYS: `1:${createRandomKey(1)}`,
                INDEX_KEY: createRandomKey(2),
                ISSUER_KEY: createRandomKey(3),
                LEDGER_KEY: await createSecret("ledger.svc.test/ledger/test", 21),
                LEDGER_WITNESS_KEY: await createSecret("ledger.svc.test/witness", 22, keyKinds.witness),
                LEDGER_WRITE_TOKEN: "write-token-of-the-tests-not-a-secret",
                LEDGER_AUDITOR_TOKEN: "auditor-token-of-the-tests-not-a-secret",
                AUDIT_KEY: auditKeys.join(" "),
                AUDIT_VKEY: (await Promise.all(auditKeys.map(deriveVkey))).join(" "),
                STRIPE_SECRET_KEY: "sk_test_of_the_tests",
                STRIPE_WEBHOOK_SECRET: "whsec_of_the_tests_not_a_secret",
                STRIPE_PRICE_BUSINESS: "price_business",
                STRIPE_PRICE_WHITE_GLOVE: "price_white_glove",
                DEV_RATE_SCALE: "1000",
                DEV_BATCH_WINDOW_MS: "200",
                // How long the storms are: short here, in full by `npm run stress`.
                SOAK_ALARMS: process.env.SOAK_ALARMS ?? "100",
                AT_ONCE: process.env.AT_ONCE ?? "150",
                HISTORIES: process.env.HISTORIES ?? "3",
                HISTORY_SEED: process.env.HISTORY_SEED ?? "1",
                STORM_AGENTS: process.env.STORM_AGENTS ?? "6",
                REDEEMED_CODES: process.env.REDEEMED_CODES ?? "1",
                ANCHORS_A_SECOND: process.env.ANCHORS_A_SECOND ?? "0.2",
                // Moved by `npm run stress -- flakiness` (test/support/flakiness.ts).
                TEST_CLOCK_OFFSET_MS: process.env.TEST_CLOCK_OFFSET_MS ?? "0",
                TEST_SEED: process.env.TEST_SEED ?? "0",
                TEST_SCHEMA: [...buildFinalSchema((await readD1Migrations("./d1-migrations")).flatMap(({ queries }) => queries))],
              },
              d1Databases: { DB_01: "svc-test-home-01" },
              // No test reaches a network: a fetch that nobody stubbed says so.
              outboundService: () => new Response("no network in tests", { status: 599 }),
            },
          })),
        ],
        test: {
          name: "workerd",
          include: ["test/{storage,api,durable-objects,jobs,pages,mcp}/**/*.test.{ts,tsx}"],
          setupFiles: ["./test/support/flakiness.ts", "./test/support/worker-setup.ts"],
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: 2, // beside the other project; each one more loads everything once more
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "node",
          environment: "node",
          isolate: false, // no file leaves anything behind; loading each module again for each file took longer than most of them
          setupFiles: ["./test/support/flakiness.ts"],
          // WebKit's rows of the matrix of browsers are run by `npm run browsers` alone (docs/guides/sharing.md).
          include: [
            `test/${process.env.TEST_BROWSER === "webkit" ? "webkit" : "{core,architecture,widget,browser,flows,interop}"}/**/*.test.ts`,
          ],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 }, // before the other project where one command runs both
        },
      },
      {
        test: { name: "inspector", environment: "node", include: ["test/inspector/*.test.ts"], testTimeout: 60_000, hookTimeout: 120_000 },
      },
    ],
  },
});
