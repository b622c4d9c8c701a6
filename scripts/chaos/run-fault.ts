// Runs one fault of `npm run chaos`: starts the service with two databases, sends requests before, during and after the fault, and compares
// the service with the acknowledged writes.
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { areBytesEqual, encodeUtf8 } from "../../core/bytes.ts";
import type { ShardId } from "../../core/ids.ts";
import { encodeEntryBundle } from "../../core/ledger/tiles.ts";
import { createDice } from "../demo-month/random.ts";
import { createDemoWorld, openVaultFromVars, seedDemo, seedPeople, type DemoWorld } from "../demo-world.ts";
import { listObjectFiles, openForReading } from "../export/local-stores.ts";
import { prepareDatabases } from "../local-databases.ts";
import { bundleWorker, startPreparedRuntime, type Runtime } from "../local-runtime.ts";
import { generateDevVars } from "../settings.ts";
import { getShardDatabasePath } from "../worker-configuration.ts";
import { createClient, type Client } from "./client.ts";
import type { FailingCall, Fault } from "./faults.ts";
import { createLoad, ledgerPath, oldTilePath, signIn } from "./load.ts";
import { startOtherMachines, type OtherMachines } from "./other-machines.ts";
import { reconcile } from "./reconcile.ts";
import { countAcknowledged, createWriteLog, type Business, type WriteLog } from "./write-log.ts";

/** A prepared service: its state folder with accounts, endpoints and signed-in people. Every run starts from a copy of that folder. */
export interface PreparedService {
  /** The folder that contains the bundle from `bundleFaultyWorker`. */
  readonly bundleDir: string;
  readonly stateDir: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly businesses: readonly Business[];
  /** Cookies of signed-in people. */
  readonly people: readonly string[];
  /** The bytes of a tile that is only in R2. */
  readonly oldTile: Uint8Array;
}

export interface FaultRunOptions {
  readonly service: PreparedService;
  readonly fault: Fault;
  readonly seed: number;
  /** The number of rounds that each visitor sends before and during the fault. After the fault, each visitor sends one more round. */
  readonly rounds: { readonly before: number; readonly during: number };
  /** The maximum duration of the fault. */
  readonly faultMs: number;
  /** A write that is still missing this long after the last round counts as lost. */
  readonly deadlineMs: number;
}

export interface FaultResult {
  readonly fault: Fault;
  readonly seed: number;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  /** The longest response time during the fault, in milliseconds. */
  readonly slowestMs: number;
  /**
   * Milliseconds from the end of the fault until all acknowledged writes and their events, deliveries and emails had arrived. Null if any
   * were still missing at the deadline.
   */
  readonly recoveredAfterMs: number | null;
  /**
   * Milliseconds from the end of the fault until all certificates were also anchored and the sampled evidence packs were valid. Null if
   * that was not the case by the deadline.
   */
  readonly provenAfterMs: number | null;
}

const visitors = 5;
const peopleCount = 6;
const shards = ["00", "01"] as const;
const quarterHourMs = 15 * 60_000;

/** Raises the limits that would otherwise throttle a load test from one machine. */
const raisedLimits = Object.fromEntries(
  [
    "API_KEY",
    "SESSION",
    "GRANTS",
    "WEBHOOK_CALLS",
    "CHECKOUT",
    "INTEGRATE",
    "AUTH_CODES_PER_ADDRESS",
    "UNPROVEN_HOST",
    "UNPROVEN_HOST_PER_BUSINESS",
  ].map((name) => [`LIMIT_${name}`, "1000000/60"]),
);

