// Measures committing, delivering and reading events. Also measures how long an event takes to reach a receiver while five other endpoints
// of the same business hang. Receivers run in this process, so the delivery figures include their responses.
import { statSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { listObjectFiles } from "../export/local-stores.ts";
import { listenLocally } from "../listen.ts";
import { median } from "./timing-comparison.ts";
import { runLoad, percentile } from "./load.ts";
import { measureBarePosts, commitEvents, listEvents, loadProducerScript, registerEndpoint, type ProducerTarget } from "./producer.ts";
import { getCpuMs } from "./runtime-process.ts";
import { insertApiKeys, bearerHeader, startBenchService, type Bench, type Service } from "./measured-service.ts";

const placedEvents = 10_000;
const deliveredEvents = 4_000;
const latencySeconds = 10;
const eventsPerSecond = 50;
const largeFeedSize = 1_000_000;

interface Receivers {
  readonly server: Server;
  readonly at: string;
  /** The time of each event's arrival at the healthy receiver, as measured by `performance.now()`. */
  readonly arrived: Map<string, number>;
}

/** Starts the receivers. `/healthy` responds immediately, and `/hung` never responds. */
const startReceivers = async (): Promise<Receivers> => {
  const arrived = new Map<string, number>();
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const event = request.headers["svc-event-id"];
    if (typeof event === "string" && request.url === "/healthy") arrived.set(event, performance.now());
    request.resume();
    if (request.url === "/hung") held.push(response);
    else request.on("end", () => response.writeHead(200).end());
  });
  return { server, at: await listenLocally(server), arrived };
};

export const waitUntilTrue = async (holds: () => boolean, ms: number): Promise<void> => {
  const deadline = performance.now() + ms;
  while (!holds() && performance.now() < deadline) await pause(10);
};

const commitWithoutNotifying = async (place: ProducerTarget, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 500) await commitEvents(place, Math.min(500, left), { notify: false });
};

const printFigure = (name: string, text: string): void => console.log(`${name.padEnd(38)} ${text}`);

const measurePlacing = async (place: ProducerTarget): Promise<void> => {
  await commitWithoutNotifying(place, placedEvents);
  const startedAt = performance.now();
  await commitEvents(place, 0, { wait: true });
  const seconds = (performance.now() - startedAt) / 1_000;
  printFigure(
    "events placed in order",
    `${(placedEvents / seconds).toFixed(0)}/s (${placedEvents} from the change log in ${(seconds * 1_000).toFixed(0)} ms)`,
  );
};

const measureDelivering = async (place: ProducerTarget, pid: string, { at, arrived }: Receivers): Promise<void> => {
  const bareMs = await measureBarePosts(place, `http://${at}/bare`, deliveredEvents);
  printFigure("floor: a bare fetch loop, five at once", `${((deliveredEvents * 1_000) / bareMs).toFixed(0)}/s`);
  await registerEndpoint(place, `http://${at}/healthy`);
  await commitWithoutNotifying(place, deliveredEvents);
  arrived.clear();
  const cpu = getCpuMs(pid);
  const startedAt = performance.now();
  await commitEvents(place, 0, { wait: true });
  await waitUntilTrue(() => arrived.size >= deliveredEvents, 60_000);
  const seconds = (Math.max(...arrived.values()) - startedAt) / 1_000;
  printFigure(
    "delivered to one healthy endpoint",
    `${(arrived.size / seconds).toFixed(0)}/s, ${((getCpuMs(pid) - cpu) / arrived.size).toFixed(2)} ms CPU each, ${((bareMs / 1_000 / seconds) * (arrived.size / deliveredEvents)).toFixed(2)} of the floor`,
  );
};

/** Measures how long events take to reach the receiver. Commits events at a fixed rate, regardless of how long earlier events take. */
const measureWaiting = async (place: ProducerTarget, { at, arrived }: Receivers): Promise<void> => {
  for (let hung = 0; hung < 5; hung += 1) await registerEndpoint(place, `http://${at}/hung`);
  await registerEndpoint(place, `http://${at}/healthy`);
  arrived.clear();
  const sent = new Map<string, number>();
  const commits: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let n = 0; n < latencySeconds * eventsPerSecond; n += 1) {
    await waitUntilTrue(() => performance.now() >= startedAt + (n * 1_000) / eventsPerSecond, 1_000);
    const committedAt = performance.now();
    commits.push(commitEvents(place, 1).then(([id]) => void sent.set(id as string, committedAt)));
  }
  await Promise.all(commits);
  await waitUntilTrue(() => arrived.size >= sent.size, 30_000);
  const waits = [...sent].map(([id, committedAt]) => (arrived.get(id) ?? Number.POSITIVE_INFINITY) - committedAt).sort((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(waits, share).toFixed(0));
  printFigure(
    `change to receiver, ${eventsPerSecond} events/s`,
    `p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms, next to five endpoints that hang (${waits.length} events)`,
  );
};

