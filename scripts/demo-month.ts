// Replays a month of the demo business into prepared databases. The Worker in demo-month/ does the work. It calls the operations of the
// service with the service's clock set to the past.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { DemoAccount } from "./demo-month/account.ts";
import type { DemoWorld } from "./demo-world.ts";
import { startPreparedRuntime, type RuntimeOptions } from "./local-runtime.ts";

const bundleReplay = async (bundleDir: string): Promise<void> => {
  await build({
    entryPoints: ["scripts/demo-month/worker.ts"],
    outfile: join(bundleDir, "index.js"),
    external: ["cloudflare:*", "node:*"],
    conditions: ["workerd", "worker", "browser"], // the conditions that wrangler uses
    bundle: true,
    format: "esm",
    target: "es2024",
    logLevel: "warning",
  });
};

const limitNamePattern = /^(?:LIMIT_.+|DEV_RATE_SCALE|DEV_SHARD_BYTES)$/;

/** Restores the default limits. Writing a month of demo data in a few seconds could exceed lower ones. */
const withDefaultLimits = (vars: RuntimeOptions["vars"]): RuntimeOptions["vars"] =>
  Object.fromEntries(Object.entries(vars).filter(([name]) => !limitNamePattern.test(name)));

export type ReplayOptions = Pick<RuntimeOptions, "stateDir" | "vars" | "assetsDir">;

export interface ReplayedMonth {
  /** Number of live certificates. */
  readonly certificates: number;
  /** Milliseconds from the start of `run` until the month was complete. */
  readonly durationMs: number;
}

export interface MonthReplay {
  /**
   * Replays the month of the business `world.acme`. The databases must be prepared, and no running service may use them. Throws if an
   * operation refuses a step.
   */
  readonly run: (world: DemoWorld) => Promise<ReplayedMonth>;
  readonly close: () => Promise<void>;
}

/**
 * Bundles and starts the Worker that replays the month. This takes about a third of the total time. The Worker opens the databases only in
 * `run`, so they can be prepared at the same time. Call `buildAssets` first.
 */
export const openMonthReplay = async (options: ReplayOptions): Promise<MonthReplay> => {
  const bundleDir = mkdtempSync(join(tmpdir(), "svc-demo-month-"));
  const removeBundle = (): void => rmSync(bundleDir, { recursive: true, force: true });
  try {
    await bundleReplay(bundleDir);
    const runtime = await startPreparedRuntime({
      ...options,
      vars: withDefaultLimits(options.vars),
      port: 0,
      bundleDir,
      printsLog: false,
    });
    return {
      run: async ({ acme, ownerEmail, consumerEmail }) => {
        const startedAt = performance.now();
        const { id: businessId, clients, keys } = acme;
        const account: DemoAccount = { businessId, clients, keys, ownerEmail, consumerEmail };
        const response = await fetch(runtime.url, { method: "POST", body: JSON.stringify(account) });
        if (!response.ok) throw new Error(`The demo data could not be written: ${await response.text()}`);
        const { certificates } = (await response.json()) as Pick<ReplayedMonth, "certificates">;
        return { certificates, durationMs: performance.now() - startedAt };
      },
      close: () => runtime.dispose(),
    };
  } finally {
    removeBundle(); // the runtime has loaded the bundle and no longer needs it
  }
};