/** Returns the settings of a service whose calls to other machines go to the server that `startOtherMachines` started. */
export const buildVars = (secrets: Readonly<Record<string, string>>, otherMachines: string): Readonly<Record<string, string>> => ({
  ...secrets,
  ...raisedLimits,
  DEV_RATE_SCALE: "1000000",
  DEV_KEPT_TILES: "1", // with this setting, the ledger moves tiles to R2 even in a short run
  CHAOS_RUNNER: otherMachines,
  DOH_URLS: "https://dns-one.example.com/resolve https://dns-two.example.com/resolve",
  MAIL_TRANSPORT: "http",
  MAIL_HTTP_URL: "https://mail.example.com/send",
  MAIL_HTTP_TOKEN: "token-of-the-simulated-provider",
});

export const bundleFaultyWorker = async (bundleDir: string): Promise<void> => {
  await bundleWorker(bundleDir, "scripts/chaos/faulty-worker.ts");
  renameSync(join(bundleDir, "faulty-worker.js"), join(bundleDir, "index.js"));
};

/** Gives the people in the second shard different email addresses, because an address can belong to only one account. */
const createWorld = (secret: string, shard: string): DemoWorld => {
  const world = createDemoWorld(secret, shard as ShardId);
  if (shard === "00") return world;
  const rename = (email: string): string => `north-${email}`;
  return {
    ...world,
    ownerEmail: rename(world.ownerEmail),
    memberEmail: rename(world.memberEmail),
    consumerEmail: rename(world.consumerEmail),
    otherOwnerEmail: rename(world.otherOwnerEmail),
  };
};

/**
 * Returns the log without the writes that may be lost because the shard's database was reset. These are the shard's writes during the
 * fault, and all writes during the fault that can span two shards.
 */
const withoutLostPhase = (log: WriteLog, shard: string): WriteLog => {
  const isKept = (entry: { readonly phase: number; readonly business: Business }): boolean =>
    entry.phase !== 1 || entry.business.account.id.slice(4, 6) !== shard;
  return {
    ...log,
    submissions: log.submissions.filter(isKept),
    grants: log.grants.filter(({ phase }) => phase !== 1),
    registrations: log.registrations.filter(isKept),
    codes: log.codes.filter(({ phase }) => phase !== 1),
  };
};

/** Returns functions that start, stop and control a service with this state folder. The service calls the simulated other machines. */
const createRunner = (
  { bundleDir, stateDir, secrets }: Pick<PreparedService, "bundleDir" | "stateDir" | "secrets">,
  machines: OtherMachines,
) => {
  const options = {
    port: 0,
    stateDir,
    bundleDir,
    vars: buildVars(secrets, machines.origin),
    extraShards: ["01"],
    printsLog: false,
    printsProblems: false,
  };
  const client = createClient();
  let runtime: Runtime | null = null;
  let intervals = 0;
  return {
    client,
    start: async (): Promise<void> => {
      runtime = await startPreparedRuntime(options);
      client.moveTo(runtime.url);
    },
    stop: async (): Promise<void> => {
      await runtime?.dispose();
      runtime = null;
    },
    setFaults: async (failing: readonly FailingCall[]): Promise<void> => {
      await client.send("/chaos/faults", { method: "POST", body: failing });
    },
    runMinute: async (): Promise<void> => {
      await runtime?.scheduled("* * * * *").catch(() => undefined); // ignore a failed run, because the next run continues the work
    },
    /** Runs the 15-minute cron job. Each call passes a time 15 minutes later than the previous call. */
    runQuarterHour: async (): Promise<void> => {
      await runtime?.scheduled("*/15 * * * *", new Date(Date.now() + intervals++ * quarterHourMs)).catch(() => undefined);
    },
  };
};

