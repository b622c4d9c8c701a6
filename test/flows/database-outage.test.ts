// Locks the database file during submissions and withdrawals, so that every write fails for a while. During the outage, submissions get 201
// from the journal, withdrawals get 503, and nothing is written partially. After the outage, no record, statement or event is missing.
// OUTAGE_MS is the duration (npm run stress sets 30,000).
import { auditEntriesSql, buildAuditPositionSql, statementsSql } from "../support/statements-sql.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listEvents, registerEndpoint, type ProducerTarget, type PlacedEvent } from "../../scripts/bench/producer.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { newCertificates } from "../support/counted-certificates.ts";
import { openServiceDatabase, startKillableService, type KillableService } from "../support/killable-service.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";
import { testVars, worldSecret } from "../support/local-vars.ts";
import { createProgressPrinter } from "../support/progress.ts";

const outageMs = Number(process.env.OUTAGE_MS ?? "2000");
const aroundMs = Math.max(1_000, outageMs / 10); // the same load runs for this long before and after the outage
const clients = 6;
const { acme } = createDemoWorld(worldSecret);
const state = mkdtempSync(join(tmpdir(), "svc-outage-"));
const received = new Set<string>();
let receiver: Server;
let url = "";
let kill: KillableService["kill"] = async () => {};
let endpointAt = "";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

