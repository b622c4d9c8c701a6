// Tests submissions to a real service whose database fails. In the first test, the service is also killed repeatedly; afterward, every
// receipt must be in the database exactly once. In the second test, the database hangs under a steady load, and every submission must get a
// certificate. INTAKE_KILLS, INTAKE_HANG_MS and INTAKE_CLIENTS set the size. The stress tests `intake` and `intake-hour` set larger ones,
// and measure the response times with the default of INTAKE_WAIT_MS.
import { auditEntriesSql, statementsSql } from "../support/statements-sql.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { faultModes } from "../../core/simulated-fault.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { createDemoWorld, type DemoBusiness } from "../../scripts/demo-world.ts";
import { newCertificates } from "../support/counted-certificates.ts";
import { openServiceDatabase, startKillableService, type KillableService } from "../support/killable-service.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";
import { worldSecret } from "../support/local-vars.ts";
import { createProgressPrinter } from "../support/progress.ts";

const kills = Number(process.env.INTAKE_KILLS ?? "2");
const hangMs = Number(process.env.INTAKE_HANG_MS ?? "3000");
const clientCount = Number(process.env.INTAKE_CLIENTS ?? "4"); // at most 32
const maxFaultMs = 3_600_000; // the longest fault that `POST /dev/faults` accepts
const perSecond = 79;
const connections = 12;
const { acme } = createDemoWorld(worldSecret);
let bundle = "";
let state = "";

interface Receipt {
  readonly cert_id: string;
  readonly fingerprint: string;
}

const start = (): Promise<KillableService> => startKillableService("runtime-child", state, bundle);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const setFault = async ({ url }: KillableService, mode: string, for_ms: number): Promise<void> => {
  const body = JSON.stringify({ database: "00", mode, for_ms });
  const response = await fetch(`${url}/dev/faults`, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!response.ok) throw new Error(`no fault: ${response.status}`);
};

let serial = 0;
type Submission = ReturnType<typeof consentRequest>;
const createSubmission = (business = acme): Submission => consentRequest(business, "https://www.example.com", serial++);

