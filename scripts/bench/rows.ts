// Measures what each action costs the database: rows written, as D1 reports and bills them, and bytes of database pages. Both figures
// include everything that follows from the action: its audit entry, ledger statement, events and emails, and the deletion of finished work.
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { bundleWorker } from "../local-runtime.ts";
import { getShardDatabasePath } from "../worker-configuration.ts";
import {
  bearerHeader,
  capturePolicies,
  clientAddressHeader,
  insertApiKeys,
  origin,
  sendJson,
  startBenchService,
  type Bench,
  type Service,
} from "./measured-service.ts";
import { createPerson, grantOne } from "./shares.ts";
import { consentRequest } from "./submission.ts";

interface RowCost {
  readonly action: string;
  /** How many times the action ran. The figures are divided by this number. */
  readonly count: number;
  readonly rows: number;
  readonly bytes: number;
  /** The number of rows that each statement wrote, largest first. */
  readonly statements: readonly (readonly [name: string, rows: number])[];
}

const batchSize = 64; // few enough that their statements fit in one request to the ledger
const batches = 4;
const loneCertificates = 96; // enough certificates that the size of a single database page hardly affects the result
const withdrawals = 64;
const shares = 48; // a person may grant only 30 shares a minute, so two people grant 24 each
const sharesPerPerson = 24;
const settleMs = 20_000;

/** Counts the waiting work: changes, statements, emails, events and pages whose policies must still be captured. */
const waitingSql = `SELECT (SELECT COUNT(*) - 1 FROM changes)
  + (SELECT COUNT(*) FROM anchors WHERE status <> 'anchored') + (SELECT COUNT(*) FROM mail_outbox) + (SELECT COUNT(*) FROM outbox) + (SELECT COUNT(*) FROM policy_pages) AS n`;

/** Runs the cron job repeatedly until no work is waiting. */
const settle = async ({ runtime, db }: Service): Promise<void> => {
  const deadline = Date.now() + settleMs;
  for (;;) {
    await runtime.scheduled("* * * * *");
    for (let polls = 0; polls < 20; polls += 1) {
      if ((await db.prepare(waitingSql).first<{ n: number }>())?.n === 0) return;
      await pause(25);
    }
    if (Date.now() > deadline) throw new Error("rows: work is still waiting");
  }
};

/** Returns the rows written since the previous call, by statement. */
const takeWrittenRows = async ({ url }: Service): Promise<Readonly<Record<string, number>>> =>
  (await (await fetch(`${url}/bench/rows-written`)).json()) as Record<string, number>;

/**
 * Returns the total size in bytes of the database pages in use. Leaves out the development mailbox, because a deployment does not have one.
 * Reads a copy of the database, because another process has the file open.
 */
const measureBytes = (file: string): number => {
  const folder = mkdtempSync(join(tmpdir(), "svc-rows-"));
  const copy = join(folder, "copy.sqlite");
  for (const suffix of ["", "-wal"]) if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  const db = new DatabaseSync(copy);
  const { bytes } = db.prepare("SELECT SUM(pgsize) AS bytes FROM dbstat WHERE name NOT LIKE '%captured_mail%'").get() as { bytes: number };
  db.close();
  rmSync(folder, { recursive: true });
  return bytes;
};

interface Issued {
  readonly cert_id: string;
  readonly manage_url: string;
}

