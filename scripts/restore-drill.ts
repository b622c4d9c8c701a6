// Implements `npm run admin -- restore-drill`. The drill uses a copy of the local data to show what a restore recovers, and that a log
// signs nothing after it has been reset to an earlier state. docs/operate/backup.md explains the results.
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { consentRequest } from "./bench/submission.ts";
import { prepareDemoData } from "./demo-data.ts";
import { createDemoWorld } from "./demo-world.ts";
import { startPreparedRuntime, type Runtime } from "./local-runtime.ts";
import type { LocalSettings } from "./settings.ts";

export interface DrillOptions {
  readonly settings: LocalSettings;
  /** Output folder of `bundleWorker`, if not the default. */
  readonly bundleDir?: string;
  readonly report: (text: string) => void;
}

/** The drill replaces the DNS resolver's URL, because it must not send requests to other machines. */
const unreachableUrl = "http://127.0.0.1:1/none";

const intervalMs = 15 * 60_000; // how often the service closes an interval of the audit log
const maxJobRuns = 30;
const jobPauseMs = 1_000;
const queuePauseMs = 3_000;

/** Lists the folders that contain the objects of one class. The paths are relative to the state folder. */
const listObjectFolders = (stateDir: string, className: string): readonly string[] => {
  const folder = join(stateDir, "v3", "do");
  return readdirSync(folder)
    .filter((name) => name.endsWith(className))
    .map((name) => join("v3", "do", name));
};

const replaceFolders = (from: string, to: string, folders: readonly string[]): void => {
  for (const folder of folders) {
    rmSync(join(to, folder), { recursive: true, force: true });
    cpSync(join(from, folder), join(to, folder), { recursive: true });
  }
};

/** Runs the drill. Throws if an expectation is not met. */
export const runRestoreDrill = async ({ settings, bundleDir, report }: DrillOptions): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "svc-restore-drill-"));
  const [live, backup, current] = ["live", "backup", "current"].map((name) => join(folder, name)) as [string, string, string];
  const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
  let runtime: Runtime | null = null;
  let serial = 0;
  let intervals = 0;

  const start = async (): Promise<void> => {
    runtime = await startPreparedRuntime({
      port: 0,
      stateDir: live,
      extraShards: settings.extraShards,
      vars: { ...settings.vars, DEV_RATE_SCALE: "1000", DOH_URLS: unreachableUrl },
      printsLog: false,
      ...(bundleDir !== undefined && { bundleDir }),
    });
  };
  const stop = async (): Promise<void> => {
    await runtime?.dispose();
    runtime = null;
  };
  const get = (path: string): Promise<Response> => fetch(`${runtime?.url}${path}`);
  const issue = async (): Promise<string> => {
    const { headers, body } = consentRequest(world.acme, "https://www.example.com", serial++);
    const response = await fetch(`${runtime?.url}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
    const { data } = (await response.json()) as { readonly data?: { readonly cert_id: string } };
    if (data === undefined) throw new Error(`A certificate was refused with ${response.status}.`);
    return data.cert_id;
  };
  const getVerifyStatus = async (certId: string): Promise<number> => (await get(`/v1/certs/${certId}/verify`)).status;
  const readCheckpoint = async (): Promise<number | null> => {
    const response = await get("/audit/00/checkpoint");
    return response.ok ? Number((await response.text()).split("\n")[1]) : null;
  };
  /**
   * Runs the every-minute cron job and the 15-minute cron job until `isDone` returns true, at most 30 times. Each time, the 15-minute job
   * gets a time 15 minutes later than before. With several shards, the jobs run from a queue, so they may still be running when this
   * function checks.
   */
  const runJobsUntil = async (isDone: () => Promise<boolean>): Promise<void> => {
    for (let runs = 0; runs < maxJobRuns; runs += 1) {
      await runtime?.scheduled("* * * * *");
      await runtime?.scheduled("*/15 * * * *", new Date(Date.now() + intervals++ * intervalMs));
      if (await isDone()) break;
      await pause(jobPauseMs);
    }
    // Queued jobs that are still running must save their results before the drill stops the service.
    if (settings.extraShards.length > 0) await pause(queuePauseMs);
  };
  const runJobsUntilLarger = (size: number): Promise<void> => runJobsUntil(async () => ((await readCheckpoint()) ?? 0) > size);
  const expectThat = (isMet: boolean, text: string): void => {
    if (!isMet) throw new Error(`Not met: ${text}`);
    report(`  ok    ${text}`);
  };
  const setBack = (part: string, folders: readonly string[]): void => {
    replaceFolders(current, live, ["v3"]);
    replaceFolders(backup, live, folders);
    report(`\n${part}`);
  };

  try {
    if (existsSync(settings.stateDir)) cpSync(settings.stateDir, live, { recursive: true });
    else await prepareDemoData({ ...settings, stateDir: live }, world, { isEmpty: true });

    report("Create a backup, then another certificate");
    await start();
    const sizeAtStart = (await readCheckpoint()) ?? 0;
    const before = await issue();
    await runJobsUntilLarger(sizeAtStart);
    const sizeBefore = (await readCheckpoint()) ?? 0;
    await stop();
    cpSync(live, backup, { recursive: true });
    await start();
    const after = await issue();
    await runJobsUntilLarger(sizeBefore);
    const sizeAfter = (await readCheckpoint()) ?? 0;
    expectThat(sizeAfter > sizeBefore, `The audit log grew from ${sizeBefore} to ${sizeAfter} entries.`);
    await stop();
    cpSync(live, current, { recursive: true });

    setBack("The database is reset to an earlier state", [join("v3", "d1")]);
    await start();
    expectThat((await getVerifyStatus(before)) === 200, "The certificate from before the backup verifies.");
    expectThat((await getVerifyStatus(after)) === 404, "The certificate from after the backup is lost.");
    const later = await issue();
    await runJobsUntilLarger(sizeAfter);
    const sizeLater = (await readCheckpoint()) ?? 0;
    expectThat(sizeLater > sizeAfter, `The audit log keeps the entries of lost changes, and continues with ${sizeLater} entries.`);
    expectThat((await getVerifyStatus(later)) === 200, "New certificates are issued and recorded.");
    await stop();

    setBack("The audit log is reset to an earlier state", listObjectFolders(current, "AuditLog"));
    await start();
    await runJobsUntil(async () => (await readCheckpoint()) === null);
    expectThat((await readCheckpoint()) === null, "The audit log detects that it is behind its last signature, and signs nothing.");
    expectThat((await getVerifyStatus(after)) === 200, "Certificates still verify.");
    await stop();

    setBack("The ledger is reset to an earlier state", listObjectFolders(current, "LedgerLog"));
    await start();
    const unanchored = await issue();
    await runJobsUntilLarger(sizeAfter);
    const { data } = (await (await get(`/v1/certs/${unanchored}/verify`)).json()) as { data: { anchor: { status: string } } };
    expectThat(data.anchor.status !== "anchored", "The service detects that the ledger is behind, and anchors nothing in it.");
    await stop();

    setBack("Everything is restored to the same time", ["v3"]);
    await start();
    await issue();
    await runJobsUntilLarger(sizeBefore);
    expectThat(((await readCheckpoint()) ?? 0) > sizeBefore, "All logs continue.");
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
