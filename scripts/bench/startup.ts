// Measures the size of the Worker's bundle, and the CPU time that the runtime takes to start it and to answer the first request.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { loadWorkerConfiguration } from "../worker-configuration.ts";
import type { Bench } from "./measured-service.ts";
import { findFreePort } from "./peers/processes.ts";
import { getCpuMs } from "./runtime-process.ts";
import { median } from "./timing-comparison.ts";

const runtimePath = join("node_modules", "workerd", "bin", "workerd");
const emptyWorker = "export default { fetch: () => new Response() };";

/** The part of the Worker's configuration that affects how it starts. */
interface Compatibility {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

const writeRuntimeConfig = (folder: string, port: number, { compatibilityDate, compatibilityFlags }: Compatibility): string => {
  const path = join(folder, "startup.capnp");
  writeFileSync(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = "${compatibilityDate}",
  compatibilityFlags = ${JSON.stringify(compatibilityFlags)},
);
`,
  );
  return path;
};

/** Starts the runtime with the module `index.js` in the folder, and returns the CPU time until the first response in milliseconds. */
const measureStart = async (folder: string, compatibility: Compatibility): Promise<number> => {
  const port = await findFreePort();
  const config = writeRuntimeConfig(folder, port, compatibility);
  const runtime = spawn(runtimePath, ["serve", config], { stdio: "ignore" });
  const isAnswered = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true, // any response counts; without settings, svc responds with 503
      () => false,
    );
  try {
    while (runtime.exitCode === null && !(await isAnswered())) await pause(10);
    if (runtime.exitCode !== null) throw new Error("startup: the runtime has ended");
    return getCpuMs(String(runtime.pid));
  } finally {
    runtime.kill("SIGKILL");
    if (runtime.exitCode === null && runtime.signalCode === null) await once(runtime, "exit");
  }
};

export const measureStartup = async ({ state, bundledIn, rounds }: Bench & { readonly rounds: number }): Promise<void> => {
  const compatibility = loadWorkerConfiguration() as unknown as Compatibility;
  const folders = { bundle: join(state, "startup"), empty: join(state, "startup-empty") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  copyFileSync(join(bundledIn, "index.js"), join(folders.bundle, "index.js"));
  writeFileSync(join(folders.empty, "index.js"), emptyWorker);
  const cpu: Record<keyof typeof folders, number[]> = { bundle: [], empty: [] };
  for (let round = 0; round < rounds; round += 1) {
    cpu.empty.push(await measureStart(folders.empty, compatibility));
    cpu.bundle.push(await measureStart(folders.bundle, compatibility));
  }
  const contents = readFileSync(join(bundledIn, "index.js"));
  console.log(
    `\nstartup          ${(median(cpu.bundle) - median(cpu.empty)).toFixed(0)} ms CPU in addition to the ${median(cpu.empty).toFixed(0)} ms of an empty Worker; bundle ${contents.length} B, ${gzipSync(contents).length} B gzip`,
  );
};