/** In each world, signs in the owner of a business and adds an endpoint. Also signs in people and saves their contact details. */
export const createAccounts = async (
  client: Client,
  machines: OtherMachines,
  worlds: readonly DemoWorld[],
): Promise<Pick<PreparedService, "businesses" | "people">> => {
  const businesses: Business[] = [];
  for (const [at, world] of worlds.entries()) {
    const owner = await signIn(client, machines, { email: world.ownerEmail, realm: "business" }, `10.60.0.${at}`);
    const host = `hooks-${shards[at]}.example.com`;
    const added = await client.sendUntilAnswered("/v1/webhooks", {
      method: "POST",
      headers: { cookie: owner },
      body: { url: `https://${host}/svc` },
    });
    if (added?.status !== 201) throw new Error(`chaos: no endpoint: ${added?.status} ${added?.code}`);
    businesses.push({ account: world.acme, owner, receiver: { host, endpointId: String(added.data.id) } });
  }
  const people: string[] = [];
  for (let n = 0; n < peopleCount; n += 1) {
    const cookie = await signIn(client, machines, { email: `person${n}@example.com`, realm: "consumer" }, `10.61.0.${n}`);
    const fields = { email: `person${n}@example.com`, phone: `+1 202 555 01${10 + n}`, first_name: "Pat", last_name: "Example" };
    await client.sendUntilAnswered("/v1/me/fields", { method: "PUT", headers: { cookie }, body: fields });
    people.push(cookie);
  }
  return { businesses, people };
};

const moveTimeoutMs = 60_000; // the upload to R2 starts only ten seconds after the checkpoint

/** Adds entries to the ledger until it has full tiles. Returns the bytes of the first full tile. */
export const fillTiles = async (client: Client, secrets: Readonly<Record<string, string>>): Promise<Uint8Array> => {
  const headers = { authorization: `Bearer ${secrets.LEDGER_WRITE_TOKEN}` };
  for (let batch = 0; batch < 4; batch += 1) {
    const entries = Array.from({ length: 256 }, (_, at) => encodeUtf8(`entry ${batch * 256 + at}`));
    const body = new TextDecoder().decode(encodeEntryBundle(entries)); // the bytes can be sent as text, because all of them are ASCII
    await client.sendUntilAnswered(`${ledgerPath}/add-batch`, { method: "POST", headers, body });
  }
  const tile = await client.download(`${ledgerPath}/${oldTilePath}`);
  if (tile === null) throw new Error("chaos: the ledger has no full tile");
  return tile;
};

/** Fills tiles and waits until the first one is only in R2. Returns its bytes. */
const moveTileToR2 = async (client: Client, stateDir: string, secrets: Readonly<Record<string, string>>): Promise<Uint8Array> => {
  const tile = await fillTiles(client, secrets);
  const hasMoved = (): boolean =>
    listObjectFiles(stateDir, "LedgerLog").some((file) => {
      const database = openForReading(file);
      const row = database.prepare("SELECT v FROM meta WHERE k = 'removed_tiles'").get();
      database.close();
      return row !== undefined;
    });
  const deadline = Date.now() + moveTimeoutMs;
  while (!hasMoved()) {
    if (Date.now() > deadline) throw new Error("chaos: the ledger has not moved its tile to R2");
    await client.send(`${ledgerPath}/checkpoint`);
    await pause(200);
  }
  return tile;
};

/** Creates the accounts, endpoints and sessions that every run uses. */
export const prepareService = async (folder: string, bundleDir: string): Promise<PreparedService> => {
  const stateDir = join(folder, "prepared");
  const secrets = generateDevVars();
  const vault = await openVaultFromVars(secrets);
  const worlds = shards.map((shard) => createWorld(secrets.ISSUER_KEY as string, shard));
  await prepareDatabases({
    stateDir,
    extraShards: ["01"],
    seed: async (db, shard) => {
      const world = worlds[shards.indexOf(shard as (typeof shards)[number])] as DemoWorld;
      await seedDemo(db, world, Date.now());
      await seedPeople(db, vault, world, Date.now());
    },
  });
  const machines = await startOtherMachines();
  const runner = createRunner({ bundleDir, stateDir, secrets }, machines);
  const { client } = runner;
  try {
    await runner.start();
    const [accounts, oldTile] = await Promise.all([
      createAccounts(client, machines, worlds),
      moveTileToR2(client, stateDir, secrets), // runs at the same time, because it mostly waits
    ]);
    return { bundleDir, stateDir, secrets, ...accounts, oldTile };
  } finally {
    await runner.stop();
    machines.stop();
  }
};

