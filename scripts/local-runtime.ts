// Runs the whole service locally: the Worker bundle from wrangler, on Miniflare, with its databases on disk. `wrangler dev` is not used
// because it fires no crons, prompts on the terminal and is several times slower.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverUrls } from "./demo-month/receiver.ts";
import { prepareDatabases, type D1Like, type DatabaseOptions } from "./local-databases.ts";
import { startMiniflare } from "./miniflare.ts";
import {
  configurationName,
  getBindingName,
  listDatabases,
  loadWorkerConfiguration,
  readBundledConfiguration,
  toDatabaseBindings,
  type WorkerConfiguration,
} from "./worker-configuration.ts";

/** The output folder of `bundleWorker` that `npm start` and the tests share. */
export const workerBundleDir = "dist/worker";

/**
 * Bundles the Worker as a deployment does, or bundles the module `entry` with the same settings. Also writes esbuild's list of inputs and
 * the Worker options. Rejects with wrangler's output on failure.
 */
export const bundleWorker = async (outDir: string = workerBundleDir, entry?: string): Promise<void> => {
  const command = ["deploy", ...(entry === undefined ? [] : [entry]), "--dry-run", "--metafile", "--outdir", outDir];
  const wrangler = spawn("node_modules/.bin/wrangler", command, { stdio: ["ignore", "pipe", "pipe"] });
  const output: string[] = [];
  for (const stream of [wrangler.stdout, wrangler.stderr]) stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  const [status] = (await once(wrangler, "close")) as [number | null];
  if (status !== 0) throw new Error(`Bundling the Worker failed:\n${output.join("")}`);
  writeFileSync(join(outDir, configurationName), JSON.stringify(loadWorkerConfiguration()));
};

export interface RuntimeOptions extends DatabaseOptions {
  readonly port: number;
  readonly vars: Readonly<Record<string, string>>;
  /** The source of a module to run instead of the bundled Worker. */
  readonly script?: string;
  /** Output folder of `bundleWorker`, if not the default. */
  readonly bundleDir?: string;
  /** Folder of static assets, if not the default. */
  readonly assetsDir?: string;
  /** The source of a second Worker with the same databases and Durable Objects, reachable at the host `beside.test`. */
  readonly sidecarScript?: string;
  /** Origin of the demo website. If it is set, requests to the demo data's webhook receivers go to this website. */
  readonly demoOrigin?: string;
  /**
   * Output folder of `bundleWorker` for another version of the service. That version uses the same stores, and the Durable Objects of the
   * first version. `serve` chooses which of the two gets the requests.
   */
  readonly otherVersionDir?: string;
  /** Receives the requests that the service sends to other machines. */
  readonly outboundService?: (request: Request) => Promise<Response>;
  /** Debugger port, for profiling. */
  readonly inspectorPort?: number;
}

