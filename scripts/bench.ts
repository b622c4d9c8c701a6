// `npm run bench`: what svc costs beside a bare floor, in one run on one machine. A measurement, never a test.
//   npm run bench                     requests, memory and events
//   npm run bench -- --only events    one section, or several: --only events,proofs
//       requests     throughput, latency and CPU of each route beside the floor, the start, the sizes of what is served
//       memory       the highest resident size under load and under bodies of 10 MB
//       growth       cost of list, search and verify as certificates grow, at --seed 1000,100000,1000000
//       events       placing, delivering and reading events
//       proofs       the log (from --log 1000,100000 entries on), the ledger's outages and the verifier
//       shares       granting, redeeming and reading shares, and a call of an assistant, beside the floor
//       field-change a change of fields with 500 active shares
//       share-growth cost of a business's list as shares grow, at --seed 1000,100000,1000000
//       pages        how long each page takes where a business has --seed 1000000 certificates
//       share-sweep  what the clock does to --due 20000 shares that are due in one minute, and whether each was told of once
//       retention    erasing the persons of --due 20000 certificates whose time has passed
//       withdrawal   what withdrawing gives away by its time (--samples 400), and how soon it shows
//       credentials  what refusing an API key and asking for a sign-in code give away by their time (--samples 400)
//   npm run bench -- --only requests --series verify   the requests whose name holds this, and their floors; of shares likewise
//   npm run bench -- --plot           measures nothing: draws the figures of docs/benchmarks.md as graphs in docs/images
//   npm run bench -- --seconds 60     longer slices; --rounds, --connections and --memory (seconds) likewise
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { measureCredentials } from "./bench/credentials.ts";
import { measureEvents } from "./bench/events.ts";
import { heapOf, type HeapWatch } from "./bench/heap.ts";
import { load } from "./bench/load.ts";
import { measurePages } from "./bench/pages.ts";
import { plotsOf } from "./bench/plot.ts";
import { measureProofs } from "./bench/proofs.ts";
import { residentMiB, runtimePids } from "./bench/runtime-process.ts";
import { measureRetention } from "./bench/retention.ts";
import { printRounds, runRounds, seriesOf, type Series } from "./bench/series.ts";
import { measureShares, measureFieldChange } from "./bench/shares.ts";
import { measureShareGrowth } from "./bench/share-growth.ts";
import { measureShareSweep } from "./bench/share-sweep.ts";
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
    due: { type: "string", default: "20000" },
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
const sections = [
  "requests",
  "memory",
  "growth",
  "events",
  "proofs",
  "shares",
  "field-change",
  "share-growth",
  "pages",
  "share-sweep",
  "retention",
  "withdrawal",
  "credentials",
] as const;
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
const sizes = (flags.seed ?? "1000,50000").split(",").map(Number);

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
  service: { readonly url: string; readonly pid: string; readonly heap: HeapWatch },
  business: DemoBusiness,
  origin: string,
  forSeconds: number,
): Promise<{ consent: number; consentHeap: number; hostile: number; hostileHeap: number; refused: number }> => {
  const consent = await peakDuring(service.pid, () =>
    load(service.url, (n) => consentRequest(business, origin, 3_000_000 + n), { seconds: forSeconds, connections }),
  );
  const consentHeap = service.heap.peakMiB();
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
  return { consent, consentHeap, hostile, hostileHeap: service.heap.peakMiB(), refused };
};

