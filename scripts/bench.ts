// `npm run bench`: measures svc and a minimal baseline ("floor") in the same run on one machine. It is a measurement, not a test.
//   npm run bench                     requests, memory and events
//   npm run bench -- --only events    one section, or several: --only events,proofs
//       requests     throughput, latency and CPU of each route against the floor, start time, sizes of the bundle and svc.js
//       startup      CPU time for starting the Worker, and the size of its bundle
//       memory       peak memory under load and with 10 MB request bodies
//       growth       list, search and verify as the number of certificates grows, at --seed 1000,100000,1000000
//       events       committing, delivering and reading events
//       proofs       the log (starting at --log 1000,100000 entries), ledger outages and the verifier
//       shares       granting, redeeming and reading shares, and an agent's tool call, against the floor
//       field-change a field change with 500 active shares
//       share-growth a business's share list as the number of shares grows, at --seed 1000,100000,1000000
//       pages        response times of pages for a business with --seed 1000000 certificates
//       lighthouse   scores of pages with Lighthouse's mobile profile (installs Lighthouse into dist/lighthouse)
//       share-sweep  --due 20000 shares due in the same minute, and whether each is reported exactly once
//       retention    erasing the personal data of --due 20000 expired certificates
//       rows         rows written and bytes stored in D1 for each certificate, reading, page view, withdrawal and share
//       shards       CPU for each certificate with 1, 2 and 4 shards
//       overflow     list, search, detail and contact check with certificates in 1 and 12 shards
//       withdrawal   whether response times reveal an email address (--samples 400), and how soon a withdrawal is visible
//       peers        c15t, pg-boss, graphile-worker, an MCP server and consent banners compared with svc (installs them into dist/peers)
//       credentials  whether response times reveal an API key or an account (--samples 400)
//   npm run bench -- --peers          the same as --only peers
//   npm run bench -- --only requests --series verify   requests, shares: only series with this text in their names, and their baselines
//   npm run bench -- --scaling        only calculate the tables of docs/operate/scaling.md from docs/reference/benchmarks.md
//   npm run bench -- --seconds 60     seconds per slice; also --rounds, --connections and --memory (seconds)
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { measureCredentials } from "./bench/credentials.ts";
import { measureEvents } from "./bench/events.ts";
import { watchHeap, type HeapWatch } from "./bench/heap.ts";
import { measureLighthouse } from "./bench/lighthouse.ts";
import { runLoad } from "./bench/load.ts";
import { measureOverflow } from "./bench/overflow.ts";
import { measurePages } from "./bench/pages.ts";
import { measurePeers } from "./bench/peers.ts";
import { measureProofs } from "./bench/proofs.ts";
import { getResidentMiB } from "./bench/runtime-process.ts";
import { measureRetention } from "./bench/retention.ts";
import { measureRows } from "./bench/rows.ts";
import { buildScalingTables } from "./bench/scaling.ts";
import { printRounds, runRounds, createSeries } from "./bench/series.ts";
import {
  clientAddressHeader,
  hashKeys,
  insertApiKeys,
  bearerHeader,
  capturePolicies,
  startFloor,
  issueCertificate,
  origin,
  pick,
  send,
  startBenchService,
  type Bench,
} from "./bench/measured-service.ts";
import { measureShards } from "./bench/shards.ts";
import { measureShares, measureFieldChange } from "./bench/shares.ts";
import { measureShareGrowth } from "./bench/share-growth.ts";
import { measureShareSweep } from "./bench/share-sweep.ts";
import { measureStartup } from "./bench/startup.ts";
import { consentRequest } from "./bench/submission.ts";
import { buildAssets } from "./build.ts";
import { createDemoWorld, type DemoBusiness } from "./demo-world.ts";
import { bundleWorker } from "./local-runtime.ts";
import { parseOptions } from "./parse-options.ts";
import { ensureDevVars, loadLocalSettings } from "./settings.ts";
import { measureGrowth } from "./bench/seed.ts";
import { measureWithdrawal } from "./bench/withdrawal.ts";

const [, ...usageLines] =
  readFileSync(import.meta.filename, "utf8")
    .split("\nimport ", 1)[0]
    ?.split("\n") ?? [];
