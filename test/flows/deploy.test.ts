// Runs `npm run deploy` in a fresh clone as docs/operate/deploy.md describes it: offline as a dry run, and with the real wrangler against a
// simulated Cloudflare API on localhost. One step of the deployment fails once. With `npm run stress -- deploy`, every step fails once.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { addShard } from "../../scripts/add-shard.ts";
import { findResources, getAccount } from "../../scripts/deploy/account.ts";
import { assertHostsFree } from "../../scripts/deploy/hosts.ts";
import { resolveDeployment } from "../../scripts/deploy/config.ts";
import { findPreviousVersion } from "../../scripts/deploy/rollback.ts";
import type { Resource } from "../../scripts/deploy/wrangler-config.ts";
import { signInToken, startCloudflareApi, type CloudflareApi } from "../support/cloudflare-api.ts";

const guide = readFileSync("docs/operate/deploy.md", "utf8");
const domain = "acme-solar.test";
/** With "all", every step fails once. Otherwise only the named step fails once. */
const failingSteps = process.env.DEPLOY_FAILURES ?? "queue";

const clone = mkdtempSync(join(tmpdir(), "svc-clone-"));
const notCloned = /(?:^|\/)(?:node_modules|dist|\.wrangler|\.git|\.dev\.vars|\.deploy|coverage|(?!icons)[^/]*\.gen\.ts)$/;

