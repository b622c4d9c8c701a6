// Runs the restore drill in docs/operate/backup.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
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
