// Runs workers/ledger alone on this machine, as a ledger operator would deploy it.
import { build } from "esbuild";
import { startMiniflare } from "./miniflare.ts";

export interface StandaloneLedger {
  /** URL of the log without a trailing slash. */
  readonly base: string;
  readonly dispose: () => Promise<void>;
}

export interface LedgerDeployment {
  readonly origin: string;
  /** Secret key in note format. */
  readonly secret: string;
  readonly token: string;
  /** Folder for the ledger's state. */
  readonly folder: string;
  readonly port?: number;
}

export const startStandaloneLedger = async ({ origin, secret, token, folder, port = 0 }: LedgerDeployment): Promise<StandaloneLedger> => {
  const bundled = await build({
    entryPoints: ["workers/ledger/entry.ts"],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:workers", "node:crypto"],
  });
  const runtime = startMiniflare(
    { stateDir: folder },
    {
      port,
      workers: [
        {
          name: "ledger",
          modules: [{ type: "ESModule", path: "index.js", contents: bundled.outputFiles[0]?.text ?? "" }],
          compatibilityDate: "2026-10-01",
          compatibilityFlags: ["nodejs_compat"],
          durableObjects: { LEDGER_LOG: { className: "LedgerLog", useSQLite: true } },
          bindings: { LEDGER_ORIGIN: origin, LEDGER_KEY: secret, LEDGER_WRITE_TOKEN: token, LEDGER_ENTRIES_PER_SECOND: "1000000" },
        },
      ],
    },
  );
  const url = await runtime.ready;
  return { base: `${url.origin}${origin.slice(origin.indexOf("/"))}`, dispose: () => runtime.dispose() };
};