const usage = usageLines.map((line) => line.replace(/^\/\/ {0,3}/, "")).join("\n");
const flags = parseOptions(
  {
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
    peers: { type: "boolean", default: false },
    scaling: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
  usage,
);
if (flags.help) {
  console.log(usage);
  process.exit(0);
}
if (flags.scaling) {
  for (const line of buildScalingTables(readFileSync("docs/reference/benchmarks.md", "utf8"))) console.log(line);
  process.exit(0);
}
const slices = { seconds: Number(flags.seconds), rounds: Number(flags.rounds), connections: Number(flags.connections) };
const sizes = (flags.seed ?? "1000,50000").split(",").map(Number);
const dueCount = Number(flags.due);
const samples = Number(flags.samples);

const sizeLine = (name: string, path: string): string => {
  const bytes = readFileSync(path);
  return `${name.padEnd(16)} ${bytes.length} B, gzip ${gzipSync(bytes, { level: 9 }).length} B, brotli ${brotliCompressSync(bytes).length} B`;
};

/** Runs `work` and returns the peak resident set size of the process, in MiB. */
const peakDuring = async (pid: string, work: () => Promise<unknown>): Promise<number> => {
  let peak = getResidentMiB(pid);
  const sampling = setInterval(() => {
    peak = Math.max(peak, getResidentMiB(pid));
  }, 200);
  await work();
  clearInterval(sampling);
  return Math.max(peak, getResidentMiB(pid));
};

const memoryUnderLoad = async (
  service: { readonly url: string; readonly pid: string; readonly heap: HeapWatch },
  business: DemoBusiness,
  forSeconds: number,
): Promise<{ consent: number; consentHeap: number; hostile: number; hostileHeap: number; refused: number }> => {
  const consent = await peakDuring(service.pid, () =>
    runLoad(service.url, (n) => consentRequest(business, origin, 3_000_000 + n), { ...slices, seconds: forSeconds }),
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

const measureService = async (bench: Bench): Promise<void> => {
  const { acme } = bench.world;
  const service = await startBenchService(bench, "svc");
  const floor = await startFloor(bench, "floor-worker", { BUSINESS_ID: acme.id });
  for (const { db } of [service, floor]) await capturePolicies(db);
  const keys = await insertApiKeys(service.db, acme, 50);
  const floorKeys = hashKeys(await insertApiKeys(floor.db, acme, 50));

  // The last 50 certificates are for detail reads. They must have no page views, because a detail read decrypts every page view.
  const issued = await Promise.all(Array.from({ length: 100 }, (_, n) => issueCertificate(service.url, acme, 1_000_000 + n)));
  const [viewed, unviewed] = [issued.slice(0, 50), issued.slice(50)];
  const floorIds = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const response = await send(floor.url, { ...consentRequest(acme, origin, 1_000_000 + n), path: "/write" });
      return ((await response.json()) as { id: string }).id;
    }),
  );

  const [floorViewed, floorUnviewed] = [floorIds.slice(0, 50), floorIds.slice(50)];

  const all = [
    createSeries("floor: one D1 batch of the same rows", null, floor, (n) => ({ ...consentRequest(acme, origin, n), path: "/write" })),
    createSeries("POST /v1/consent", "floor: one D1 batch of the same rows", service, (n) => consentRequest(acme, origin, n)),
    createSeries("floor: one D1 read", null, floor, (n) => ({
      method: "GET",
      path: `/read/${pick(floorViewed, n)}`,
      headers: clientAddressHeader(n),
    })),
    createSeries("GET verify (JSON)", "floor: one D1 read", service, (n) => ({
      method: "GET",
      path: `/v1/certs/${pick(viewed, n)}/verify`,
      headers: clientAddressHeader(n),
    })),
    createSeries("floor: statements of a page", null, floor, (n) => ({ method: "GET", path: `/page/${pick(floorViewed, n)}` })),
    createSeries("GET /c/{id} (page)", "floor: statements of a page", service, (n) => ({
      method: "GET",
      path: `/c/${pick(viewed, n)}`,
      headers: { ...clientAddressHeader(n), "user-agent": "Mozilla/5.0 Firefox/150.0" },
    })),
    createSeries("floor: statements of a list", null, floor, (n) => ({ method: "GET", path: `/list/${pick(floorKeys, n)}` })),
    createSeries("GET list", "floor: statements of a list", service, (n) => ({
      method: "GET",
      path: "/v1/certs",
      headers: bearerHeader(keys, n),
    })),
    createSeries("floor: statements of a detail read", null, floor, (n) => ({
      method: "GET",
      path: `/detail/${pick(floorKeys, n)}/${pick(floorUnviewed, n)}`,
    })),
    createSeries("GET detail", "floor: statements of a detail read", service, (n) => ({
      method: "GET",
      path: `/v1/certs/${pick(unviewed, n)}`,
      headers: bearerHeader(keys, n),
    })),
  ].filter((series) => series.name.includes(flags.series) || series.name.startsWith("floor"));

  console.log(`requests         ${slices.connections} connections, ${slices.rounds} rounds of ${slices.seconds} s each`);
  await runRounds(all, slices);
  printRounds(all);
  console.log(`\nstart            ${service.startMs.toFixed(0)} ms to migrated and listening`);
  console.log(sizeLine("Worker bundle", join(bench.bundledIn, "index.js")));
  console.log(sizeLine("svc.js", "dist/assets/v1/svc.js"));
  await service.runtime.dispose();
  await floor.runtime.dispose();
};

