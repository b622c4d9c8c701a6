// Checks which entries of the KV namespace an export contains. The local runtime writes and reads them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runExport } from "../../scripts/export/export.ts";
import { finishImport, runImport } from "../../scripts/export/import.ts";
import { prepareDatabases } from "../../scripts/local-databases.ts";
import { startMiniflare } from "../../scripts/miniflare.ts";
import { listStoreIds } from "../../scripts/worker-configuration.ts";
import { testVars } from "../support/local-vars.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-export-texts-"));
const source = join(folder, "source");
const target = join(folder, "target");

type Entry = readonly [key: string, value: string, options?: { readonly expirationTtl: number }];

const workerScript = `export default {
  async fetch(request, { KV }) {
    for (const entry of await request.json()) await KV.put(...entry);
    const { keys } = await KV.list();
    return Response.json(await Promise.all(keys.map(async ({ name }) => [name, await KV.get(name)])));
  },
}`;

/** Writes entries into the namespace of a stopped service, and returns all of its entries. */
const writeEntries = async (stateDir: string, entries: readonly Entry[]): Promise<readonly Entry[]> => {
  const { namespace } = listStoreIds();
  const worker = { name: "texts", modules: true, script: workerScript, compatibilityDate: "2026-08-01", kvNamespaces: { KV: namespace } };
  const runtime = startMiniflare({ stateDir, printsLog: false }, { port: 0, workers: [worker] });
  try {
    const response = await runtime.dispatchFetch("http://texts.test/", { method: "POST", body: JSON.stringify(entries) });
    return (await response.json()) as readonly Entry[];
  } finally {
    await runtime.dispose();
  }
};

beforeAll(() => prepareDatabases({ stateDir: source, printsLog: false }), 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("moves texts, and leaves out entries that would expire", { timeout: 240_000 }, async () => {
  const text = ["policy-text:pol_1", "We keep your data for a year."] as const;
  const refused = ["refused:biz_1:req_1", "{}", { expirationTtl: 604_800 }] as const;
  expect(await writeEntries(source, [text, refused])).toHaveLength(2);

  const common = { extraShards: [], vars: testVars, folder: join(folder, "export"), passphrase: "a passphrase of the text test" };
  await runExport({ ...common, stateDir: source, serviceVersion: "1.0.0", now: Date.now, report: () => {} });
  await runImport({ ...common, stateDir: target, report: () => {} });
  finishImport({ stateDir: target });
  expect(await writeEntries(target, [])).toEqual([text]);
});
