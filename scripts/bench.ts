// `npm run bench`: what svc costs beside a bare floor, in one run on one machine. A measurement, never a test.
//   npm run bench                     requests, memory and events
//   npm run bench -- --only events    one section, or several: --only events,proofs
//       requests     throughput, latency and CPU of each route beside the floor, the start, the sizes of what is served
//       memory       the highest resident size under load and under bodies of 10 MB
//       growth       cost of list, search and verify as certificates grow, at --seed 1000,100000,1000000
//       events       placing, delivering and reading events
//       proofs       the log (from --log 1000,100000 entries on), the ledger's outages and the verifier
//       withdrawal   what withdrawing gives away by its time (--samples 400), and how soon it shows
//       credentials  what refusing an API key and asking for a sign-in code give away by their time (--samples 400)
//   npm run bench -- --only requests --series verify   the requests whose name holds this, and their floors
//   npm run bench -- --plot           measures nothing: draws the figures of docs/benchmarks.md as graphs in docs/images
//   npm run bench -- --seconds 60     longer slices; --rounds, --connections and --memory (seconds) likewise
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { median } from "./bench/apart.ts";
import { measureCredentials } from "./bench/credentials.ts";
import { measureEvents } from "./bench/events.ts";
import { load, percentile, type Measured, type Request } from "./bench/load.ts";
import { plotsOf } from "./bench/plot.ts";
import { measureProofs } from "./bench/proofs.ts";
import { cpuMs, residentMiB, runtimePids } from "./bench/runtime-process.ts";
import { consentRequest } from "./bench/submission.ts";
import { buildAssets } from "./build.ts";
import { demoWorld, seedDemo, type DemoBusiness, type DemoWorld } from "./demo-world.ts";
import { bundleWorker, startRuntime, type D1Like, type Runtime } from "./local-runtime.ts";
import { ensureDevVars, localSettings } from "./settings.ts";
import { measureGrowth } from "./bench/seed.ts";
import { measureWithdrawal } from "./bench/withdrawal.ts";
import { sha256Hex } from "../core/hash.ts";
import { firstHome, newSecret } from "../core/ids.ts";

const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "7" },
    connections: { type: "string", default: "16" },
    seed: { type: "string" },
    only: { type: "string" },
    series: { type: "string", default: "" },
    memory: { type: "string", default: "60" },
    log: { type: "string", default: "1000,100000" },
    samples: { type: "string", default: "400" },
    plot: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (flags.help) {
  const [, ...usage] =
    readFileSync(import.meta.filename, "utf8")
      .split("\nimport ", 1)[0]
      ?.split("\n") ?? [];
  console.log(usage.map((line) => line.replace(/^\/\/ {0,3}/, "")).join("\n"));
  process.exit(0);
}
if (flags.plot) {
  for (const { file, svg } of plotsOf(readFileSync("docs/benchmarks.md", "utf8"))) {
    writeFileSync(join("docs/images", file), svg);
    console.log(`docs/images/${file}`);
  }
  process.exit(0);
}
const sections = ["requests", "memory", "growth", "events", "proofs", "withdrawal", "credentials"] as const;
type Section = (typeof sections)[number];

/** What is measured: what was asked for by name; else what every run shows, and growth where sizes are given. */
const chosen: readonly string[] = flags.only?.split(",") ?? [
  "requests",
  "memory",
  "events",
  ...(flags.seed === undefined ? [] : ["growth"]),
];
const unknownSections = chosen.filter((name) => !(sections as readonly string[]).includes(name));
if (unknownSections.length > 0) {
  console.error(`bench: --only ${unknownSections.join(",")}: not among ${sections.join(", ")}.`);
  process.exit(2);
}
const measures = (section: Section): boolean => chosen.includes(section);

const seconds = Number(flags.seconds);
const rounds = Number(flags.rounds);
const connections = Number(flags.connections);

