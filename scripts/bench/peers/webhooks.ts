// Compares the webhook delivery of svc, pg-boss and graphile-worker to one healthy endpoint and five that accept a request and never
// respond.
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { listenLocally } from "../../listen.ts";
import { waitUntilTrue } from "../events.ts";
import { percentile } from "../load.ts";
import type { Bench } from "../measured-service.ts";
import { commitEvents, registerEndpoint } from "../producer.ts";
import { getTreeCpuMs } from "../runtime-process.ts";
import type { Postgres } from "./postgres.ts";
import { startProgram, type Program } from "./processes.ts";

const bulkEvents = 2_000;
const bulkRounds = 3;
const steadyEvents = 200;
const steadyEveryMs = 50;
const kills = [300, 700, 1_100, 1_500]; // the program is killed each time the number of deliveries reaches one of these
const waitAfterKillsMs = 30_000;

interface Arrival {
  readonly at: number;
  readonly count: number;
}

interface Receiver {
  readonly server: Server;
  readonly address: string;
  /**
   * When each event first arrived at the healthy endpoint, and how often it arrived. The events are in the order of their first arrival.
   */
  readonly arrivals: Map<string, Arrival>;
}

const startReceiver = async (): Promise<Receiver> => {
  const arrivals = new Map<string, Arrival>();
  const hanging: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/healthy") {
      hanging.push(response);
      return;
    }
    const id = String(request.headers["svc-event-id"] ?? request.headers["webhook-id"]);
    const { at, count } = arrivals.get(id) ?? { at: performance.now(), count: 0 };
    arrivals.set(id, { at, count: count + 1 });
    request.on("end", () => response.writeHead(200).end());
  });
  return { server, address: await listenLocally(server), arrivals };
};

/** A system that delivers events. `start` and `kill` apply to the process that delivers. */
interface Deliverer {
  readonly name: string;
  readonly getCpuMs: () => number;
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
  /** Prepares the endpoints for the next measurement. Events of earlier measurements are no longer delivered to them. */
  readonly reset: () => Promise<void>;
  /** Adds events and returns their IDs in order once they are durable. */
  readonly add: (count: number) => Promise<readonly string[]>;
}

const endpointNames = ["hung0", "hung1", "hung2", "hung3", "hung4", "healthy"];
const listEndpoints = (address: string) =>
  endpointNames.map((name) => ({
    name,
    url: `http://${address}/${name}`,
    secret: `whsec_${Buffer.from("a secret of thirty-two characters").toString("base64")}`,
  }));

const chunk = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));

const createSvc = (bench: Bench, { address }: Receiver): Deliverer => {
  const { acme, other, examples } = bench.world;
  const businesses = [acme.id, other.id, ...Object.values(examples).map(({ id }) => id)]; // each measurement uses a different business
  let program: Program;
  let url = "";
  let used = 0;
  const target = () => ({ url, vars: bench.vars, business: businesses[used % businesses.length] as string });
  return {
    name: "svc",
    getCpuMs: () => getTreeCpuMs([program.pid]),
    start: async () => {
      const script = join(import.meta.dirname, "svc-server.ts");
      const env = { SETTINGS: JSON.stringify(bench.vars) };
      program = await startProgram(process.cwd(), [script, join(bench.state, "peers-events"), bench.bundledIn, address], env);
      url = program.ready.replace("READY ", "");
    },
    kill: () => program.kill(),
    reset: async () => {
      used += 1;
      for (const endpoint of listEndpoints(address)) await registerEndpoint(target(), endpoint.url);
      await commitEvents(target(), 1); // the first event creates the business's Durable Objects
    },
    add: async (count) => {
      const ids: string[] = [];
      while (ids.length < count) ids.push(...(await commitEvents(target(), Math.min(500, count - ids.length))));
      return ids;
    },
  };
};

interface Event {
  readonly id: string;
  readonly type: string;
  readonly content: string;
}
const createEvents = (count: number): readonly Event[] =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: "certificate.revoked", content: "x".repeat(120) }));

