// Loads Miniflare and wrangler, with the settings that all local runtimes share.
import { createRequire } from "node:module";
import { join } from "node:path";

process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false"; // keeps Miniflare from requesting the location of this machine
process.env.WRANGLER_SEND_METRICS ??= "false";
process.env.WRANGLER_HIDE_BANNER ??= "true";
// The runtime has about twenty isolates (the Worker, simulators of D1, KV, queues and assets, and their proxies), and each sizes its heap
// as if it were the only one. Together they take 1 GiB after a minute of load. With a young generation of 2 MiB, they take about 400 MiB.
process.env.MINIFLARE_WORKERD_V8_FLAGS ??= "--max-semi-space-size=2";

/** Loads wrangler only when it is needed, because loading takes half a second, and a restart without changes does not need wrangler. */
export const loadWrangler = (): typeof import("wrangler") => createRequire(import.meta.url)("wrangler") as typeof import("wrangler");

const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import("miniflare");
export type Miniflare = InstanceType<typeof Miniflare>;

export interface SharedOptions {
  readonly stateDir: string;
  /** If false, prints only warnings and errors, so that benchmarks do not measure the terminal. */
  readonly printsLog?: boolean;
  /** If false, does not print warnings and errors. A simulated fault causes hundreds of them. */
  readonly printsProblems?: boolean;
}

/**
 * Returns true for a message to hide. With the V8 flags above, the runtime cannot use its compile cache and prints this message once per
 * isolate.
 */
const isExpectedMessage = (message: string): boolean => message.startsWith("NOSENTRY per-isolate bootstrap compile cache");

interface LogLine {
  readonly level: string;
  readonly message: string;
}

const isProblem = ({ level }: LogLine): boolean => level === "warn" || level === "error";

const createLogPrinter =
  ({ printsLog, printsProblems }: SharedOptions) =>
  (line: LogLine): void => {
    const isPrinted = isProblem(line) ? printsProblems !== false : printsLog !== false;
    if (isExpectedMessage(line.message) || !isPrinted) return;
    (isProblem(line) ? process.stderr : process.stdout).write(`${line.message}\n`);
  };

/** Starts a runtime. `more` contains Miniflare's other options. */
export const startMiniflare = (shared: SharedOptions, more: object): Miniflare =>
  new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      cf: false,
      log: new Log(LogLevel.WARN),
      logRequests: false,
      handleStructuredLogs: createLogPrinter(shared),
      resourcePersistencePath: join(shared.stateDir, "v3"),
      resourceTmpPath: join(shared.stateDir, "tmp"),
      ...more,
    } as never),
  );
