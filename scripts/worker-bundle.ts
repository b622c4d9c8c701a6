// Bundles the Worker for `npm start` and the tests. Reuses the last bundle if its inputs have not changed, because bundling takes longer
// than starting the service.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleWorker, workerBundleDir } from "./local-runtime.ts";

/** Inputs that esbuild does not list. The lock file changes whenever a package does. */
const configurationFiles = [
  "wrangler.toml",
  "package-lock.json",
  "package.json",
  "tsconfig.json",
  "scripts/local-runtime.ts",
  "scripts/worker-bundle.ts",
  "scripts/worker-configuration.ts",
];

interface BundleRecord {
  readonly inputs: readonly string[];
  /** SHA-256 of the paths and contents of the inputs and of the bundle itself. */
  readonly digest: string;
}

const computeDigest = (paths: readonly string[]): string => {
  const digest = createHash("sha256");
  for (const path of paths) digest.update(`${path}\0`).update(createHash("sha256").update(readFileSync(path)).digest());
  return digest.digest("hex");
};

const readRecord = (path: string): BundleRecord | null => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as BundleRecord;
  } catch {
    return null;
  }
};

const isCurrent = (record: BundleRecord | null, bundlePath: string): boolean => {
  if (record === null || ![...record.inputs, bundlePath].every((path) => existsSync(path))) return false;
  return computeDigest([...record.inputs, bundlePath]) === record.digest;
};

/**
 * Bundles the Worker into `outDir`, unless the bundle there was built from the same files with the same content. Returns whether it was
 * rebuilt. `makeBundle` must write `index.js` and esbuild's `bundle-meta.json`. Rejects if `makeBundle` rejects.
 */
export const updateWorkerBundle = async (
  outDir = workerBundleDir,
  makeBundle: (outDir: string) => Promise<void> = (folder) => bundleWorker(folder),
): Promise<boolean> => {
  const [recordPath, bundlePath] = [join(outDir, "inputs.json"), join(outDir, "index.js")];
  if (isCurrent(readRecord(recordPath), bundlePath)) return false;
  rmSync(recordPath, { force: true }); // delete the record first, because an interrupted bundle must not look current
  const startedAt = Date.now();
  await makeBundle(outDir);
  const { inputs: bundled } = JSON.parse(readFileSync(join(outDir, "bundle-meta.json"), "utf8")) as { readonly inputs: object };
  // Some inputs exist only inside esbuild and have no file.
  const inputs = [...configurationFiles, ...Object.keys(bundled)].filter((path) => existsSync(path)).toSorted();
  // The bundle may contain the old or the new content of a file that changed during bundling, so the next start bundles again.
  if (inputs.some((path) => statSync(path).mtimeMs >= startedAt)) return true;
  writeFileSync(recordPath, JSON.stringify({ inputs, digest: computeDigest([...inputs, bundlePath]) } satisfies BundleRecord));
  return true;
};