beforeAll(() => {
  // Preserves file times, because they show whether the installed packages match the lock file.
  cpSync(".", clone, { recursive: true, preserveTimestamps: true, filter: (path) => !notCloned.test(path) });
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

interface CommandResult {
  readonly status: number | null;
  readonly output: string;
}
type Environment = Readonly<Record<string, string>>;
const runProgram = (program: string, words: readonly string[], environment: Environment): Promise<CommandResult> =>
  new Promise((done) => {
    const env = { ...process.env, CI: "1", CLOUDFLARE_API_TOKEN: "", CLOUDFLARE_ACCOUNT_ID: "", ...environment };
    const child = spawn(program, words, { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += String(part)));
    child.on("close", (status) => done({ status, output }));
  });
/** Runs an npm script, such as `deploy --domain acme-solar.test`. */
const runNpm = (script: string, words: string, environment: Environment = {}): Promise<CommandResult> =>
  runProgram("npm", ["run", script, "--", ...words.split(" ")], environment);
/** Runs an npm script without npm, which takes half a second to start. */
const run = (script: string, words: string, environment: Environment = {}): Promise<CommandResult> =>
  runProgram(process.execPath, ["scripts/run.mjs", script, ...words.split(" ")], environment);

const readSecrets = (): Record<string, string> => JSON.parse(readFileSync(join(clone, ".deploy/production.secrets.json"), "utf8"));

// Imported by path, because tsconfig.node.json does not include the types of the Workers runtime.
const { loadConfig } = (await import(resolve("workers/env.ts"))) as {
  readonly loadConfig: (env: object) => { readonly environment: string };
};

/** Returns the Worker's environment if it starts with these settings, or the reason why it does not start. */
const startWith = (settings: object): string => {
  try {
    return loadConfig({ EMAIL: {}, ...settings }).environment;
  } catch (error) {
    return String(error);
  }
};

describe("npm run deploy -- --dry-run", () => {
  test("shows the plan in a fresh clone without an account, bundles the code, and leaves the local service's assets as they are", async () => {
    const served = join(clone, "dist/assets/v1/svc.js");
    mkdirSync(dirname(served), { recursive: true });
    writeFileSync(served, "// of the running local service");
    const { status, output } = await runNpm("deploy", `--domain ${domain} --dry-run`, {
      CLOUDFLARE_API_BASE_URL: "http://127.0.0.1:9",
    });
    expect(status, output).toBe(0);
    for (const line of [
      "needed  D1 database svc",
      "migrate D1 database svc",
      "KV namespace svc-kv",
      "R2 bucket svc-log-tiles",
      "queue svc-anchor-queue",
      `host api.${domain}`,
      "5 USD a month",
    ])
      expect(output).toContain(line);
    expect(existsSync(join(clone, ".deploy/dry-run/bundle/index.js"))).toBe(true);
    expect(existsSync(join(clone, ".deploy/production.secrets.json"))).toBe(false);
    expect(readFileSync(served, "utf8")).toBe("// of the running local service");
    const { assets } = JSON.parse(readFileSync(join(clone, ".deploy/dry-run/production.wrangler.json"), "utf8"));
    expect(existsSync(join(clone, ".deploy/dry-run", assets.directory, "v1/svc.js"))).toBe(true);
    // The first deployment still checks that the hosts are free, because the dry run left no configuration of a deployment.
    const deployment = resolveDeployment({ production: {} }, "production", { domain });
    const findRecord = () => Promise.resolve(["192.0.2.1"]);
    await expect(assertHostsFree(join(clone, ".deploy"), deployment, false, findRecord)).rejects.toThrow(
      `DNS already has records for api.${domain},`,
    );
  }, 180_000);

  test("is described in the guide", () => {
    expect(guide).toContain("npm run deploy -- --domain example.com --dry-run");
  });
});

test.each(["ledger", "audit", "logs"])(
  "npm run keys -- rotate %s --dry-run shows the steps for all logs, without secrets or an account",
  async (kind) => {
    const { status, output } = await run("keys", `rotate ${kind} --domain ${domain} --dry-run`);
    expect(status, output).toBe(0);
    expect(output).toContain(`Rotate the logs key of ${domain}`);
    expect(output).toContain("Dry run: nothing was changed.");
  },
  180_000,
);

test("npm run keys -- rotate master --dry-run accepts the domain that the guide uses", async () => {
  const { status, output } = await runNpm("keys", "rotate master --domain example.com --dry-run");
  expect(status, output).toBe(0);
  expect(output).toContain("Rotate the master key of example.com");
}, 180_000);

describe("npm run deploy -- --rollback", () => {
  /** Lists deployments as wrangler does, the oldest first. Each is a map from versions to percentages. */
  const listDeployments = (...history: readonly Readonly<Record<string, number>>[]) =>
    history.map((versions, day) => ({
      created_on: `2026-11-${10 + day}T00:00:00.000Z`,
      versions: Object.entries(versions).map(([id, percentage]) => ({ version_id: id, percentage })),
    }));

  test.each([
    ["the version before the active one", listDeployments({ v1: 100 }, { v2: 100 }, { v3: 100 }), "v2"],
    ["the later version after a rollback", listDeployments({ v1: 100 }, { v2: 100 }, { v1: 100 }), "v2"],
    ["a different version if the active one was deployed repeatedly", listDeployments({ v1: 100 }, { v2: 100 }, { v2: 100 }), "v1"],
    ["a different version after a gradual deployment", listDeployments({ v1: 100 }, { v2: 100 }, { v2: 50, v1: 50 }, { v2: 100 }), "v1"],
    ["a version that has served all requests", listDeployments({ v1: 100 }, { v1: 50, v2: 50 }, { v3: 100, v2: 0 }), "v1"],
  ])("chooses %s", (_, deployments, expected) => {
    expect(findPreviousVersion("svc", deployments)).toBe(expected);
  });

  test.each([
    ["there is no other version", listDeployments({ v1: 100 }, { v1: 100 }), "The Worker svc has no earlier version."],
    [
      "several versions are active",
      listDeployments({ v1: 100 }, { v2: 100 }, { v2: 50, v3: 50 }),
      "The Worker svc serves several versions. Choose one of them: npx wrangler versions deploy <version>@100 --name svc",
    ],
  ])("refuses if %s", (_, deployments, reason) => {
    expect(() => findPreviousVersion("svc", deployments)).toThrow(reason);
  });
});

describe("npm run deploy", () => {
  let api: CloudflareApi;
  beforeAll(async () => {
    api = await startCloudflareApi(domain);
  });
  afterAll(() => api.close());

  const deploy = (environment: Environment = {}): Promise<CommandResult> =>
    run("deploy", `--domain ${domain} --yes --skip-check --replace-hosts`, { ...api.environment, ...environment });

  const steps: Readonly<Record<string, RegExp>> = {
    database: /^POST \/d1\/database$/,
    namespace: /^POST \/storage\/kv\/namespaces$/,
    bucket: /^POST \/r2\/buckets$/,
    queue: /^POST \/queues$/,
    email: /^POST \/zone\/email\/sending\/subdomains$/,
    migrations: /^POST \/d1\/database\/[^/]+\/query$/,
    code: /^PUT \/workers\/scripts\/svc$/,
    hosts: /^PUT \/workers\/scripts\/svc\/domains\/records$/,
  };

  test("generates no keys and creates no resources in a build whose disk will be deleted", async () => {
    const { status, output } = await deploy({ WORKERS_CI: "1" });
    expect(status, output).toBe(1);
    expect(output).toContain("The first deployment generates the keys, so run it on your own machine");
    expect(existsSync(join(clone, ".deploy/production.secrets.json"))).toBe(false);
    expect(api.changes).toEqual([]);
  }, 180_000);

  test("refuses settings and secrets with which the Worker would not start, before it changes anything", async () => {
    const path = join(clone, "svc.config.ts");
    const config = readFileSync(path, "utf8");
    onTestFinished(() => writeFileSync(path, config));
    const settings = '{ SIGNUP_APPROVAL: "sometimes", STRIPE_PRICE_BUSINESS: "price_1", STRIPE_PRICE_WHITE_GLOVE: "price_2" }';
    writeFileSync(path, config.replace("production: {}", `production: { settings: ${settings} }`));
    const { status, output } = await deploy({ STRIPE_SECRET_KEY: "sk_test_of_the_deploy_test" });
    expect(status, output).toBe(1);
    for (const name of ["SIGNUP_APPROVAL", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"])
      expect(output).toMatch(new RegExp(`these settings are missing or invalid: .*${name}`));
    expect(output).not.toContain("sk_test_of_the_deploy_test");
    expect(existsSync(join(clone, ".deploy/production.secrets.json"))).toBe(false);
    expect(api.changes).toEqual([]);
  }, 180_000);

  test("stops at a step that fails, and the same command completes the deployment", async () => {
    for (const [name, pattern] of Object.entries(steps).filter(([step]) => failingSteps === "all" || step === failingSteps)) {
      api.fail(pattern);
      const { status, output } = await deploy();
      expect(status, `${name}\n${output}`).toBe(1);
      expect(output).toContain("Run the same command again to continue.");
      api.fail(null);
    }
    const { status, output } = await deploy();
    expect(status, output).toBe(0);
    expect(api.unknown).toEqual([]);
    expect([...api.databases.values()].map(({ name }) => name)).toEqual(["svc"]);
    expect([...api.namespaces.values()]).toEqual(["svc-kv"]);
    expect([...api.buckets]).toEqual(["svc-log-tiles"]);
    expect([...api.queues.keys()]).toEqual(["svc-anchor-queue", "svc-job-queue"]);
    expect([...api.emailDomains]).toEqual([domain]);
    expect(new Set(api.domains)).toEqual(new Set(["api", "verify", "cdn", "mcp", "app"].map((host) => `${host}.${domain}`)));
    expect([...api.queues.values()].map(({ consumers }) => consumers.length)).toEqual([1, 1]);
  }, 600_000);

  test("migrates the database before it uploads the code", () => {
    const upload = api.changes.indexOf("PUT /workers/scripts/svc");
    const migration = api.changes.findIndex((change) => change.endsWith("/query"));
    expect(migration).toBeGreaterThan(-1);
    expect(migration).toBeLessThan(upload);
    const [{ db } = { db: null }] = api.databases.values();
    expect(db?.prepare("SELECT count(*) AS n FROM sqlite_master WHERE name = 'certificates'").get()).toEqual({ n: 1 });
  });

  test("generates the secrets in a file that only its owner can read, and uploads them with the code", () => {
    const secrets = readSecrets();
    expect(statSync(join(clone, ".deploy/production.secrets.json")).mode & 0o777).toBe(0o600);
    const uploaded = api.workers.get("svc")?.secrets ?? new Set();
    const { ADMIN_TOKEN: adminToken, ...others } = secrets;
    expect([...uploaded].toSorted()).toEqual([...Object.keys(others), "ADMIN_TOKEN_SHA256"].toSorted());
    expect(api.uploads.some((upload) => upload.includes(adminToken as string))).toBe(false);
    expect(existsSync(join(clone, ".deploy/production.wrangler.json.upload"))).toBe(false);
  });

  test("creates and migrates a shard that was added later, and continues with its migrations after they have failed", async () => {
    const [[firstId] = []] = api.databases;
    const secrets = readSecrets();
    const oneShard = readFileSync(join(clone, "wrangler.toml"), "utf8");
    addShard(join(clone, "wrangler.toml"), "01");
    api.fail(new RegExp(`^POST /d1/database/(?!${firstId})[^/]+/query$`));
    const { status, output } = await deploy();
    expect(status, output).toBe(1);
    expect(output).toContain("create  D1 database svc-db-01");
    expect(output).toContain("migrate D1 database svc-db-01");
    expect(output).toContain("Migrations of D1 database svc-db-01: ");
    api.fail(null);

    const changesBefore = api.changes.length;
    const resumed = await deploy();
    expect(resumed.status, resumed.output).toBe(0);
    expect(resumed.output.indexOf("Migrations of D1 database svc ...")).toBeLessThan(
      resumed.output.indexOf("Migrations of D1 database svc-db-01"),
    );
    const changes = api.changes.slice(changesBefore);
    expect(changes.findLastIndex((change) => change.endsWith("/query"))).toBeLessThan(changes.indexOf("PUT /workers/scripts/svc"));
    const migrated = [...api.databases.values()].map(({ name, db }) => ({
      name,
      migrations: db?.prepare("SELECT name FROM d1_migrations ORDER BY id").all(),
    }));
    expect(migrated.map(({ name }) => name)).toEqual(["svc", "svc-db-01"]);
    expect(migrated[1]?.migrations).toEqual(migrated[0]?.migrations);
    writeFileSync(join(clone, "wrangler.toml"), oneShard);

    // A later deployment generates no secrets, prints none, and creates nothing that already exists.
    expect(readSecrets()).toEqual(secrets);
    const { LEDGER_ORIGIN: _, ...hidden } = secrets; // the ledger's name is not secret
    expect(Object.entries(hidden).filter(([, value]) => `${output}${resumed.output}`.includes(value))).toEqual([]);
    const created = changes.filter((change) =>
      /^POST \/(?:d1\/database|storage\/kv\/namespaces|r2\/buckets|queues|zone\/.*)$/.test(change),
    );
    expect(created).toEqual([]);
    expect(existsSync(join(clone, ".deploy/production.wrangler.json.upload"))).toBe(false);
  }, 300_000);

  test("gives the Worker settings with which it starts", () => {
    const { vars } = JSON.parse(readFileSync(join(clone, ".deploy/production.wrangler.json"), "utf8")) as { vars: Record<string, string> };
    const { ADMIN_TOKEN: _, ...secrets } = readSecrets();
    expect(startWith({ ...vars, ...secrets })).toBe("production");
    expect(startWith(vars)).toContain("not configured to run");
  });

  test("returns to the previous version with --rollback, and creates nothing", async () => {
    const worker = api.workers.get("svc");
    const [previous] = (worker?.versions ?? []).slice(-2);
    const { status, output } = await run("deploy", `--domain ${domain} --rollback`, api.environment);
    expect(status, output).toBe(0);
    expect(worker?.versions.at(-1)).toBe(previous);
  }, 180_000);

  test("rotates a key with npm run keys, which uploads only what changed and never prints it", async () => {
    const before = readSecrets();
    const rotate = (kind: string, more = "--yes"): Promise<CommandResult> =>
      run("keys", `rotate ${kind} --domain ${domain} ${more}`, api.environment);
    const planned = await rotate("issuer", "--dry-run");
    expect(planned.status, planned.output).toBe(0);
    expect(planned.output).toContain("next  1. Replace the key.");
    expect(readSecrets()).toEqual(before);

    const { status, output } = await rotate("issuer");
    expect(status, output).toBe(0);
    const after = readSecrets();
    expect(after.ISSUER_KEY).not.toBe(before.ISSUER_KEY);
    expect(output).not.toContain(after.ISSUER_KEY as string);
    expect(api.unknown).toEqual([]);
    expect([...(api.workers.get("svc")?.secrets ?? [])]).toContain("RETIRED_ISSUER_KEYS");
    const { vars } = JSON.parse(readFileSync(join(clone, ".deploy/production.wrangler.json"), "utf8")) as { vars: Record<string, string> };
    expect(startWith({ ...vars, ...after })).toBe("production");

    const logs = await rotate("logs");
    expect(logs.output).toContain("The next step is due on");
    expect(startWith({ ...vars, ...readSecrets() })).toBe("production");
    const index = await rotate("index");
    expect(index.status, index.output).toBe(0);
    expect(index.output).toContain("The next step is due on");
    expect(readSecrets().INDEX_ENCRYPTION_KEYS).toMatch(/^index,1:\S+@next$/);
    expect(startWith({ ...vars, ...readSecrets() })).toBe("production");
    const webhookPlan = await rotate("webhook --dry-run");
    expect(webhookPlan.status, webhookPlan.output).toBe(0);
    expect(webhookPlan.output).toContain("Give every webhook endpoint a new signing secret");
    const unknown = await rotate("webhook --endpoint 7 --dry-run");
    expect(unknown.status).toBe(1);
    expect(unknown.output).toContain("--endpoint must be the ID of a webhook endpoint");
  }, 180_000);

  test("refuses to return to a version from before a change of the keys, because that version has the old keys", async () => {
    const worker = api.workers.get("svc");
    const active = worker?.versions.at(-1);
    const { status, output } = await run("deploy", `--domain ${domain} --rollback`, api.environment);
    expect(status, output).toBe(1);
    expect(output).toContain("A key or another secret has changed since the previous version was deployed");
    expect(worker?.versions.at(-1)).toBe(active);
  }, 180_000);

  test("uses the sign-in of wrangler if the environment has no API token", async () => {
    const home = mkdtempSync(join(tmpdir(), "svc-home-"));
    const config = join(home, ".config/.wrangler/config/default.toml");
    mkdirSync(dirname(config), { recursive: true });
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    writeFileSync(config, `oauth_token = "${signInToken}"\nexpiration_time = "${inAnHour}"\n`);
    onTestFinished(() => rmSync(home, { recursive: true }));
    const { status, output } = await deploy({ HOME: home, XDG_CONFIG_HOME: "", CLOUDFLARE_API_TOKEN: "" });
    expect(status, output).toBe(0);
    expect(output).toContain(`Deployment production of ${domain} in the account Acme Solar`);
    expect(output).not.toContain(signInToken);
  }, 180_000);

  test("refuses to generate new keys for a database that an earlier deployment filled", async () => {
    rmSync(join(clone, ".deploy/production.secrets.json"));
    api.workers.clear();
    const { status, output } = await deploy();
    expect(status).toBe(1);
    expect(output).toContain("The database svc exists, but its keys are neither deployed nor in .deploy/production.secrets.json.");
  }, 180_000);

  test.each([
    ["no domain", undefined, "production", "Set the domain"],
    ["a placeholder", "example.com", "production", "svc.config.ts, production: domain is a placeholder. Use a domain of yours."],
    ["an unknown deployment", domain, "qa", 'svc.config.ts has no deployment "qa".'],
  ])("refuses %s", (_, response, environment, reason) => {
    expect(() => resolveDeployment({ production: {} }, environment, { domain: response })).toThrow(reason);
  });

  test("refuses duplicate hosts, invalid host names, and settings that cannot be set", () => {
    const options = {
      domain,
      hosts: { api: "same.acme-solar.test", app: "same.acme-solar.test", cdn: "https://cdn.acme-solar.test" },
      worker: "Svc!",
      settings: { DEV_FETCH_ALLOW: "localhost", LEDGER_ORIGIN: "x" },
    };
    expect(() => resolveDeployment({ production: options }, "production", {})).toThrow(
      [
        "svc.config.ts, production: hosts.cdn must be a host name in lower case.",
        "svc.config.ts, production: each host must be different.",
        "svc.config.ts, production: worker must be 1 to 42 lowercase letters, digits and hyphens.",
        "svc.config.ts, production: settings.DEV_FETCH_ALLOW is for development. Remove it.",
        "svc.config.ts, production: settings.LEDGER_ORIGIN is generated with the keys. Remove it.",
      ].join("\n"),
    );
  });

  test("refuses an unknown alert and a setting that is not a string", () => {
    const options = { domain, alerts: { email: "ops@acme-solar.test", thresholds: { full_disk: 60 } }, settings: { SIGNUP_APPROVAL: 1 } };
    expect(() => resolveDeployment({ production: options as object }, "production", {})).toThrow(
      /thresholds\.full_disk is not an alert\. Use unavailable_shards, .*\n.*settings\.SIGNUP_APPROVAL must be a string\./,
    );
  });

  describe("with hosts that are in use", () => {
    const deployment = resolveDeployment({ production: {} }, "production", { domain });
    const noRecord = Object.assign(new Error("no record"), { code: "ENOTFOUND" });
    const resolve = async (host: string): Promise<readonly string[]> => {
      if (host === `app.${domain}`) return ["192.0.2.1"];
      throw noRecord;
    };

    test("stops before it changes anything", async () => {
      const empty = mkdtempSync(join(tmpdir(), "svc-hosts-"));
      await expect(assertHostsFree(empty, deployment, false, resolve)).rejects.toThrow(`DNS already has records for app.${domain}.`);
      await expect(assertHostsFree(empty, deployment, false, () => Promise.reject(noRecord))).resolves.toBeUndefined();
      rmSync(empty, { recursive: true });
    });

    test("stops when DNS cannot be queried", async () => {
      const lookUpBroken = (): Promise<never> => Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
      await expect(assertHostsFree(tmpdir(), deployment, false, lookUpBroken)).rejects.toThrow(
        `Could not look up api.${domain} (ECONNREFUSED).`,
      );
    });

    test("accepts its own hosts, but not new ones that are taken", async () => {
      const folder = join(clone, ".deploy"); // contains the configuration of the deployment above
      await expect(assertHostsFree(folder, deployment, true, resolve)).resolves.toBeUndefined();
      // Without a Worker, the deployment has no hosts yet, even if a configuration is left from an attempt that failed.
      await expect(assertHostsFree(folder, deployment, false, resolve)).rejects.toThrow(`DNS already has records for app.${domain}.`);
      const moved = { ...deployment, hosts: { ...deployment.hosts, cdn: `www.${domain}` } };
      const lookUpTaken = async (): Promise<readonly string[]> => ["192.0.2.1"];
      await expect(assertHostsFree(folder, moved, true, lookUpTaken)).rejects.toThrow(`DNS already has records for www.${domain}.`);
    });
  });

  test.each([
    ["wrangler is not signed in", { CLOUDFLARE_API_TOKEN: "" }],
    ["the API token is not valid", { CLOUDFLARE_API_TOKEN: "token-of-another-service" }],
  ])(
    "says how to sign in when %s",
    async (_, environment) => {
      const { status, output } = await deploy({ HOME: clone, ...environment });
      expect(status).toBe(1);
      expect(output).toContain("npx wrangler login");
    },
    180_000,
  );

  test("finds resources on every page of a list", async () => {
    for (let index = 0; index < 250; index += 1) api.namespaces.set(`id-${index}`, `namespace-${index}`);
    for (const [name, value] of Object.entries(api.environment)) vi.stubEnv(name, value);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const toNamespace = (name: string): Resource => ({ kind: "namespace", binding: name, name });
    const found = await findResources(await getAccount(), ["namespace-0", "namespace-249", "missing"].map(toNamespace));
    expect([...found]).toEqual([
      ["namespace-0", "id-0"],
      ["namespace-249", "id-249"],
    ]);
  });
});