/** Creates a deliverer whose worker is the program `deliver-with-<name>.mjs` in `folder`. */
const createWorker = (
  name: string,
  folder: string,
  postgres: Postgres,
  { address }: Receiver,
  databaseUrl: string,
  options: { readonly empty: string; readonly database: string; readonly add: (events: readonly Event[]) => Promise<unknown> },
): Deliverer => {
  let program: Program;
  const start = async (): Promise<void> => {
    const env = { DATABASE_URL: databaseUrl, ENDPOINTS: JSON.stringify(listEndpoints(address)) };
    program = await startProgram(folder, [`deliver-with-${name}.mjs`], env);
  };
  return {
    name,
    getCpuMs: () => getTreeCpuMs([program.pid, String(postgres.pid)]),
    start,
    kill: () => program.kill(),
    reset: async () => {
      await program.kill();
      postgres.query(options.database, options.empty);
      await start();
    },
    add: async (count) => {
      const events = createEvents(count);
      for (const part of chunk(events, 500)) await options.add(part);
      return events.map(({ id }) => id);
    },
  };
};

const importPackage = async <T>(folder: string, path: string): Promise<T> =>
  (await import(pathToFileURL(join(folder, "node_modules", path)).href)) as T;

/** The part of pg-boss that adds jobs. */
interface PgBossModule {
  readonly PgBoss: new (
    options: object,
  ) => {
    readonly on: (event: string, listener: () => void) => void;
    readonly start: () => Promise<unknown>;
    readonly stop: (options: object) => Promise<void>;
    readonly createQueue: (name: string, options: object) => Promise<void>;
    readonly insert: (name: string, jobs: readonly object[]) => Promise<unknown>;
  };
}

const createPgBoss = async (folder: string, postgres: Postgres, receiver: Receiver) => {
  const { PgBoss } = await importPackage<PgBossModule>(folder, "pg-boss/dist/index.js");
  const connectionString = postgres.createDatabase("pgboss");
  const boss = new PgBoss({ connectionString, supervise: false, schedule: false });
  boss.on("error", () => undefined);
  await boss.start();
  const queue = { notify: true, retryLimit: 4, retryDelay: 60, retryBackoff: true, expireInSeconds: 15 };
  for (const name of endpointNames) await boss.createQueue(name, queue);
  const add = async (events: readonly Event[]): Promise<void> => {
    for (const name of endpointNames)
      await boss.insert(
        name,
        events.map((data) => ({ data })),
      );
  };
  const options = { database: "pgboss", empty: "delete from pgboss.job", add };
  const worker = createWorker("pg-boss", folder, postgres, receiver, connectionString, options);
  return { worker, close: () => boss.stop({ graceful: false }) };
};

/** The part of graphile-worker that adds jobs. */
interface GraphileModule {
  readonly Logger: new (factory: () => () => void) => object;
  readonly makeWorkerUtils: (options: object) => Promise<{
    readonly migrate: () => Promise<void>;
    readonly addJobs: (jobs: readonly object[]) => Promise<unknown>;
    readonly release: () => Promise<void>;
  }>;
}

const createGraphile = async (folder: string, postgres: Postgres, receiver: Receiver) => {
  const { Logger, makeWorkerUtils } = await importPackage<GraphileModule>(folder, "graphile-worker/dist/index.js");
  const connectionString = postgres.createDatabase("graphile");
  const utils = await makeWorkerUtils({ connectionString, logger: new Logger(() => () => undefined) });
  await utils.migrate();
  const add = (events: readonly Event[]): Promise<unknown> =>
    utils.addJobs(events.flatMap((payload) => endpointNames.map((name) => ({ identifier: `deliver_${name}`, payload, maxAttempts: 5 }))));
  const empty = "delete from graphile_worker._private_jobs; delete from graphile_worker._private_job_queues";
  const options = { database: "graphile", empty, add };
  const worker = createWorker("graphile-worker", folder, postgres, receiver, connectionString, options);
  return { worker, close: () => utils.release() };
};

const printFigure = (name: string, text: string): void => console.log(`  ${name.padEnd(16)} ${text}`);

/** Counts the events that arrived after an event that was added later. */
const countOutOfOrder = (ids: readonly string[], arrivals: Receiver["arrivals"]): number => {
  const place = new Map(ids.map((id, at) => [id, at]));
  let [last, count] = [-1, 0];
  for (const id of arrivals.keys()) {
    const at = place.get(id);
    if (at === undefined) continue;
    if (at < last) count += 1;
    else last = at;
  }
  return count;
};

