// `npm run openapi`: writes docs/reference/openapi.json as the running Worker serves it. The file is committed so that it can be compared
// and linted. A test fails if it differs from the Worker's document.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAssets } from "./build.ts";
import { bundleWorker, startRuntime } from "./local-runtime.ts";
import { ensureDevVars, loadLocalSettings } from "./settings.ts";

const committedPath = "docs/reference/openapi.json";

ensureDevVars();
await buildAssets();
await bundleWorker();
const stateDir = mkdtempSync(join(tmpdir(), "svc-openapi-"));
const { vars } = loadLocalSettings();
// Uses BASE_URL as in wrangler.toml, so that the file is the same on every machine.
const runtime = await startRuntime({ port: 0, stateDir, vars: { ...vars, BASE_URL: "https://api.example.com/v1" } });
try {
  const response = await fetch(`${runtime.url}/v1/openapi.json`);
  if (!response.ok) throw new Error(`GET /v1/openapi.json returned ${response.status}`);
  writeFileSync(committedPath, `${JSON.stringify(await response.json(), null, 2)}\n`);
} finally {
  await runtime.dispose();
  rmSync(stateDir, { recursive: true, force: true });
}
console.log(`Wrote ${committedPath}.`);
process.exit(0); // without this, the runtime's open handles would keep the process alive