/** Measures the actions one after another on the same service. */
export const measureRowCosts = async (bench: Bench): Promise<readonly RowCost[]> => {
  const bundledIn = join(bench.state, "rows-bundle");
  await bundleWorker(bundledIn, "scripts/bench/counting-worker.ts");
  renameSync(join(bundledIn, "counting-worker.js"), join(bundledIn, "index.js"));
  // The batch window is an hour, so that only the cron job runs deferred work. If work ran after each response, each run would split the
  // batches differently.
  const vars = { ...bench.vars, DEV_RATE_SCALE: "1000000", DEV_BATCH_WINDOW_MS: "3600000" };
  const service = await startBenchService({ ...bench, bundledIn, vars }, "rows");
  const { acme } = bench.world;
  const { url, db } = service;
  const databaseFile = getShardDatabasePath(join(bench.state, "rows"));
  await capturePolicies(db);
  const keys = await insertApiKeys(db, acme, 4);

  let people = 0;
  const issue = async (): Promise<Issued> => {
    people += 1;
    const { headers, body, path } = consentRequest(acme, origin, 5_000_000 + people);
    const response = await fetch(`${url}${path}`, { method: "POST", headers: { ...headers }, body: body as string });
    if (response.status !== 201) throw new Error(`rows: not issued: ${await response.text()}`);
    return ((await response.json()) as { data: Issued }).data;
  };
  const issueMany = async (count: number): Promise<readonly Issued[]> => {
    const issued: Issued[] = [];
    for (let n = 0; n < count; n += 1) issued.push(await issue());
    await settle(service);
    return issued;
  };
  const expectSuccess = async (response: Response): Promise<void> => {
    const text = await response.text();
    if (response.status !== 200) throw new Error(`rows: ${response.status} ${text.slice(0, 200)}`);
  };

  const costs: RowCost[] = [];
  const measure = async (action: string, count: number, work: () => Promise<unknown>): Promise<void> => {
    await settle(service);
    const before = measureBytes(databaseFile);
    await takeWrittenRows(service);
    await work();
    await settle(service);
    const written = await takeWrittenRows(service);
    const bytes = (measureBytes(databaseFile) - before) / count;
    const statements = Object.entries(written)
      .filter(([name]) => !name.includes("captured_mail"))
      .map(([name, rows]) => [name, rows / count] as const);
    const rows = statements.reduce((sum, [, each]) => sum + each, 0);
    costs.push({ action, count, rows, bytes, statements: statements.sort(([, a], [, b]) => b - a) });
  };

  await issueMany(batchSize); // create the texts, counters and groups that later certificates share
  const cookies: string[] = [];
  for (let n = 0; n < shares / sharesPerPerson; n += 1) cookies.push(await createPerson(service, n));
  for (const cookie of cookies) await grantOne(service, cookie, acme);

  const issued: Issued[] = [];
  await measure(`certificate, ${batchSize} at a time`, batchSize * batches, async () => {
    for (let n = 0; n < batches; n += 1) issued.push(...(await issueMany(batchSize)));
  });
  await measure("certificate alone", loneCertificates, async () => {
    for (let n = 0; n < loneCertificates; n += 1) await issueMany(1);
  });
  await measure("detail read", issued.length, async () => {
    for (const [n, { cert_id }] of issued.entries())
      await expectSuccess(await fetch(`${url}/v1/certs/${cert_id}`, { headers: bearerHeader(keys, n) }));
  });
  await measure("page view", issued.length, async () => {
    const headers = { "user-agent": "Mozilla/5.0 Firefox/150.0" };
    for (const [n, { cert_id }] of issued.entries())
      await expectSuccess(await fetch(`${url}/c/${cert_id}`, { headers: { ...headers, ...clientAddressHeader(n) } }));
  });
  await measure("withdrawal", withdrawals, async () => {
    for (const [n, { cert_id, manage_url }] of issued.slice(0, withdrawals).entries()) {
      const token = { token: manage_url.split("#m=")[1] };
      await expectSuccess(await sendJson(url, "POST", `/v1/certs/${cert_id}/opt-out/manage`, token, clientAddressHeader(n)));
    }
  });
  await measure("share", shares, async () => {
    for (const cookie of cookies) for (let n = 0; n < sharesPerPerson; n += 1) await grantOne(service, cookie, acme);
  });
  await service.runtime.dispose();
  return costs;
};

/** Prints the costs of each action, with the statements that write the most rows. */
export const measureRows = async (bench: Bench): Promise<void> => {
  console.log(`\n${"rows".padEnd(28)} rows written   bytes   most by statement`);
  for (const { action, rows, bytes, statements } of await measureRowCosts(bench)) {
    const most = statements.slice(0, 12).map(([name, each]) => `${name} ${each.toFixed(2)}`);
    console.log(`${action.padEnd(28)} ${rows.toFixed(2).padStart(12)} ${bytes.toFixed(0).padStart(7)}   ${most.join(", ")}`);
  }
};