/** Appends events to one business's feed directly in the database while the service is stopped. */
const fillFeed = (stateDir: string, seed: number): void => {
  const files = listObjectFiles(stateDir, "EventSequence");
  for (const file of files.toSorted((a, b) => statSync(b).size - statSync(a).size)) {
    const database = new DatabaseSync(file);
    const { rows } = database.prepare("SELECT COUNT(*) AS rows FROM event").get() as { rows: number };
    if (rows === placedEvents) {
      database.exec(
        `WITH RECURSIVE n (seq) AS (SELECT ${rows + 1} UNION ALL SELECT seq + 1 FROM n WHERE seq < ${seed})
         INSERT INTO event SELECT seq, lower(hex(randomblob(16))), 'certificate.revoked', NULL, 'cc_00k3v9d2m4q8x1c7b5n0t6w2h9', NULL, 0 FROM n`,
      );
      database.close();
      return;
    }
    database.close();
  }
  throw new Error("bench: the log to fill is not there");
};

const measureFeedPages = async (place: ProducerTarget): Promise<void> => {
  const cursors = [0, largeFeedSize / 2, largeFeedSize - 100];
  const times = cursors.map(() => [] as number[]);
  for (let round = 0; round < 320; round += 1) {
    for (const [at, cursor] of cursors.entries()) {
      const startedAt = performance.now();
      await listEvents(place, cursor, 100);
      if (round >= 20) times[at]?.push(performance.now() - startedAt);
    }
  }
  const medians = times.map(median);
  const [first = 1, ...others] = medians;
  const named = cursors.map((cursor, at) => `${medians[at]?.toFixed(2)} ms at ${cursor}`).join(", ");
  printFigure(
    "page of 100 in a million events",
    `${named} (${others.map((ms) => `${((ms / first - 1) * 100).toFixed(0)} %`).join(", ")} off the first)`,
  );
};

export const measureEvents = async (bench: Bench): Promise<void> => {
  const playing = await startReceivers();
  const vars = { ...bench.vars, DEV_FETCH_ALLOW: playing.at };
  const { world } = bench;
  const start = (): Promise<Service> => startBenchService(bench, "events", { vars, sidecarScript: loadProducerScript() });
  const { db, pid, runtime, url } = await start();
  const keys = await insertApiKeys(db, world.acme, 50); // together, 50 keys may make 6,000 requests a minute
  const at = (business: string): ProducerTarget => ({ url, vars, business });
  await commitEvents(at(world.examples.free.id), 500, { wait: true }); // warms up code paths and caches
  await measurePlacing(at(world.acme.id));
  await measureDelivering(at(world.other.id), pid, playing);
  const feedOf = (n: number) => ({
    method: "GET" as const,
    path: `/v1/events?cursor=${(n * 97) % 9_900}`,
    headers: bearerHeader(keys, n),
  });
  // The first request with a key creates the key's rate limiter object.
  for (let n = 0; n < keys.length; n += 1) await runLoad(url, () => feedOf(n), { seconds: 0, connections: 1 });
  const feed = await runLoad(url, feedOf, { seconds: 5, connections: 8 });
  const good = feed.statuses[200] ?? 0;
  printFigure(
    "GET /v1/events, pages of 100",
    `${(good / feed.seconds).toFixed(0)}/s, p50 ${percentile(feed.latencies, 0.5).toFixed(1)} ms, p99 ${percentile(feed.latencies, 0.99).toFixed(1)} ms (${feed.requests - good} not 200)`,
  );
  await measureWaiting(at(world.examples.past_due.id), playing);
  await runtime.dispose();
  fillFeed(join(bench.state, "events"), largeFeedSize);
  const restarted = await start();
  await measureFeedPages({ url: restarted.url, vars, business: world.acme.id });
  await restarted.runtime.dispose();
  playing.server.closeAllConnections();
  playing.server.close();
};
