// Upgrades a deployment of the previous release with the real `npm run deploy` and wrangler, rolls back to that release and then forward
// again, while visitors use the service. A simulated Cloudflare API changes the running service as Cloudflare would: for a while, both
// versions serve requests, first with the Durable Objects of one version and then with those of the other. Every switch also cuts all
// connections.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { areBytesEqual } from "../../core/bytes.ts";
import { computeRoot } from "../../core/ledger/merkle.ts";
import { parseCheckpoint, type Checkpoint } from "../../core/ledger/checkpoint.ts";
import { computeRootFromTiles, formatTilePath, listTilesRead, type TileLocation } from "../../core/ledger/tiles.ts";
import type { Svc, SvcOptions } from "../../kit/client.ts";
import { createClient } from "../../scripts/chaos/client.ts";
import { createLoad, ledgerPath, oldTilePath } from "../../scripts/chaos/load.ts";
import { startOtherMachines, type OtherMachines } from "../../scripts/chaos/other-machines.ts";
import { reconcile } from "../../scripts/chaos/reconcile.ts";
import { buildVars, createAccounts, fillTiles, type PreparedService } from "../../scripts/chaos/run-fault.ts";
import { countAcknowledged, createWriteLog } from "../../scripts/chaos/write-log.ts";
import { createDice } from "../../scripts/demo-month/random.ts";
import { createDemoWorld, openVaultFromVars, seedDemo, seedPeople, type DemoWorld } from "../../scripts/demo-world.ts";
import { listObjectFiles, openForReading } from "../../scripts/export/local-stores.ts";
import { prepareDatabases, type D1Like } from "../../scripts/local-databases.ts";
import { startPreparedRuntime, type Runtime } from "../../scripts/local-runtime.ts";
import { configurationName, loadWorkerConfiguration } from "../../scripts/worker-configuration.ts";
import { hashMigration, readReleasedWorker, unpackWorker } from "../../scripts/released-worker.ts";
import { buildLocalSettings, generateDevVars } from "../../scripts/settings.ts";
import { startCloudflareApi, type CloudflareApi } from "../support/cloudflare-api.ts";
import { findFreePort } from "../support/local-service.ts";

const { unstable_splitSqlQuery: splitSql } = await import("wrangler");

const { version: currentVersion } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const releases = readdirSync("test/releases").toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
/** The newest earlier release. Until there is one, the saved build of the current release. */
const previous = releases.filter((version) => version !== currentVersion).at(-1) ?? currentVersion;
const released = readReleasedWorker(join("test/releases", previous));
const buildPath = (file: string): string => resolve("test/releases", previous, file);

test.each(releases)("no migration of %s was changed (before the version is tagged, npm run release saves the new one)", (release) => {
  const { migrations } = readReleasedWorker(join("test/releases", release));
  expect(migrations).toEqual(migrations.map(({ name }) => ({ name, sha256: hashMigration(name) })));
});

const domain = "acme-solar.test";
const visitors = 2;
const pauseMs = 2_000; // leaves most of the CPU time to the deployment; a visitor does not pause while the test waits for rounds
const roundsWithBoth = 4; // while both versions serve requests
const exampleTable = "example_of_an_added_table";
const exampleColumn = "example_of_an_added_column";

const folder = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
const clone = join(folder, "clone");
const stateDir = join(folder, "state");
const assetsDir = join(folder, "assets");
const notCloned = /(?:^|\/)(?:node_modules|dist|\.wrangler|\.git|\.dev\.vars|\.deploy|coverage|(?!icons|api)[^/]*\.gen\.ts)$/; // api.gen.ts is cloned, because generating it takes seconds

/** Builds SQL that adds a table, and a column to every existing table. CONTRIBUTING.md allows such migrations. */
const buildExampleStep = (schema: string): string =>
  [
    `CREATE TABLE ${exampleTable} (id TEXT PRIMARY KEY) STRICT;`,
    ...[...schema.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => `ALTER TABLE ${table} ADD COLUMN ${exampleColumn} TEXT;`),
  ].join("\n");