export const runFault = async ({ service, fault, seed, rounds, faultMs, deadlineMs }: FaultRunOptions): Promise<FaultResult> => {
  const { businesses, people, oldTile } = service;
  const stateDir = mkdtempSync(join(tmpdir(), "svc-chaos-"));
  cpSync(service.stateDir, stateDir, { recursive: true });
  const machines = await startOtherMachines();
  const runner = createRunner({ ...service, stateDir }, machines);
  const { client } = runner;
  const log = createWriteLog();
  const sendRound = createLoad({ client, log, dice: createDice(seed), businesses, people, oldTile });

  /** Sends the requests of all visitors. Meanwhile, runs the every-minute cron job about once a second. */
  const runPhase = async (phase: number, roundCount: number, maxMs = Number.POSITIVE_INFINITY): Promise<void> => {
    const endsAt = performance.now() + maxMs;
    const ended = new AbortController();
    const jobs = (async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await Promise.race([runner.runMinute(), pause(1_000)]);
        await pause(500);
      }
    })();
    const visit = async (): Promise<void> => {
      for (let round = 0; round < roundCount && performance.now() < endsAt; round += 1) await sendRound(phase);
    };
    await Promise.all(Array.from({ length: visitors }, visit));
    ended.abort();
    await jobs;
  };

  /** Runs the load, then resets the shard's database to its state before the load. Returns when the service is running again. */
  const setBack = async (shard: string): Promise<void> => {
    const database = getShardDatabasePath(stateDir, shard);
    const files = [database, `${database}-wal`, `${database}-shm`];
    await runner.stop();
    const backup = new Map(files.filter((file) => existsSync(file)).map((file) => [file, readFileSync(file)]));
    await runner.start();
    client.takeSlowestMs();
    await runPhase(1, rounds.during, faultMs);
    await runner.stop();
    for (const file of files) rmSync(file, { force: true });
    for (const [file, bytes] of backup) writeFileSync(file, bytes);
    await runner.start();
  };

  const fail = async (calls: readonly FailingCall[]): Promise<void> => {
    await runner.setFaults(calls);
    const phase = runPhase(1, rounds.during, faultMs);
    await Promise.race([phase, pause(faultMs)]);
    await runner.setFaults([]);
    await phase;
  };

  try {
    await runner.start();
    await runPhase(0, rounds.before);
    client.takeSlowestMs();
    const shard = fault.dependency.slice(-2);
    if (fault.mode === "set_back") await setBack(shard);
    else await fail([{ dependency: fault.dependency, mode: fault.mode }, ...(fault.alongside ?? [])]);
    const endedAt = performance.now();
    const slowestMs = Math.round(client.takeSlowestMs());
    await runPhase(2, 1);
    const promised = fault.mode === "set_back" ? withoutLostPhase(log, shard) : log;
    const { lost, duplicated, recoveredAt, provenAt } = await reconcile({
      client,
      log: promised,
      machines,
      businesses,
      runJobs: async () => {
        await runner.runMinute();
        await runner.runQuarterHour();
      },
      deadlineMs,
    });
    const tile = await client.download(`${ledgerPath}/${oldTilePath}`);
    const lostTiles = tile !== null && areBytesEqual(tile, oldTile) ? [] : ["a tile of the ledger that is only in R2"];
    const sinceEnd = (at: number | null): number | null => (at === null ? null : Math.round(at - endedAt));
    const times = { slowestMs, recoveredAfterMs: sinceEnd(recoveredAt), provenAfterMs: sinceEnd(provenAt) };
    return { fault, seed, acknowledged: countAcknowledged(promised), lost: [...lost, ...lostTiles], duplicated, ...times };
  } finally {
    await runner.stop();
    machines.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
};
