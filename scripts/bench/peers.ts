// Compares svc with the programs that people would use instead. In each comparison, svc and the other program take turns in the same run.
import { compareAgents } from "./peers/agents.ts";
import { installPeers } from "./peers/install.ts";
import { comparePageScripts } from "./peers/page-scripts.ts";
import { startPostgres } from "./peers/postgres.ts";
import { findFreePort } from "./peers/processes.ts";
import { compareRecords } from "./peers/records.ts";
import { compareWebhooks } from "./peers/webhooks.ts";
import type { Bench } from "./measured-service.ts";
import type { Slices } from "./series.ts";

export const measurePeers = async (bench: Bench & { readonly slices: Slices }): Promise<void> => {
  const folder = installPeers();
  const postgres = await startPostgres(await findFreePort());
  console.log(
    "peers            ratios are relative to the row of svc above; its CPU excludes the load, and that of peers includes PostgreSQL",
  );
  try {
    await compareRecords(bench, folder, postgres);
    await compareWebhooks(bench, folder, postgres);
    await compareAgents(bench, folder);
    await comparePageScripts(folder);
  } finally {
    await postgres.stop();
  }
};