interface Setting {
  readonly state: string;
  readonly bundledIn: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly world: DemoWorld;
}

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
      .prepare(
        "INSERT INTO policy_captures (id, domain, origin, captured_at) VALUES ('cap_bench', 'www.example.com', 'https://www.example.com', ?)",
      )
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
  const all: Series[] = [
    seriesOf("floor: one D1 batch of the same rows", null, onFloor, (n) => ({ ...consentRequest(acme, origin, n), path: "/write" })),
    seriesOf("POST /v1/consent", "floor: one D1 batch of the same rows", onService, (n) => consentRequest(acme, origin, n)),
    seriesOf("floor: one D1 read", null, onFloor, (n) => ({ method: "GET", path: `/read/${pick(floorIds, n)}`, headers: address(n) })),
    seriesOf("GET verify (JSON)", "floor: one D1 read", onService, (n) => ({
      method: "GET",
      path: `/v1/certs/${pick(issued, n)}/verify`,
      headers: address(n),
    })),
    seriesOf("GET /c/{id} (page)", "floor: one D1 read", onService, (n) => ({
      method: "GET",
      path: `/c/${pick(issued, n)}`,
      headers: { ...address(n), "user-agent": "Mozilla/5.0 Firefox/150.0" },
    })),
    seriesOf("GET list", "floor: one D1 read", onService, (n) => ({ method: "GET", path: "/v1/certs", headers: bearer(n) })),
    seriesOf("GET detail", "floor: one D1 read", onService, (n) => ({
      method: "GET",
      path: `/v1/certs/${pick(issued, n)}`,
      headers: bearer(n),
    })),
  ].filter((series) => series.name.includes(flags.series) || series.name.startsWith("floor"));

  console.log(`requests         ${connections} connections, ${rounds} rounds of ${seconds} s each`);
  await runRounds(all, { seconds, rounds, connections });
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
  sizes,
  start: async (name: string) => {
    const runtime = await startRuntime({ port: 0, stateDir: join(state, name), vars, bundledIn, printsLog: false });
    const pid = runtimePids().at(-1) as string;
    const db = await runtime.database();
    await seedDemo(db, world, Date.now());
    return { runtime, pid, keys: await apiKeys(db, world.acme, 400) };
  },
});

const inspectorPort = 9_579; // nobody else listens there

/** A runtime of its own: what other sections left behind would be counted otherwise. */
const measureMemory = async ({ state, bundledIn, vars, world }: Setting): Promise<void> => {
  const fresh = await startRuntime({ port: 0, stateDir: join(state, "memory"), vars, bundledIn, printsLog: false, inspectorPort });
  const pid = runtimePids().at(-1) as string;
  await seedDemo(await fresh.database(), world, Date.now());
  const heap = await heapOf(inspectorPort);
  const memory = await memoryUnderLoad({ url: fresh.url, pid, heap }, world.acme, "https://www.example.com", Number(flags.memory));
  heap.end();
  await fresh.dispose();
  console.log(
    `\nmemory           heap of the Worker at most ${memory.consentHeap.toFixed(0)} MiB in ${flags.memory} s of submissions, ${memory.hostileHeap.toFixed(0)} MiB in 40 bodies of 10 MB (${memory.refused} refused with 413); process ${memory.consent.toFixed(0)} and ${memory.hostile.toFixed(0)} MiB resident`,
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
  const shared = { state, bundledIn, vars, world, keysFor: keysFor(200) };
  if (measures("shares")) await measureShares({ ...shared, slices: { seconds, rounds, connections }, named: flags.series });
  if (measures("field-change")) await measureFieldChange(shared);
  if (measures("share-growth")) await measureShareGrowth({ ...shared, sizes, rounds });
  if (measures("pages")) await measurePages({ ...shared, size: Math.max(...sizes) });
  if (measures("share-sweep")) await measureShareSweep({ ...shared, due: Number(flags.due) });
  if (measures("retention")) await measureRetention({ ...shared, due: Number(flags.due) });
  if (measures("withdrawal")) await measureWithdrawal({ state, bundledIn, vars, keysFor: keysFor(20), samples: Number(flags.samples) });
  if (measures("credentials")) await measureCredentials({ state, bundledIn, vars, keysFor: keysFor(100), samples: Number(flags.samples) });
  rmSync(state, { recursive: true, force: true });
};

await main();