export interface Runtime {
  readonly url: string;
  readonly database: (shard?: string) => Promise<D1Like>;
  readonly scheduled: (cron: string, at?: Date) => Promise<void>;
  /** Chooses the versions. Requests go to them in turn. Only with `otherVersionDir`. The default is `["svc"]`. */
  readonly serve: (versions: readonly ServedVersion[]) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** The version in `bundleDir` or the one in `otherVersionDir`. */
export type ServedVersion = "svc" | "other";

/**
 * A Worker that passes the service's outbound requests on. Requests to the demo's receivers, which do not exist, go to the demo website.
 */
const outboundScript = `export default {
  fetch: (request, { RECEIVERS, DEMO_ORIGIN }) =>
    fetch(RECEIVERS.includes(request.url) ? new Request(DEMO_ORIGIN + new URL(request.url).pathname, request) : request),
}`;

/** A Worker in front of two versions of the service. It sends requests in turn to the versions that `Runtime.serve` chose. */
const versionRouterScript = `let serving = ["svc"];
let requests = 0;
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/serve-versions") return env[serving[requests++ % serving.length]].fetch(request);
    serving = await request.json();
    return new Response();
  },
}`;

type StartOptions = Omit<RuntimeOptions, "seed" | "migrations">;

const readBundle = (folder: string): string => readFileSync(join(folder, "index.js"), "utf8");

/** Returns bindings to the Durable Objects of the Worker `svc`. */
const borrowObjects = (configuration: WorkerConfiguration): object =>
  Object.fromEntries(
    Object.entries(configuration.durableObjects as Record<string, object>).map(([binding, object]) => [
      binding,
      { ...object, scriptName: "svc" },
    ]),
  );

/** Builds the options of the Worker that runs the service. `contents` is its bundle. */
const buildService = (configuration: WorkerConfiguration, contents: string, d1Databases: object, options: StartOptions) => ({
  ...configuration,
  ...(options.assetsDir !== undefined && { assets: { ...(configuration.assets as object), directory: options.assetsDir } }),
  // The local service does not need these, and each would add one or two isolates.
  cacheAPI: false,
  ratelimits: {},
  d1Databases,
  bindings: { ...(configuration.bindings as object), ...options.vars },
  ...(options.outboundService !== undefined && { outboundService: options.outboundService }),
  modules: [{ type: "ESModule", path: "index.js", contents }],
});

/** Lists the Workers. The first one gets the requests. */
const listWorkers = (options: StartOptions): readonly object[] => {
  const { bundleDir = workerBundleDir, script, otherVersionDir, demoOrigin, sidecarScript } = options;
  const configuration = readBundledConfiguration(bundleDir);
  const d1Databases = toDatabaseBindings(listDatabases(configuration, options.extraShards));
  const { compatibilityDate } = configuration;
  const service = {
    ...buildService(configuration, script ?? readBundle(bundleDir), d1Databases, options),
    // A module that replaces the Worker has no Durable Objects or queues.
    ...(script !== undefined && { durableObjects: {}, queueProducers: {}, queueConsumers: {} }),
    name: "svc",
    ...(demoOrigin !== undefined && { outboundService: "outbound" }),
  };
  const workers: object[] = [service];
  if (demoOrigin !== undefined)
    workers.push({
      name: "outbound",
      modules: true,
      script: outboundScript,
      compatibilityDate,
      bindings: { RECEIVERS: Object.values(receiverUrls), DEMO_ORIGIN: demoOrigin },
    });
  if (sidecarScript !== undefined)
    workers.push({
      name: "beside",
      modules: true,
      script: sidecarScript,
      compatibilityDate,
      d1Databases,
      durableObjects: borrowObjects(configuration),
      routes: ["beside.test/*"],
    });
  if (otherVersionDir === undefined) return workers;
  const otherConfiguration = readBundledConfiguration(otherVersionDir);
  return [
    {
      name: "router",
      modules: true,
      script: versionRouterScript,
      compatibilityDate,
      serviceBindings: { svc: "svc", other: "other" },
    },
    ...workers,
    {
      ...buildService(otherConfiguration, readBundle(otherVersionDir), d1Databases, options),
      durableObjects: borrowObjects(otherConfiguration),
      queueConsumers: {}, // a queue can have only one consumer
      name: "other",
    },
  ];
};

/** Starts the service with databases that `prepareDatabases` has prepared. */
export const startPreparedRuntime = async (options: StartOptions): Promise<Runtime> => {
  const running = startMiniflare(options, {
    port: options.port,
    unsafeTriggerHandlers: true,
    ...(options.inspectorPort !== undefined && { inspectorPort: options.inspectorPort }),
    workers: listWorkers(options),
  });
  const url = await running.ready;
  return {
    url: url.origin,
    database: async (shard = "00") => (await running.getD1Database(getBindingName(shard), "svc")) as unknown as D1Like,
    scheduled: async (cron, at = new Date()) => {
      const handler = (await running.getWorker("svc")) as unknown as {
        scheduled: (event: { cron: string; scheduledTime: Date }) => Promise<unknown>;
      };
      await handler.scheduled({ cron, scheduledTime: at });
    },
    serve: async (versions) => {
      const response = await fetch(`${url.origin}/serve-versions`, { method: "POST", body: JSON.stringify(versions) });
      if (!response.ok) throw new Error("serve() needs otherVersionDir");
    },
    dispose: () => running.dispose(),
  };
};

/** Starts the service after migrating and seeding its databases. */
export const startRuntime = async (options: RuntimeOptions): Promise<Runtime> => {
  await prepareDatabases(options);
  return startPreparedRuntime(options);
};
