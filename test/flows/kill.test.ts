// Checks that acknowledged work is recorded exactly once despite crashes: every certificate (201) with its audit entry and ledger
// statement, and every withdrawal (200) with its audit entry, statement and event. The service is killed under load, and the test then
// reads the database file directly. KILL_ROUNDS sets the number of rounds (npm run stress sets 20).
import { auditEntriesSql, statementsSql } from "../support/statements-sql.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { newCertificates } from "../support/counted-certificates.ts";
import { openServiceDatabase, startKillableService, type KillableService } from "../support/killable-service.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";
import { worldSecret } from "../support/local-vars.ts";

const rounds = Number(process.env.KILL_ROUNDS ?? "2");
const connections = 16;
const { acme } = createDemoWorld(worldSecret);
const state = mkdtempSync(join(tmpdir(), "svc-kill-"));
let bundle = "";

interface Acknowledged {
  readonly cert_id: string;
  readonly fingerprint: string;
  readonly manage_url: string;
}

const start = (): Promise<KillableService> => startKillableService("runtime-child", state, bundle);

let serial = 0;
const submit = async (url: string): Promise<Acknowledged | null> => {
  const { headers, body } = consentRequest(acme, "https://www.example.com", serial++);
  const response = await fetch(`${url}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
  const parsedBody = (await response.json()) as { ok: boolean; data: Acknowledged };
  if (!parsedBody.ok) throw new Error(`refused: ${JSON.stringify(parsedBody)}`);
  return parsedBody.data;
};

/** Withdraws with the receipt's manage link. Returns the certificate's ID once the withdrawal is acknowledged. */
const withdraw = async (url: string, { cert_id, manage_url }: Acknowledged): Promise<string> => {
  const response = await fetch(`${url}/v1/certs/${cert_id}/opt-out/manage`, {
    method: "POST",
    headers: { "content-type": "application/json", "cf-connecting-ip": `10.200.${serial % 250}.${(serial * 7) % 250}` },
    body: JSON.stringify({ token: manage_url.split("#m=")[1] }),
  });
  const body = (await response.json()) as { ok: boolean };
  if (!body.ok) throw new Error(`refused: ${JSON.stringify(body)}`);
  return cert_id;
};

interface FeedPage {
  readonly events: readonly { readonly cert_id: string; readonly type: string }[];
  readonly next_cursor: number;
  readonly has_more: boolean;
}

/** Returns every event of the business, in order. */
const readFeed = async (url: string): Promise<FeedPage["events"]> => {
  const events: FeedPage["events"][number][] = [];
  for (let cursor = 0, more = true; more; ) {
    const response = await fetch(`${url}/v1/events?limit=500&cursor=${cursor}`, { headers: { authorization: `Bearer ${acme.keys.live}` } });
    const { data } = (await response.json()) as { data: FeedPage };
    events.push(...data.events);
    cursor = data.next_cursor;
    more = data.has_more;
  }
  return events;
};

beforeAll(async () => {
  bundle = await ensureBuiltWorker();
});
afterAll(() => rmSync(state, { recursive: true, force: true }));

describe("SIGKILL under a load of submissions and withdrawals", () => {
  test("keeps every acknowledged certificate once, with its audit entry and its ledger statement", {
    timeout: 60_000 * rounds,
  }, async () => {
    const acknowledged: Acknowledged[] = [];
    const withdrawn: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { url, kill } = await start();
      let alive = true;
      const before = acknowledged.length;
      const runLoop = async (): Promise<void> => {
        while (alive) {
          const receipt = await submit(url).catch((error: unknown) => {
            if (alive) throw error; // before the kill, every submission must succeed
            return null;
          });
          if (receipt === null) continue;
          acknowledged.push(receipt);
          if (acknowledged.length % 3 > 0) continue;
          const withdrawal = await withdraw(url, receipt).catch((error: unknown) => {
            if (alive) throw error;
            return null;
          });
          if (withdrawal !== null) withdrawn.push(withdrawal);
        }
      };
      const storm = Promise.all(Array.from({ length: connections }, runLoop));
      await new Promise((resolve) => setTimeout(resolve, 800 + Math.random() * 1_500));
      // On a busy machine, there may be no acknowledged withdrawal yet.
      while (round === rounds - 1 && withdrawn.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      alive = false;
      await kill();
      await storm;
      expect(acknowledged.length).toBeGreaterThan(before);
    }

    const db = openServiceDatabase(state);
    const count = (sql: string): number => Number((db.prepare(sql).get() as { n: number }).n);
    const lost = acknowledged.filter(({ cert_id, fingerprint }) => {
      const stored = db.prepare("SELECT lower(hex(fingerprint)) AS fingerprint FROM certificates WHERE id = ?").all(cert_id) as {
        fingerprint: string;
      }[];
      const audited = db
        .prepare(`SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE entity_id = ? AND type = 'certificate.issued'`)
        .get(cert_id) as { n: number };
      const anchored = db
        .prepare(`SELECT COUNT(*) AS n FROM ${statementsSql} WHERE entity_id = ? AND event = 'certificate.issued'`)
        .get(cert_id) as { n: number };
      return stored.length !== 1 || stored[0]?.fingerprint !== fingerprint || audited.n !== 1 || anchored.n !== 1;
    });
    expect(lost).toEqual([]);
    const undone = withdrawn.filter((certId) => {
      const row = db
        .prepare(
          `SELECT c.status,
             (SELECT COUNT(*) FROM withdrawals w WHERE w.cert_id = c.id) AS withdrawals,
             (SELECT COUNT(*) FROM ${auditEntriesSql} o WHERE o.entity_id = c.id AND o.type = 'certificate.revoked') AS audited,
             (SELECT COUNT(*) FROM ${statementsSql} a WHERE a.entity_id = c.id AND a.event = 'certificate.revoked') AS anchored
           FROM certificates c WHERE c.id = ?`,
        )
        .get(certId);
      return row?.status !== "revoked" || row.withdrawals !== 1 || row.audited !== 1 || row.anchored !== 1;
    });
    expect(withdrawn.length).toBeGreaterThan(0);
    expect(undone).toEqual([]);

    // Work that was not acknowledged must be either complete or absent.
    const certificates = count("SELECT COUNT(*) AS n FROM certificates");
    expect(certificates).toBeGreaterThanOrEqual(acknowledged.length);
    expect(count(`SELECT COUNT(DISTINCT entity_id) AS n FROM ${auditEntriesSql} WHERE type = 'certificate.issued'`)).toBe(certificates);
    expect(count(`SELECT COUNT(DISTINCT entity_id) AS n FROM ${statementsSql}`)).toBe(certificates);
    expect(
      count(`${newCertificates}SELECT coalesce(SUM(active + revoked), 0) + (SELECT COUNT(*) FROM added) AS n FROM certificate_totals`),
    ).toBe(certificates);
    const withdrawals = count("SELECT COUNT(*) AS n FROM withdrawals");
    expect(withdrawals).toBeGreaterThanOrEqual(withdrawn.length);
    expect(count("SELECT COUNT(*) AS n FROM certificates WHERE status = 'revoked'")).toBe(withdrawals);
    expect(
      count(
        `${newCertificates}SELECT coalesce(SUM(revoked), 0) + (SELECT COUNT(*) FROM added WHERE status = 'revoked') AS n FROM certificate_totals`,
      ),
    ).toBe(withdrawals);
    expect(count(`SELECT COUNT(*) AS n FROM ${auditEntriesSql} WHERE type = 'certificate.revoked'`)).toBe(withdrawals);
    expect(count(`SELECT COUNT(*) AS n FROM ${statementsSql} WHERE event = 'certificate.revoked'`)).toBe(withdrawals);
    db.close();

    const { url, kill } = await start();
    for (const { cert_id, fingerprint } of acknowledged.slice(-50)) {
      const verified = (await (await fetch(`${url}/v1/certs/${cert_id}/verify`)).json()) as { data: Acknowledged };
      expect(verified.data.fingerprint).toBe(fingerprint);
    }
    const next = (await submit(url)) as Acknowledged;
    expect(next.cert_id).toMatch(/^cc_/);
    await withdraw(url, next); // committing another event also brings events that were left behind into the feed
    await expect.poll(async () => (await readFeed(url)).length, { timeout: 20_000 }).toBe(withdrawals + 1);
    expect(new Set((await readFeed(url)).map(({ cert_id }) => cert_id)).size).toBe(withdrawals + 1);
    await kill();
  });
});