const previousId = "00000000-0000-4000-8000-000000000100";
const exampleMigration = "9999_example.sql";

/** Adds an example migration, and an example step for each class of Durable Objects, to the clone that will be deployed. */
const addExampleSteps = (): void => {
  const schema = readdirSync("d1-migrations").map((name) => readFileSync(join("d1-migrations", name), "utf8"));
  writeFileSync(join(clone, "d1-migrations", exampleMigration), `-- An example.\n${buildExampleStep(schema.join("\n"))}\n`);
  const logTables = readFileSync("durable-objects/transparency-log/migrations.ts", "utf8");
  for (const path of globSync("durable-objects/*/migrations.ts")) {
    const text = readFileSync(path, "utf8");
    if (path.includes("transparency-log")) continue;
    const step = buildExampleStep(text.includes("logTables") ? `${logTables}${text}` : text);
    writeFileSync(
      join(clone, path),
      text.replace(/,?\s*\];\s*$/, () => `, ${JSON.stringify(step)}];\n`),
    );
  }
};

interface Step {
  readonly step: string;
  /** The versions that served requests, in order. */
  readonly servedBy: readonly Version[];
}
type Version = "previous" | "current";

describe(`a deployment of ${previous} with data and visitors`, () => {
  const oldDir = join(folder, "previous");
  const newDir = join(folder, "current");
  const log = createWriteLog();
  const client = createClient({ attempts: 300 }); // tries for one minute
  const steps: Step[] = [];
  const checkpoints: { readonly log: string; readonly checkpoint: Checkpoint }[] = [];
  let api: CloudflareApi;
  let machines: OtherMachines;
  let runtime: Runtime | null = null;
  let world: DemoWorld;
  let service: Pick<PreparedService, "businesses" | "people" | "oldTile">;
  let port: number;
  let vars: Readonly<Record<string, string>>;
  let serving: Version = "previous";
  let phase = 0;
  let quarterHours = 0;

  const getOrigin = (): string => `http://localhost:${port}`;
  const bundleOf = (version: Version): string => (version === "previous" ? oldDir : newDir);

  /** Restarts the service with the Durable Objects of one version. The Worker of `other`, if any, runs beside that version's Worker. */
  const start = async (objects: Version, other?: Version): Promise<void> => {
    await runtime?.dispose();
    runtime = await startPreparedRuntime({
      port,
      stateDir,
      vars,
      assetsDir,
      bundleDir: bundleOf(objects),
      ...(other !== undefined && { otherVersionDir: bundleOf(other) }),
      printsLog: false,
      outboundService: async (request) => {
        const { host, pathname, search } = new URL(request.url);
        const headers = [...request.headers].filter(([name]) => !/^(?:host|content-length|connection|transfer-encoding)$/.test(name));
        const hasBody = request.method !== "GET" && request.method !== "HEAD";
        const body = hasBody ? await request.arrayBuffer() : null;
        return fetch(`${machines.origin}/${host}${pathname}${search}`, { method: request.method, headers, body });
      },
    });
  };

  /** Simulates visitors, and runs the cron job more often than once a minute. */
  const traffic = (() => {
    let stopped = new AbortController();
    let running: Promise<unknown> = Promise.resolve();
    let rounds = 0;
    let awaitedRounds = 0;
    let send: ReturnType<typeof createLoad> | null = null; // uses different visitors in every round
    const begin = (): void => {
      stopped = new AbortController();
      const { signal } = stopped;
      send ??= createLoad({ client, log, dice: createDice(1), ...service });
      const sendRound = send;
      phase += 1;
      const visit = async (): Promise<void> => {
        while (!signal.aborted) {
          await sendRound(phase);
          rounds += 1;
          const isPausing = (): boolean => !signal.aborted && rounds >= awaitedRounds;
          for (const until = performance.now() + pauseMs; isPausing() && performance.now() < until; ) await pause(50);
        }
      };
      const runJobs = async (): Promise<void> => {
        while (!signal.aborted) {
          await runtime?.scheduled("* * * * *").catch(() => undefined); // switching versions may interrupt a run
          await pause(1_000);
        }
      };
      running = Promise.all([...Array.from({ length: visitors }, visit), runJobs()]);
    };
    const end = async (): Promise<void> => {
      stopped.abort();
      await running;
    };
    /** Waits until the visitors have completed further rounds. */
    const waitForRounds = async (count: number): Promise<void> => {
      awaitedRounds = rounds + count;
      while (rounds < awaitedRounds) await pause(50);
    };
    return { begin, end, waitForRounds };
  })();

  /** Switches the running service to this version. Both versions serve for a while, because a switch on Cloudflare takes seconds. */
  const switchTo = async (version: Version): Promise<void> => {
    const other = serving;
    if (!steps.some(({ step }) => step === "upload")) await start(other, version); // before the first switch, only one version ran
    await runtime?.serve(["svc", "other"]);
    await traffic.waitForRounds(roundsWithBoth);
    await start(version, other);
    await runtime?.serve(["svc", "other"]);
    await traffic.waitForRounds(roundsWithBoth);
    await runtime?.serve(["svc"]);
    serving = version;
    await traffic.waitForRounds(roundsWithBoth);
  };

  /**
   * Returns the database of the running service. After five idle seconds, the runtime closes the connection that Miniflare uses for
   * synchronous calls, so the first call may fail on a busy machine. `prepare` runs no SQL, so it can be repeated.
   */
  const openDatabase = async (): Promise<D1Like> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const database = await (runtime as Runtime).database();
        database.prepare("SELECT 1");
        return database;
      } catch (error) {
        if (attempt === 3) throw error;
      }
    }
  };

  const runSql = async (sql: string, params: readonly unknown[]): Promise<readonly unknown[]> => {
    const database = await openDatabase();
    if (sql.includes(exampleTable)) {
      steps.push({ step: "migration", servedBy: [serving] });
      await database.batch(splitSql(sql).map((statement) => database.prepare(statement)));
      await traffic.waitForRounds(roundsWithBoth); // the previous version serves with the new schema
      return [];
    }
    const { results } = await database
      .prepare(sql)
      .bind(...params)
      .all();
    return results;
  };

  const activateVersion = async (id: string, code: string | null): Promise<void> => {
    const version: Version = id === previousId ? "previous" : "current";
    if (code !== null) {
      mkdirSync(newDir, { recursive: true });
      writeFileSync(join(newDir, "index.js"), code);
      writeFileSync(join(newDir, configurationName), JSON.stringify(loadWorkerConfiguration()));
    }
    const before = serving;
    await switchTo(version);
    steps.push({ step: code === null ? "rollback" : "upload", servedBy: [before, version] });
  };

  beforeAll(async () => {
    unpackWorker(join("test/releases", previous), oldDir);
    cpSync(".", clone, { recursive: true, preserveTimestamps: true, filter: (path) => !notCloned.test(path) });
    symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
    addExampleSteps();
    mkdirSync(join(assetsDir, "v1"), { recursive: true });
    cpSync(buildPath("svc.js"), join(assetsDir, "v1/svc.js"));

    [port, machines] = await Promise.all([findFreePort(), startOtherMachines()]);
    const secrets = generateDevVars();
    world = createDemoWorld(secrets.ISSUER_KEY as string);
    const local = buildLocalSettings({ port, demoPort: 1, stateDir, vars: secrets });
    vars = { ...local.vars, ...buildVars(secrets, machines.origin), DEV_STRIPE_API: "" };
    const vault = await openVaultFromVars(secrets);
    await prepareDatabases({
      stateDir,
      migrations: released.migrations.map(({ name }) => name),
      seed: async (db) => {
        await seedDemo(db, world, Date.now());
        await seedPeople(db, vault, world, Date.now());
      },
    });
    await start("previous");
    client.moveTo(getOrigin());
    const [accounts, oldTile] = await Promise.all([createAccounts(client, machines, [world]), fillTiles(client, secrets)]);
    service = { ...accounts, oldTile };

    api = await startCloudflareApi(domain, { runSql, activate: activateVersion });
    api.databases.set("00000000-0000-4000-8000-0000000000d1", { name: "svc", db: null });
    api.namespaces.set("0000000000000000000000000000004b", "svc-kv");
    api.buckets.add("svc-log-tiles");
    for (const name of ["svc-anchor-queue", "svc-job-queue"]) api.queues.set(name, { id: name, consumers: [] });
    api.emailDomains.add(domain);
    const saved = { ...secrets, LEDGER_ORIGIN: vars.LEDGER_ORIGIN };
    api.workers.set("svc", { secrets: new Set(Object.keys(saved)), versions: [previousId], changedSecrets: new Map() });
    mkdirSync(join(clone, ".deploy"), { mode: 0o700 });
    writeFileSync(join(clone, ".deploy/production.secrets.json"), JSON.stringify(saved), { mode: 0o600 });
  }, 240_000);
  afterAll(async () => {
    await traffic.end();
    await api?.close();
    await runtime?.dispose();
    machines?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  const deploy = (...options: readonly string[]): Promise<{ readonly status: number | null; readonly output: string }> =>
    new Promise((finish) => {
      const command = ["scripts/deploy.ts", "--domain", domain, "--yes", "--check-at", getOrigin(), ...options];
      const env = { ...process.env, ...api.environment, CI: "1", CLOUDFLARE_ACCOUNT_ID: "" };
      const child = spawn(process.execPath, command, { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += String(part)));
      child.on("close", (status) => finish({ status, output }));
    });

  const runJobs = async (): Promise<void> => {
    await runtime?.scheduled("* * * * *");
    await runtime?.scheduled("*/15 * * * *", new Date(Date.now() + quarterHours++ * 15 * 60_000));
  };

  const download = async (path: string, headers = {}): Promise<Uint8Array> => {
    const bytes = await client.download(path, headers);
    if (bytes === null) throw new Error(`no response from ${path}`);
    return bytes;
  };

  /** Downloads the tree of a log and checks that it contains every checkpoint that the log has shown so far. */
  const checkLog = async (path: string): Promise<void> => {
    const checkpoint = parseCheckpoint(new TextDecoder().decode(await download(`${path}/checkpoint`)));
    if (checkpoint === null) throw new Error(`no checkpoint of ${path}`);
    checkpoints.push({ log: path, checkpoint });
    for (const { checkpoint: shown } of checkpoints.filter((entry) => entry.log === path)) {
      const needed = listTilesRead(shown.size, (nodes) => computeRoot(shown.size, nodes));
      const formatKey = ({ level, n }: Pick<TileLocation, "level" | "n">): string => `${level}/${n}`;
      const tiles = new Map<string, Uint8Array>();
      for (const location of needed) tiles.set(formatKey(location), await download(`${path}/${formatTilePath(location)}`));
      const root = computeRootFromTiles(shown.size, (level, n) => tiles.get(formatKey({ level, n })) as Uint8Array);
      expect(areBytesEqual(root, shown.root)).toBe(true);
    }
  };

  /**
   * Issues a certificate and reads it with the client of the previous release, and checks its evidence pack with that release's verifier.
   */
  const checkEarlierTools = async (): Promise<void> => {
    const { createSvc } = (await import(pathToFileURL(buildPath("client.mjs")).href)) as {
      readonly createSvc: (options: SvcOptions) => Svc;
    };
    const svc = createSvc({ baseUrl: getOrigin(), apiKey: world.acme.keys.live });
    const issued = await svc.captureConsent({
      headers: { Origin: "https://www.example.com" },
      body: {
        client_id: world.acme.clients.live,
        fields: { email: `earlier-kit-${phase}@example.com` },
        disclosure_text: "I agree to be called.",
        entities: ["Acme Solar LLC"],
        purpose: "solar quotes",
        page_url: "https://www.example.com/quote",
      },
    });
    const id = issued.data?.cert_id as string;
    expect((await svc.readCertificate({ path: { cert_id: id } })).data?.status).toBe("active");
    const readAnchor = async () => {
      await runJobs();
      return (await client.send(`/v1/certs/${id}/verify`))?.data.anchor;
    };
    await expect.poll(readAnchor, { timeout: 60_000 }).toMatchObject({ status: "anchored" });
    const [pack, trust] = [join(folder, "pack.zip"), join(folder, "trust.json")];
    const authorization = { authorization: `Bearer ${world.acme.keys.live}` };
    writeFileSync(pack, await download(`/v1/certs/${id}/evidence-pack?format=zip`, authorization));
    writeFileSync(trust, await download("/.well-known/svc-trust.json"));
    const { status, stdout } = spawnSync(process.execPath, [buildPath("svc-verify.mjs"), pack, "--trust", trust], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(id) });
  };

  /** Stops the visitors and checks from outside that every acknowledged write exists once, with its proofs, events and deliveries. */
  const checkEverything = async (): Promise<void> => {
    await traffic.end();
    // Every request must have succeeded, if necessary after retries.
    expect(log.submissions.filter(({ certificate }) => certificate === null)).toEqual([]);
    expect(log.grants.filter(({ shareId }) => shareId === null)).toEqual([]);
    expect(log.registrations.filter(({ endpointId }) => endpointId === null)).toEqual([]);
    const { lost, duplicated } = await reconcile({ client, log, machines, ...service, runJobs, deadlineMs: 120_000 });
    expect({ lost, duplicated }).toEqual({ lost: [], duplicated: [] });
    expect(areBytesEqual(await download(`${ledgerPath}/${oldTilePath}`), service.oldTile)).toBe(true);
    for (const path of [ledgerPath, "/audit/00"]) await checkLog(path);
    await checkEarlierTools();
    traffic.begin();
  };

  test("is upgraded, rolled back and moved forward again without losing or duplicating anything", { timeout: 900_000 }, async () => {
    traffic.begin();
    await traffic.waitForRounds(roundsWithBoth);
    await checkEverything();

    const upgraded = await deploy();
    expect(upgraded.status, upgraded.output).toBe(0);
    expect(upgraded.output).toContain("Sandbox certificate withdrawn");
    expect(steps).toEqual([
      { step: "migration", servedBy: ["previous"] },
      { step: "upload", servedBy: ["previous", "current"] },
    ]);
    await checkEverything();

    // The first rollback returns to the previous version, and the second one to the current version.
    for (const servedBy of [
      ["current", "previous"],
      ["previous", "current"],
    ]) {
      const rolledBack = await deploy("--rollback");
      expect(rolledBack.status, rolledBack.output).toBe(0);
      expect(steps.slice(2).at(-1)).toEqual({ step: "rollback", servedBy });
      await checkEverything();
    }
    expect(steps).toHaveLength(4);

    expect(api.unknown).toEqual([]);
    expect(countAcknowledged(log)).toBeGreaterThan(0);
    for (const name of ["AuditLog", "LedgerLog", "EventSequence", "DeliveryQueue", "RateLimiter"]) {
      const hasExampleTable = listObjectFiles(stateDir, name).some((file) => {
        const database = openForReading(file);
        const row = database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(exampleTable);
        database.close();
        return row !== undefined;
      });
      expect([name, hasExampleTable]).toEqual([name, true]);
    }
  });
});
