// Tests the output of `npm run demo -- --json`, which other programs can parse, with a running service.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServiceForFile } from "../support/local-service.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-demo-"));
const service = await startServiceForFile();
beforeAll(async () => {
  writeFileSync(join(folder, ".dev.vars"), `ISSUER_KEY=${service.vars.ISSUER_KEY}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("names the demo site of the running service if DEMO_PORT is not set", async () => {
  const { DEMO_PORT: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [join(process.cwd(), "scripts/demo.ts"), "--json"], {
    cwd: folder,
    env: { ...env, PORT: new URL(service.origin).port },
  });
  expect(JSON.parse(stdout)).toMatchObject({ api_base: `${service.origin}/v1`, site_base: service.demoOrigin });
});