interface Series {
  readonly name: string;
  readonly floor: string | null;
  readonly url: string;
  readonly pid: string;
  readonly next: (n: number) => Request;
  readonly measured: Measured[];
  /** Milliseconds of runtime CPU, one figure for each of `measured`. */
  readonly cpu: number[];
  /** Likewise, until the runtime had come to rest again: chains, ledger, counters. */
  readonly afterwards: number[];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const figures = (series: Series): { rps: number; p50: number; p99: number; cpu: number; afterwards: number; faults: number } => {
  const requests = sum(series.measured.map((part) => part.requests));
  const latencies = series.measured.flatMap((part) => part.latencies).sort((a, b) => a - b);
  const good = sum(series.measured.map((part) => (part.statuses[200] ?? 0) + (part.statuses[201] ?? 0)));
  return {
    rps: requests / sum(series.measured.map((part) => part.seconds)),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpu: sum(series.cpu) / requests,
    afterwards: sum(series.afterwards) / requests,
    faults: requests - good,
  };
};

const apiKeys = async (db: D1Like, business: DemoBusiness, count: number): Promise<string[]> => {
  const keys = Array.from({ length: count }, () =>
    newSecret("sk_live_", firstHome, (bytes) => crypto.getRandomValues(new Uint8Array(bytes))),
  );
  await db.batch(
    keys.map((key, at) =>
      db
        .prepare(
          "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, 'live', ?, 'Bench', ?, 0)",
        )
        .bind(`key_bench${at}`, business.id, sha256Hex(key), key.slice(-4)),
    ),
  );
  return keys;
};

const sizeLine = (name: string, path: string): string => {
  const bytes = readFileSync(path);
  return `${name.padEnd(16)} ${bytes.length} B, gzip ${gzipSync(bytes, { level: 9 }).length} B, brotli ${brotliCompressSync(bytes).length} B`;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Ends when the runtime has done what follows its answers, which it gathers for two seconds. */
const atRest = async (pid: string): Promise<void> => {
  await pause(2_200);
  for (let before = cpuMs(pid), tries = 0; tries < 40; tries += 1) {
    await pause(250);
    const now = cpuMs(pid);
    if (now - before <= 20) return;
    before = now;
  }
};

const runSlice = async (series: Series, from: number): Promise<void> => {
  const before = cpuMs(series.pid);
  series.measured.push(await load(series.url, (n) => series.next(from + n), { seconds, connections }));
  const answered = cpuMs(series.pid);
  series.cpu.push(answered - before);
  await atRest(series.pid);
  series.afterwards.push(cpuMs(series.pid) - answered);
};

/**
 * Rate and CPU a request, each as a part of the floor's of the same round, the median of the rounds: a machine that others share
 * is slower for some seconds now and then, and then it is slower for both.
 */
const ofFloor = (own: Series, floor: Series): { rate: number; cpu: number } => {
  const rate = ({ requests, seconds }: Measured): number => requests / seconds;
  const cpu = (series: Series, round: number): number => (series.cpu[round] as number) / (series.measured[round] as Measured).requests;
  const rounds = own.measured.map((measured, round) => ({
    rate: rate(measured) / rate(floor.measured[round] as Measured),
    cpu: cpu(own, round) / cpu(floor, round),
  }));
  return { rate: median(rounds.map((one) => one.rate)), cpu: median(rounds.map((one) => one.cpu)) };
};

/** The highest resident size seen, in MiB, while `work` ran. */
const peakDuring = async (pid: string, work: () => Promise<unknown>): Promise<number> => {
  let peak = residentMiB(pid);
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMiB(pid));
  }, 200);
  await work();
  clearInterval(sampling);
  return Math.max(peak, residentMiB(pid));
};

