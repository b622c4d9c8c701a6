// Tests the bundle of the Worker: its size, and that `npm start` reuses it while its inputs have not changed.
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { updateWorkerBundle } from "../../scripts/worker-bundle.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";

let folder = "";
const buildPath = (name: string): string => join(folder, name);
/** Writes a file with a modification time in 1970, which is earlier than every bundle. */
const writeSource = (name: string, content: string): void => {
  writeFileSync(buildPath(name), content);
  utimesSync(buildPath(name), 1, 1);
};
const makeBundle = async (outDir: string): Promise<void> => {
  writeFileSync(join(outDir, "index.js"), "the bundle");
  writeFileSync(
    join(outDir, "bundle-meta.json"),
    JSON.stringify({ inputs: { [buildPath("a.ts")]: {}, [buildPath("b.ts")]: {}, "virtual:module": {} } }),
  );
};
const update = (make = makeBundle): Promise<boolean> => updateWorkerBundle(folder, make);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-worker-bundle-"));
  writeSource("a.ts", "first");
  writeSource("b.ts", "second");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("the bundle is at most 800 kB after gzip", async () => {
  const bundle = readFileSync(join(await ensureBuiltWorker(), "index.js"));
  expect(gzipSync(bundle).length).toBeLessThanOrEqual(800_000);
});

/** Lists the aliases in wrangler.toml: the specifier that each one replaces in import statements, and the file that takes its place. */
const listAliases = (): [specifier: string, target: string][] => {
  const [, section = ""] = readFileSync("wrangler.toml", "utf8").split("[alias]\n");
  return [...(section.split("\n[")[0] ?? "").matchAll(/^"([^"]+)" = "\.\/([^"]+)"$/gm)].map(([, key = "", target = ""]) => [key, target]);
};

const getPackageName = (path: string): string => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "svc";

test("each alias replaces imports of exactly one package, and the bundle contains nothing that an alias replaces", async () => {
  interface Input {
    readonly imports: readonly { readonly path: string; readonly original?: string }[];
  }
  const meta = readFileSync(join(await ensureBuiltWorker(), "bundle-meta.json"), "utf8");
  const { inputs: read, outputs } = JSON.parse(meta) as {
    readonly inputs: Readonly<Record<string, Input>>;
    readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>>;
  };
  const inputs = Object.entries(read);
  const files = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  expect(files.length).toBeGreaterThan(100);
  const aliases = listAliases();
  expect(aliases.length).toBeGreaterThan(30);
  for (const [specifier, target] of aliases) {
    const importers = inputs.filter(([, { imports }]) => imports.some(({ original }) => original === specifier));
    const targets = importers.flatMap(([, { imports }]) => imports.filter(({ original }) => original === specifier));
    expect([specifier, new Set(importers.map(([path]) => getPackageName(path))).size]).toEqual([specifier, 1]);
    expect([specifier, targets.filter(({ path }) => !path.endsWith(target))]).toEqual([specifier, []]);
    const isReplaced = (file: string): boolean =>
      specifier.startsWith(".")
        ? importers.some(([importer]) => join(dirname(importer), specifier) === file)
        : getPackageName(file) === specifier && getPackageName(target) !== specifier;
    expect([specifier, files.filter(isReplaced)]).toEqual([specifier, []]);
  }
});

test("the bundle is built once, and reused while no input changes", async () => {
  expect([await update(), await update()]).toEqual([true, false]);
  writeSource("a.ts", "first");
  expect(await update()).toBe(false);
});

test("the bundle is rebuilt after an input was changed", async () => {
  await update();
  writeSource("b.ts", "changed");
  expect([await update(), await update()]).toEqual([true, false]);
});

test("the bundle is rebuilt after an input was removed", async () => {
  await update();
  rmSync(buildPath("b.ts"));
  expect(await update()).toBe(true);
});

test("the bundle is rebuilt after another command overwrote or removed the bundle", async () => {
  await update();
  writeFileSync(buildPath("index.js"), "another bundle");
  expect(await update()).toBe(true);
  rmSync(buildPath("index.js"));
  expect(await update()).toBe(true);
});

test("the bundle is rebuilt after bundling failed, even if it left a bundle behind", async () => {
  await update();
  writeSource("a.ts", "broken");
  const failBundling = async (outDir: string): Promise<void> => {
    await makeBundle(outDir);
    throw new Error("Bundling the Worker failed");
  };
  await expect(update(failBundling)).rejects.toThrow("Bundling the Worker failed");
  writeSource("a.ts", "first");
  expect(await update()).toBe(true);
});

test("the bundle is rebuilt if an input was changed during the build", async () => {
  await update(async (outDir) => {
    await makeBundle(outDir);
    writeFileSync(buildPath("a.ts"), "changed meanwhile");
    utimesSync(buildPath("a.ts"), new Date(Date.now() + 60_000), new Date(Date.now() + 60_000));
  });
  expect(await update()).toBe(true);
});