const measureBulk = async (deliverer: Deliverer, { arrivals }: Receiver): Promise<void> => {
  await deliverer.reset();
  await pause(1_500);
  arrivals.clear();
  const [cpu, startedAt] = [deliverer.getCpuMs(), performance.now()];
  const ids = await deliverer.add(bulkEvents);
  await waitUntilTrue(() => ids.every((id) => arrivals.has(id)), 90_000);
  const arrived = ids.filter((id) => arrivals.has(id));
  const seconds = (Math.max(...arrived.map((id) => arrivals.get(id)?.at ?? 0)) - startedAt) / 1_000;
  const cpuEach = (deliverer.getCpuMs() - cpu) / arrived.length;
  printFigure(
    deliverer.name,
    `${arrived.length} of ${bulkEvents} in ${seconds.toFixed(2)} s, ${cpuEach.toFixed(2)} ms CPU each, ${countOutOfOrder(ids, arrivals)} out of order`,
  );
};

/** Measures how long events take to reach the healthy endpoint. Adds events at a fixed rate, regardless of how long earlier events take. */
const measureSteady = async (deliverer: Deliverer, { arrivals }: Receiver): Promise<void> => {
  await deliverer.reset();
  await pause(1_500);
  arrivals.clear();
  const [cpu, startedAt] = [deliverer.getCpuMs(), performance.now()];
  const addedAt = new Map<string, number>();
  const adding: Promise<void>[] = [];
  for (let n = 0; n < steadyEvents; n += 1) {
    await waitUntilTrue(() => performance.now() >= startedAt + n * steadyEveryMs, 1_000);
    const at = performance.now();
    adding.push(deliverer.add(1).then(([id]) => void addedAt.set(id as string, at)));
  }
  await Promise.all(adding);
  await waitUntilTrue(() => [...addedAt.keys()].every((id) => arrivals.has(id)), 60_000);
  const waits = [...addedAt].map(([id, at]) => (arrivals.get(id)?.at ?? Number.POSITIVE_INFINITY) - at).sort((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(waits, share).toFixed(0));
  const cpuEach = (deliverer.getCpuMs() - cpu) / steadyEvents;
  printFigure(deliverer.name, `p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms, ${cpuEach.toFixed(1)} ms CPU each`);
};

const measureKills = async (deliverer: Deliverer, { arrivals }: Receiver): Promise<void> => {
  await deliverer.reset();
  await pause(1_500);
  arrivals.clear();
  const ids = await deliverer.add(bulkEvents);
  const downs: string[] = [];
  for (const count of kills) {
    await waitUntilTrue(() => arrivals.size >= count, 30_000);
    const killedAt = performance.now();
    await deliverer.kill();
    await deliverer.start();
    downs.push(((performance.now() - killedAt) / 1_000).toFixed(1));
  }
  await waitUntilTrue(() => ids.every((id) => arrivals.has(id)), waitAfterKillsMs);
  const missing = ids.filter((id) => !arrivals.has(id)).length;
  const repeated = ids.filter((id) => (arrivals.get(id)?.count ?? 0) > 1).length;
  printFigure(
    deliverer.name,
    `${missing} missing ${waitAfterKillsMs / 1_000} s after the last kill, ${repeated} repeated, ready after ${downs.join(", ")} s`,
  );
};

export const compareWebhooks = async (bench: Bench, folder: string, postgres: Postgres): Promise<void> => {
  const receiver = await startReceiver();
  const [pgBoss, graphile] = [await createPgBoss(folder, postgres, receiver), await createGraphile(folder, postgres, receiver)];
  const deliverers = [createSvc(bench, receiver), pgBoss.worker, graphile.worker];
  for (const deliverer of deliverers) await deliverer.start();
  console.log(`\nwebhooks         ${bulkEvents} events at once, one healthy endpoint next to five that hang`);
  for (let round = 0; round < bulkRounds; round += 1) for (const deliverer of deliverers) await measureBulk(deliverer, receiver);
  console.log(`\nwebhooks         ${1_000 / steadyEveryMs} events a second`);
  for (const deliverer of deliverers) await measureSteady(deliverer, receiver);
  console.log(`\nwebhooks         killed ${kills.length} times while ${bulkEvents} events are delivered`);
  for (const deliverer of deliverers) await measureKills(deliverer, receiver);
  for (const deliverer of deliverers) await deliverer.kill();
  await Promise.all([pgBoss.close(), graphile.close()]);
  receiver.server.closeAllConnections();
  receiver.server.close();
};