beforeAll(async () => {
  const bundle = await ensureBuiltWorker();
  receiver = createServer((request, response) => {
    received.add(String(request.headers["svc-event-id"]));
    request.resume();
    request.on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  endpointAt = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  ({ url, kill } = await startKillableService("events-child", state, bundle, endpointAt, "1000"));
});

afterAll(async () => {
  await kill();
  receiver.close();
  rmSync(state, { recursive: true, force: true });
});

interface Answered {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly status: number;
}
const responses: Answered[] = [];

interface Issued {
  readonly cert_id: string;
  readonly manage_url: string;
}

/** Repeats a request until the response is not a 5xx, as a page or a person would. */
const sendUntilAccepted = async (path: string, init: RequestInit): Promise<{ readonly status: number; readonly data: Issued }> => {
  for (;;) {
    const from = performance.now();
    const response = await fetch(`${url}${path}`, init);
    const { data } = (await response.json()) as { data: Issued };
    responses.push({ path, from, to: performance.now(), status: response.status });
    if (response.status < 500) return { status: response.status, data };
    await pause(100);
  }
};

let serial = 0;
const issueAndWithdraw = async (): Promise<string> => {
  const { headers, body } = consentRequest(acme, "https://www.example.com", serial++);
  const issued = await sendUntilAccepted("/v1/consent", { method: "POST", headers: { ...headers }, body: body as string });
  expect([200, 201]).toContain(issued.status);
  const { cert_id, manage_url } = issued.data;
  const withdrawn = await sendUntilAccepted(`/v1/certs/${cert_id}/opt-out/manage`, {
    method: "POST",
    headers: { "content-type": "application/json", "cf-connecting-ip": `10.200.${(serial >> 8) & 255}.${serial & 255}` },
    body: JSON.stringify({ token: manage_url.split("#m=")[1] }),
  });
  expect([200, 409]).toContain(withdrawn.status); // 409 if an earlier request withdrew the certificate although its response was an error
  return cert_id;
};

const readSequence = async (place: ProducerTarget): Promise<PlacedEvent[]> => {
  const events: PlacedEvent[] = [];
  for (let cursor = 0; ; ) {
    const page = await listEvents(place, cursor, 500);
    events.push(...page.events);
    if (page.readThrough >= page.head) return events;
    cursor = page.readThrough;
  }
};

test("issues certificates and returns 503 for withdrawals during a database outage and loses nothing that was acknowledged or started", {
  timeout: 120_000 + 2 * outageMs,
}, async () => {
  const place: ProducerTarget = { url, vars: testVars, business: acme.id };
  await registerEndpoint(place, `http://${endpointAt}/hook`);
  const completed: string[] = [];
  let running = true;
  const runClient = async (): Promise<void> => {
    while (running) {
      completed.push(await issueAndWithdraw());
      await pause(20);
    }
  };
  const storm = Promise.all(Array.from({ length: clients }, runClient));
  await pause(aroundMs);

  const db = openServiceDatabase(state);
  db.exec("BEGIN EXCLUSIVE");
  const lockedAt = performance.now();
  const isSubmission = ({ path }: Answered): boolean => path === "/v1/consent";
  const wasSubmitted = (): boolean => responses.some((response) => isSubmission(response) && response.from > lockedAt);
  // These clients submit now, because all others may be waiting for a withdrawal.
  const visitors = Promise.all(Array.from({ length: clients }, issueAndWithdraw));
  const progress = createProgressPrinter("Milliseconds of outage", outageMs);
  while (performance.now() - lockedAt < outageMs || !wasSubmitted()) {
    await pause(100);
    progress(Math.round(performance.now() - lockedAt));
  }
  const openedAt = performance.now();
  db.exec("ROLLBACK");
  await pause(aroundMs);
  running = false;
  await storm;
  completed.push(...(await visitors));

  const inOutage = responses.filter(({ from, to: end }) => from > lockedAt && end < openedAt);
  expect(inOutage.length).toBeGreaterThan(clients);
  const listStatuses = (received: readonly Answered[]): readonly number[] => [...new Set(received.map(({ status }) => status))];
  expect(listStatuses(inOutage.filter(isSubmission))).toEqual([201]);
  expect(listStatuses(inOutage.filter((response) => !isSubmission(response)))).toEqual([503]);

  const count = (sql: string): number => Number((db.prepare(sql).get() as { n: number }).n);
  const all = completed.length;
  expect(all).toBeGreaterThan(clients);
  await expect.poll(async () => (await readSequence(place)).length, { timeout: 60_000 }).toBe(all);
  const events = await readSequence(place);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(all);
  await expect.poll(() => received.size, { timeout: 60_000 }).toBe(all);
  expect([...received].sort()).toEqual(events.map(({ id }) => id).sort());

  expect(new Set(completed).size).toBe(all);
  for (const sql of [
    "SELECT COUNT(*) AS n FROM certificates",
    "SELECT COUNT(*) AS n FROM certificates WHERE status = 'revoked'",
    "SELECT COUNT(*) AS n FROM withdrawals",
    `${newCertificates}SELECT coalesce(SUM(revoked), 0) + (SELECT COUNT(*) FROM added WHERE status = 'revoked') AS n FROM certificate_totals`,
    `SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE type = 'certificate.issued'`,
    `SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE type = 'certificate.revoked'`,
    `SELECT COUNT(*) AS n FROM ${statementsSql} WHERE event = 'certificate.issued'`,
    `SELECT COUNT(*) AS n FROM ${statementsSql} WHERE event = 'certificate.revoked'`,
  ])
    expect(count(sql), sql).toBe(all);
  await expect
    .poll(() => count(`SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE ord > ${buildAuditPositionSql("00")}`), {
      timeout: 60_000,
    })
    .toBe(0);
  await expect.poll(() => count(`SELECT COUNT(*) AS n FROM ${statementsSql} WHERE status <> 'anchored'`), { timeout: 60_000 }).toBe(0);
  const unplaced = `SELECT COUNT(*) AS n FROM changes WHERE sequence IS NOT NULL
    AND ord > COALESCE((SELECT ord FROM change_readers WHERE reader = 'events'), 0)`;
  await expect.poll(() => count(unplaced), { timeout: 180_000 }).toBe(0);
  db.close();
  console.log(`${all} certificates issued and withdrawn around ${outageMs} ms of outage, ${inOutage.length} answers in it`);
});