const memoryUnderLoad = async (
  service: { readonly url: string; readonly pid: string },
  business: DemoBusiness,
  origin: string,
  forSeconds: number,
): Promise<{ consent: number; hostile: number; refused: number }> => {
  const consent = await peakDuring(service.pid, () =>
    load(service.url, (n) => consentRequest(business, origin, 3_000_000 + n), { seconds: forSeconds, connections }),
  );
  const huge = "x".repeat(10 * 1_024 * 1_024);
  let refused = 0;
  const hostile = await peakDuring(service.pid, async () => {
    for (let wave = 0; wave < 5; wave += 1) {
      const statuses = await Promise.all(
        Array.from({ length: 8 }, async (_, n) => {
          const response = await fetch(`${service.url}/v1/consent`, {
            method: "POST",
            headers: { origin, "content-type": "text/plain", "cf-connecting-ip": `10.7.${wave}.${n}` },
            body: huge,
          });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      refused += statuses.filter((status) => status === 413).length;
    }
  });
  return { consent, hostile, refused };
};

interface Setting {
  readonly state: string;
  readonly bundledIn: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly world: DemoWorld;
}

const printRounds = (all: readonly Series[]): void => {
  console.log(`\n${"".padEnd(38)}     req/s      p50      p99   CPU/req  afterwards   of floor (rate, CPU)   not 2xx`);
  for (const series of all) {
    const own = figures(series);
    const floor = all.find(({ name }) => name === series.floor);
    const beside = floor === undefined ? null : ofFloor(series, floor);
    const ratio = beside === null ? "" : `${beside.rate.toFixed(2)}, ${beside.cpu.toFixed(2)}x`;
    console.log(
      `${series.name.padEnd(38)} ${own.rps.toFixed(0).padStart(9)} ${own.p50.toFixed(1).padStart(5)} ms ${own.p99.toFixed(1).padStart(5)} ms ${own.cpu.toFixed(2).padStart(6)} ms  +${own.afterwards.toFixed(2).padStart(5)} ms    ${ratio.padEnd(20)} ${own.faults}`,
    );
  }
};

/** Each slice of a round right after the slices it is compared with, and none in the work that another left behind. */
const runRounds = async (all: readonly Series[]): Promise<void> => {
  for (const series of all) await load(series.url, (n) => series.next(500_000 + n), { seconds: 3, connections }); // warm code paths and caches alike
  let from = 0;
  for (let round = 1; round <= rounds; round += 1) {
    for (const series of all) {
      process.stderr.write(`\r  round ${round}/${rounds}  ${series.name.padEnd(40)}`);
      await runSlice(series, from);
      from += 20_000;
    }
  }
  process.stderr.write(`\r${" ".repeat(60)}\r`);
};

/** The routes beside the floor. */
const measureService = async ({ state, bundledIn, vars, world }: Setting): Promise<void> => {
  const { acme } = world;
  const floorScript = buildSync({ entryPoints: ["scripts/bench/floor-worker.ts"], bundle: true, write: false, format: "esm" })
    .outputFiles[0]?.text as string;
  const began = performance.now();
  const service: Runtime = await startRuntime({ port: 0, stateDir: join(state, "svc"), vars, bundledIn, printsLog: false });
  const startMs = performance.now() - began;
  const servicePid = runtimePids().at(-1) as string;
  const floor: Runtime = await startRuntime({
    port: 0,
    stateDir: join(state, "floor"),
    vars: { BUSINESS_ID: acme.id },
    script: floorScript,
  });
  const floorPid = runtimePids().at(-1) as string;

  for (const runtime of [service, floor]) await seedDemo(await runtime.database(), world, Date.now());
  // The steady state: the origin's policies were looked at within the last quarter of an hour.
  for (const runtime of [service, floor]) {
    const db = await runtime.database();
    await db
      .prepare("INSERT INTO policy_captures (id, domain, captured_at) VALUES ('cap_bench', 'www.example.com', ?)")
      .bind(Date.now())
      .run();
  }
  const keys = await apiKeys(await service.database(), acme, 400);
  const origin = "https://www.example.com";

  const issued = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const { headers, body } = consentRequest(acme, origin, 1_000_000 + n);
      const response = await fetch(`${service.url}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
      const answer = (await response.json()) as { data?: { cert_id: string } };
      if (answer.data === undefined) throw new Error(`bench: not issued: ${JSON.stringify(answer)}`);
      return answer.data.cert_id;
    }),
  );
  const floorIds = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const { headers, body } = consentRequest(acme, origin, 1_000_000 + n);
      const response = await fetch(`${floor.url}/write`, { method: "POST", headers: { ...headers }, body: body as string });
      return ((await response.json()) as { id: string }).id;
    }),
  );

  const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
  const address = (n: number): Record<string, string> => ({ "cf-connecting-ip": `10.9.${(n >> 8) & 255}.${n & 255}` });
  const bearer = (n: number): Record<string, string> => ({ authorization: `Bearer ${pick(keys, n)}` });
  const onService = { url: service.url, pid: servicePid };
  const onFloor = { url: floor.url, pid: floorPid };
  const make = (name: string, floorName: string | null, where: typeof onService, next: Series["next"]): Series => ({
    name,
    floor: floorName,
    ...where,
    next,
    measured: [],
    cpu: [],
    afterwards: [],
  });
  const all: Series[] = [
    make("floor: one D1 batch of the same rows", null, onFloor, (n) => ({ ...consentRequest(acme, origin, n), path: "/write" })),
    make("POST /v1/consent", "floor: one D1 batch of the same rows", onService, (n) => consentRequest(acme, origin, n)),
    make("floor: one D1 read", null, onFloor, (n) => ({ method: "GET", path: `/read/${pick(floorIds, n)}`, headers: address(n) })),
    make("GET verify (JSON)", "floor: one D1 read", onService, (n) => ({
      method: "GET",
      path: `/v1/certs/${pick(issued, n)}/verify`,
      headers: address(n),
    })),
    make("GET /c/{id} (page)", "floor: one D1 read", onService, (n) => ({
      method: "GET",
      path: `/c/${pick(issued, n)}`,
      headers: { ...address(n), "user-agent": "Mozilla/5.0 Firefox/150.0" },
    })),
    make("GET list", "floor: one D1 read", onService, (n) => ({ method: "GET", path: "/v1/certs", headers: bearer(n) })),
    make("GET detail", "floor: one D1 read", onService, (n) => ({
      method: "GET",
      path: `/v1/certs/${pick(issued, n)}`,
      headers: bearer(n),
    })),
  ].filter((series) => series.name.includes(flags.series) || series.name.startsWith("floor"));

  console.log(`requests         ${connections} connections, ${rounds} rounds of ${seconds} s each`);
  await runRounds(all);
  printRounds(all);
  console.log(`\nstart            ${startMs.toFixed(0)} ms to migrated and listening`);
  console.log(sizeLine("Worker bundle", join(bundledIn, "index.js")));
  console.log(sizeLine("svc.js", "dist/assets/v1/svc.js"));
  await service.dispose();
  await floor.dispose();
};

/** Runtimes for growth, one for each size. */
const growthOf = ({ state, bundledIn, vars, world }: Setting) => ({
  business: world.acme,
  sizes: (flags.seed ?? "1000,50000").split(",").map(Number),
  start: async (name: string) => {
    const runtime = await startRuntime({ port: 0, stateDir: join(state, name), vars, bundledIn, printsLog: false });
    const pid = runtimePids().at(-1) as string;
    const db = await runtime.database();
    await seedDemo(db, world, Date.now());
    return { runtime, pid, keys: await apiKeys(db, world.acme, 400) };
  },
});

/** A runtime of its own: what other sections left behind would be counted otherwise. */
const measureMemory = async ({ state, bundledIn, vars, world }: Setting): Promise<void> => {
  const fresh = await startRuntime({ port: 0, stateDir: join(state, "memory"), vars, bundledIn, printsLog: false });
  const pid = runtimePids().at(-1) as string;
  await seedDemo(await fresh.database(), world, Date.now());
  const memory = await memoryUnderLoad({ url: fresh.url, pid }, world.acme, "https://www.example.com", Number(flags.memory));
  await fresh.dispose();
  console.log(
    `\nmemory           at most ${memory.consent.toFixed(0)} MiB resident in ${flags.memory} s of submissions, ${memory.hostile.toFixed(0)} MiB in 40 bodies of 10 MB (${memory.refused} refused with 413)`,
  );
};

const main = async (): Promise<void> => {
  ensureDevVars();
  const settings = localSettings();
  await buildAssets();
  const state = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const bundledIn = join(state, "bundle");
  bundleWorker(bundledIn);
  const vars = { ...settings.vars, DEV_RATE_SCALE: "1000000" };
  const seed = settings.vars.ISSUER_KEY as string;
  const world = demoWorld(seed);
  const setting: Setting = { state, bundledIn, vars, world };
  const keysFor =
    (count: number) =>
    (db: D1Like): Promise<string[]> =>
      apiKeys(db, world.acme, count);
  console.log(`${new Date().toISOString()}  ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}, Node ${process.version}`);
  if (measures("requests")) await measureService(setting);
  if (measures("growth")) await measureGrowth({ ...growthOf(setting), rounds });
  if (measures("memory")) await measureMemory(setting);
  if (measures("events")) await measureEvents({ stateDir: join(state, "events"), bundledIn, vars, seed, keysFor: keysFor(50) }); // 6,000 requests a minute
  if (measures("proofs"))
    await measureProofs({ state, bundledIn, vars, logSizes: flags.log.split(",").map(Number), seconds, rounds, connections });
  if (measures("withdrawal")) await measureWithdrawal({ state, bundledIn, vars, keysFor: keysFor(20), samples: Number(flags.samples) });
  if (measures("credentials")) await measureCredentials({ state, bundledIn, vars, keysFor: keysFor(100), samples: Number(flags.samples) });
  rmSync(state, { recursive: true, force: true });
};

await main();
