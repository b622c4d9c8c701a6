// `npm run openapi`: writes docs/reference/openapi.json, the description that the running Worker serves. The committed copy is what
// readers diff and tools lint; the tests fail when it is not what the Worker says.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAssets } from "./build.ts";
import { bundleWorker, startRuntime } from "./local-runtime.ts";
import { ensureDevVars, loadLocalSettings } from "./settings.ts";

const committedPath = "docs/reference/openapi.json";

ensureDevVars();
await buildAssets();
bundleWorker();
const stateDir = mkdtempSync(join(tmpdir(), "svc-openapi-"));
const { vars } = loadLocalSettings();
// The address of wrangler.toml, so that the file does not depend on who wrote it.
const runtime = await startRuntime({ port: 0, stateDir, vars: { ...vars, BASE_URL: "https://api.example.com/v1" } });
try {
  const response = await fetch(`${runtime.url}/v1/openapi.json`);
  if (!response.ok) throw new Error(`the Worker answered ${response.status}`);
  writeFileSync(committedPath, `${JSON.stringify(await response.json(), null, 2)}\n`);
} finally {
  await runtime.dispose();
  rmSync(stateDir, { recursive: true, force: true });
}
console.log(`${committedPath} is written.`);
process.exit(0); // the runtime's own handles would keep the process alive
