// Runs the restore drill in docs/operate/backup.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { prepareDemoData } from "../../scripts/demo-data.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { startPreparedRuntime } from "../../scripts/local-runtime.ts";
import { runRestoreDrill } from "../../scripts/restore-drill.ts";
import { buildLocalSettings, generateDevVars } from "../../scripts/settings.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";

test("a restore recovers what was saved, and logs that were reset are detected and refuse to sign", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-drill-test-"));
  const settings = buildLocalSettings({ port: 0, demoPort: 1, stateDir: join(folder, "none"), vars: generateDevVars() });
  const lines: string[] = [];
  try {
    await runRestoreDrill({ settings, bundleDir: await ensureBuiltWorker(), report: (text) => lines.push(text) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  expect(lines.filter((line) => line.startsWith("  ok"))).toHaveLength(9);
}, 300_000);

test("the drill includes every shard, even if a business issues its certificates in a shard other than its own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-drill-test-"));
  const bundleDir = await ensureBuiltWorker();
  const vars = { ...generateDevVars(), DOH_URLS: "http://127.0.0.1:1/none" }; // sends no requests to other machines
  const settings = buildLocalSettings({ port: 0, demoPort: 1, stateDir: join(folder, "state"), vars, extraShards: ["01"] });
  const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
  const lines: string[] = [];
  try {
    await prepareDemoData(settings, world, { isEmpty: true });
    const runtime = await startPreparedRuntime({ ...settings, bundleDir, printsLog: false });
    try {
      const headers = { authorization: `Bearer ${settings.vars.ADMIN_TOKEN}`, "content-type": "application/json" };
      const closed = await fetch(`${runtime.url}/v1/admin/shards/00`, { method: "POST", headers, body: `{"state":"closed"}` });
      expect(closed.status).toBe(200);
      let certId = "";
      for (let serial = 0; serial < 60 && !certId.startsWith("cc_01"); serial += 1) {
        const request = consentRequest(world.acme, "https://www.example.com", serial);
        const response = await fetch(`${runtime.url}/v1/consent`, {
          method: "POST",
          headers: { ...request.headers },
          body: request.body as string,
        });
        certId = ((await response.json()) as { readonly data: { readonly cert_id: string } }).data.cert_id;
        await pause(1_000);
      }
      expect(certId).toMatch(/^cc_01/);
    } finally {
      await runtime.dispose();
    }
    await runRestoreDrill({ settings, bundleDir, report: (text) => lines.push(text) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  expect(lines.filter((line) => line.startsWith("  ok"))).toHaveLength(9);
}, 300_000);
