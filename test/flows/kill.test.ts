// The promise behind every 201: whatever process dies the next moment, the certificate is there, once, with its audit
// entry and its ledger statement. The service is killed in the middle of a storm and the database file is read directly.
// KILL_ROUNDS sets the number of rounds (npm run torture sets 20).
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { bundleWorker } from "../../scripts/local-runtime.ts";
import { demoWorld } from "../../scripts/demo-world.ts";
import { worldSecret } from "../support/local-vars.ts";

const rounds = Number(process.env.KILL_ROUNDS ?? "2");
const connections = 16;
const { acme } = demoWorld(worldSecret);
const state = mkdtempSync(join(tmpdir(), "svc-kill-"));
const bundle = join(state, "bundle");

interface Acknowledged {
  readonly cert_id: string;
  readonly fingerprint: string;
}

const start = (): Promise<{ readonly child: ChildProcess; readonly url: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["test/support/runtime-child.ts", state, bundle], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.once("exit", () => reject(new Error("the service ended before it listened")));
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      if (line.startsWith('{"url"')) resolve({ child, url: (JSON.parse(line) as { url: string }).url });
    });
  });

/** SIGKILL to the process group: the runtime and everything it started. */
const kill = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.removeAllListeners("exit");
    child.once("exit", () => resolve());
    process.kill(-(child.pid as number), "SIGKILL");
  });

const database = (): DatabaseSync => {
  const folder = join(state, "v3", "d1", "miniflare-D1DatabaseObject");
  const file = readdirSync(folder).find((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  if (file === undefined) throw new Error("no database file");
  return new DatabaseSync(join(folder, file));
};

let serial = 0;
const submit = async (url: string): Promise<Acknowledged | null> => {
  const { headers, body } = consentRequest(acme, "https://www.example.com", serial++);
  const response = await fetch(`${url}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
  const answer = (await response.json()) as { ok: boolean; data: Acknowledged };
  if (!answer.ok) throw new Error(`refused: ${JSON.stringify(answer)}`);
  return answer.data;
};

beforeAll(() => bundleWorker(bundle));
afterAll(() => rmSync(state, { recursive: true, force: true }));

describe("SIGKILL in a storm of submissions", () => {
  test("every acknowledged certificate is there once, with its audit entry and its ledger statement", {
    timeout: 60_000 * rounds,
  }, async () => {
    const acknowledged: Acknowledged[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { child, url } = await start();
      let alive = true;
      const before = acknowledged.length;
      const loop = async (): Promise<void> => {
        while (alive) {
          const receipt = await submit(url).catch((error: unknown) => {
            if (alive) throw error; // before the kill every submission succeeds
            return null;
          });
          if (receipt !== null) acknowledged.push(receipt);
        }
      };
      const storm = Promise.all(Array.from({ length: connections }, loop));
      await new Promise((resolve) => setTimeout(resolve, 800 + Math.random() * 1_500));
      alive = false;
      await kill(child);
      await storm;
      expect(acknowledged.length).toBeGreaterThan(before);
    }

    const db = database();
    const count = (sql: string): number => Number((db.prepare(sql).get() as { n: number }).n);
    const lost = acknowledged.filter(({ cert_id, fingerprint }) => {
      const stored = db.prepare("SELECT fingerprint FROM certificates WHERE id = ?").all(cert_id) as { fingerprint: string }[];
      const audited = db
        .prepare("SELECT COUNT(*) AS n FROM audit_outbox WHERE entity_id = ? AND type = 'certificate.issued'")
        .get(cert_id) as { n: number };
      const anchored = db
        .prepare("SELECT COUNT(*) AS n FROM anchors WHERE entity_id = ? AND event = 'certificate.issued'")
        .get(cert_id) as { n: number };
      return stored.length !== 1 || stored[0]?.fingerprint !== fingerprint || audited.n !== 1 || anchored.n !== 1;
    });
    expect(lost).toEqual([]);

    // What was not acknowledged is there whole or not at all.
    const certificates = count("SELECT COUNT(*) AS n FROM certificates");
    expect(certificates).toBeGreaterThanOrEqual(acknowledged.length);
    expect(count("SELECT COUNT(DISTINCT entity_id) AS n FROM audit_outbox WHERE type = 'certificate.issued'")).toBe(certificates);
    expect(count("SELECT COUNT(DISTINCT entity_id) AS n FROM anchors")).toBe(certificates);
    expect(count("SELECT COUNT(*) AS n FROM idempotency")).toBe(certificates);
    expect(count("SELECT SUM(active + revoked) AS n FROM purposes")).toBe(certificates);
    db.close();

    const { child, url } = await start();
    for (const { cert_id, fingerprint } of acknowledged.slice(-50)) {
      const verified = (await (await fetch(`${url}/v1/certs/${cert_id}/verify`)).json()) as { data: Acknowledged };
      expect(verified.data.fingerprint).toBe(fingerprint);
    }
    expect((await submit(url))?.cert_id).toMatch(/^cc_/);
    await kill(child);
  });
});