/** Returns the receipt, or the status of the refusal. */
const send = async ({ url }: KillableService, { headers, body }: Submission): Promise<Receipt | number> => {
  const response = await fetch(`${url}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
  const parsedBody = (await response.json()) as { ok: boolean; data: Receipt };
  return parsedBody.ok ? parsedBody.data : response.status;
};

/** Creates clients whose submissions go to different journals, because their IDs end in different characters. */
const insertClients = (db: DatabaseSync): readonly DemoBusiness[] => {
  const { sandbox, live } = acme.clients;
  const ids = [..."0123456789abcdefghjkmnpqrstvwxyz"].slice(0, clientCount).map((end) => live.slice(0, -1) + end);
  const insert = db.prepare(
    "INSERT OR IGNORE INTO clients (id, business_id, environment, name, created_at) VALUES (?, ?, 'live', 'Intake', ?)",
  );
  for (const id of ids) insert.run(id, acme.id, Date.now());
  return ids.map((id) => ({ ...acme, clients: { sandbox, live: id } }));
};

beforeAll(async () => {
  bundle = await ensureBuiltWorker();
});
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "svc-intake-"));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const count = (db: DatabaseSync, sql: string): number => Number((db.prepare(sql).get() as { n: number }).n);

const waitForCertificates = async (db: DatabaseSync, certIds: ReadonlySet<string>, timeout = 120_000): Promise<void> => {
  const all = JSON.stringify([...certIds]);
  const missing = db.prepare("SELECT COUNT(*) AS n FROM json_each(?) j WHERE NOT EXISTS (SELECT 1 FROM certificates WHERE id = j.value)");
  const interval = 50 + certIds.size / 100; // large sets are read less often, so that reading does not slow down the service
  await expect.poll(() => Number(missing.get(all)?.n), { timeout, interval }).toBe(0);
};

/**
 * Expects everything that issuances write to exist once for each certificate. Reads in one transaction, because the journal may still be
 * moving submissions to the database, including submissions that got no response.
 */
const expectComplete = (db: DatabaseSync): void => {
  db.exec("BEGIN");
  const certificates = count(db, "SELECT COUNT(*) AS n FROM certificates");
  for (const sql of [
    `SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE type = 'certificate.issued'`,
    `SELECT COUNT(*) AS n FROM ${statementsSql} WHERE event = 'certificate.issued'`,
    `${newCertificates}SELECT coalesce(SUM(active + revoked), 0) + (SELECT COUNT(*) FROM added) AS n FROM certificate_totals`,
    "SELECT SUM(submissions) AS n FROM client_daily_usage",
  ])
    expect(count(db, sql), sql).toBe(certificates);
  db.exec("COMMIT");
};

describe("a service that is killed while its database fails", () => {
  test("loses no receipt and issues nothing twice", { timeout: 120_000 + kills * 30_000 }, async () => {
    /**
     * The fingerprints on the receipts for each certificate ID. An ID has several if a repeat of the submission was stored as a second
     * certificate with the same ID (a twin).
     */
    const receipts = new Map<string, Set<string>>();
    const certIds = new Map<Submission, Set<string>>();
    const progress = createProgressPrinter("intake, kills", kills);
    for (let round = 0; round < kills; round += 1) {
      const service = await start();
      let isAlive = true;
      const runLoop = async (): Promise<void> => {
        let submission = createSubmission();
        while (isAlive) {
          const receipt = await send(service, submission).catch(() => null); // null once the service is killed
          if (receipt !== null && typeof receipt === "object") {
            receipts.set(receipt.cert_id, (receipts.get(receipt.cert_id) ?? new Set()).add(receipt.fingerprint));
            certIds.set(submission, (certIds.get(submission) ?? new Set()).add(receipt.cert_id));
            if (Math.random() >= 0.15) submission = createSubmission(); // otherwise the same submission is sent again, as a page would do
          }
        }
      };
      const storm = Promise.all(Array.from({ length: connections }, runLoop));
      const before = receipts.size;
      const faults = 2 + Math.floor(Math.random() * 4);
      for (let fault = 0; fault < faults; fault += 1) {
        const mode = faultModes[Math.floor(Math.random() * faultModes.length)] as string;
        await setFault(service, mode, fault % 2 === 0 ? 60_000 : 0);
        await pause(100 + Math.random() * 900);
      }
      while (receipts.size === before) await pause(50); // a busy machine may need longer for the first receipt
      isAlive = false;
      await service.kill();
      await storm;
      progress(round + 1);
    }

    const service = await start();
    const db = openServiceDatabase(state);
    await waitForCertificates(db, new Set(receipts.keys()));
    expect(typeof (await send(service, createSubmission()))).toBe("object");
    const stored = db.prepare(
      "SELECT lower(hex(fingerprint)) AS fingerprint FROM certificates WHERE id = ?1 UNION ALL SELECT fingerprint FROM certificate_twins WHERE cert_id = ?1",
    );
    const lost = [...receipts].filter(([certId, fingerprints]) => {
      const kept = new Set(stored.all(certId).map(({ fingerprint }) => String(fingerprint)));
      return [...fingerprints].some((fingerprint) => !kept.has(fingerprint));
    });
    expect(lost).toEqual([]);
    expect([...certIds.values()].filter((ids) => ids.size > 1)).toEqual([]);
    expectComplete(db);
    console.log(
      `intake: ${kills} kills, ${receipts.size} certificates acknowledged, ${count(db, "SELECT COUNT(*) AS n FROM certificate_twins")} twins`,
    );
    db.close();
    await service.kill();
  });
});

describe("a database that hangs under a steady load", () => {
  test("issues a certificate for every submission and stores all of them in order", { timeout: 180_000 + 2 * hangMs }, async () => {
    const service = await start();
    const db = openServiceDatabase(state);
    const clients = insertClients(db);
    for (const client of clients) expect(typeof (await send(service, createSubmission(client)))).toBe("object"); // fills the account cache
    await setFault(service, "hang", Math.min(hangMs + 600_000, maxFaultMs));
    const durations: number[] = [];
    const results: (Receipt | number)[] = [];
    /** Certificate IDs by connection. A connection sends its next submission after the response to the previous one. */
    const inOrder: string[][] = [];
    const startedAt = performance.now();
    const due = Math.round((hangMs / 1_000) * perSecond);
    let sent = 0;
    const progress = createProgressPrinter("intake, submissions", due);
    /** Sends submissions to a single journal, because only the submissions of one journal are stored in order. */
    const connect = async (_: unknown, connection: number): Promise<void> => {
      const client = clients[connection % clients.length];
      const clientIds: string[] = [];
      inOrder.push(clientIds);
      while (sent < due) {
        const at = startedAt + (sent++ * 1_000) / perSecond;
        await pause(Math.max(0, at - performance.now()));
        const from = performance.now();
        const result = await send(service, createSubmission(client));
        durations.push(performance.now() - from);
        results.push(result);
        if (typeof result === "object") clientIds.push(result.cert_id);
        progress(results.length);
      }
    };
    await Promise.all(Array.from({ length: 100 }).map(connect));
    expect(results.filter((result) => typeof result !== "object")).toEqual([]);

    await setFault(service, "hang", 0);
    const endedAt = performance.now();
    const ids = new Set(inOrder.flat());
    expect(ids.size).toBe(due);
    await waitForCertificates(db, ids, 120_000 + hangMs);
    const drainMs = performance.now() - endedAt;
    const ords = new Map(
      db
        .prepare("SELECT id, ord FROM certificates")
        .all()
        .map(({ id, ord }) => [String(id), Number(ord)]),
    );
    for (const clientIds of inOrder) {
      const placed = clientIds.map((id) => ords.get(id) as number);
      expect(placed).toEqual(placed.toSorted((a, b) => a - b));
    }
    expectComplete(db);
    const sorted = durations.toSorted((a, b) => a - b);
    const computeQuantile = (share: number): number =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    console.log(
      `intake: ${due} submissions in ${Math.round(performance.now() - startedAt)} ms, all 201; p50 ${computeQuantile(0.5)}, p99 ${computeQuantile(0.99)}, max ${computeQuantile(1)} ms; placed in ${Math.round(drainMs)} ms (${Math.round((due * 1_000) / drainMs)}/s)`,
    );
    db.close();
    await service.kill();
  });
});