const inspectorPort = 9_579;

/** Measures in a new runtime, so that the figures do not include memory that other sections allocated. */
const measureMemory = async (bench: Bench): Promise<void> => {
  const { runtime, url, pid } = await startBenchService(bench, "memory", { inspectorPort });
  const heap = await watchHeap(inspectorPort);
  const memory = await memoryUnderLoad({ url, pid, heap }, bench.world.acme, Number(flags.memory));
  heap.end();
  await runtime.dispose();
  console.log(
    `\nmemory           heap of the Worker at most ${memory.consentHeap.toFixed(0)} MiB in ${flags.memory} s of submissions, ${memory.hostileHeap.toFixed(0)} MiB in 40 bodies of 10 MB (${memory.refused} refused with 413); process ${memory.consent.toFixed(0)} and ${memory.hostile.toFixed(0)} MiB resident`,
  );
};

const sections: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  requests: measureService,
  growth: (bench) => measureGrowth({ ...bench, sizes, rounds: slices.rounds }),
  startup: (bench) => measureStartup({ ...bench, rounds: slices.rounds }),
  memory: measureMemory,
  events: measureEvents,
  proofs: (bench) => measureProofs({ ...bench, ...slices, logSizes: flags.log.split(",").map(Number) }),
  shares: (bench) => measureShares({ ...bench, slices, named: flags.series }),
  "field-change": measureFieldChange,
  "share-growth": (bench) => measureShareGrowth({ ...bench, sizes, rounds: slices.rounds }),
  pages: (bench) => measurePages({ ...bench, size: Math.max(...sizes) }),
  lighthouse: measureLighthouse,
  "share-sweep": (bench) => measureShareSweep({ ...bench, due: dueCount }),
  retention: (bench) => measureRetention({ ...bench, due: dueCount }),
  rows: measureRows,
  shards: (bench) => measureShards({ ...bench, slices }),
  peers: (bench) => measurePeers({ ...bench, slices }),
  overflow: (bench) => measureOverflow({ ...bench, rounds: slices.rounds }),
  withdrawal: (bench) => measureWithdrawal({ ...bench, samples }),
  credentials: (bench) => measureCredentials({ ...bench, samples }),
};

/** The sections given by --only. The default is requests, memory and events, plus growth if --seed is given. */
const selectedSections = (flags.peers ? "peers" : flags.only)?.split(",") ?? [
  "requests",
  "memory",
  "events",
  ...(flags.seed === undefined ? [] : ["growth"]),
];
const unknownSections = selectedSections.filter((name) => sections[name] === undefined);
if (unknownSections.length > 0) {
  console.error(`--only: unknown section ${unknownSections.join(", ")}. Use ${Object.keys(sections).join(", ")}.`);
  process.exit(2);
}
ensureDevVars();
const settings = loadLocalSettings();
await buildAssets();
const state = mkdtempSync(join(tmpdir(), "svc-bench-"));
const bundleDir = join(state, "bundle");
await bundleWorker(bundleDir);
const vars = { ...settings.vars, DEV_RATE_SCALE: "1000000" };
const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
console.log(`${new Date().toISOString()}  ${cpus().length} x ${cpus()[0]?.model ?? "unknown CPU"}, Node ${process.version}`);
for (const [name, measure] of Object.entries(sections))
  if (selectedSections.includes(name)) await measure({ state, bundledIn: bundleDir, vars, world });
rmSync(state, { recursive: true, force: true });
