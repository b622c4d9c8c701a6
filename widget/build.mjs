// Builds svc.js for browsers: one self-contained file, a copy named after its content, and the numbers that go with it.

import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Hard limit in bytes after gzip. A page loads this before its visitor can submit anything. */
export const gzipLimit = 6144;

/**
 * Writes `<outDir>/v1/svc.js` and `<outDir>/v1/svc-<hash12>.js` (the same bytes, for pages that pin the integrity).
 * Throws when the file is over its limit, before anything is written.
 */
export async function buildWidget({ outDir }) {
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL("svc.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2017"], // the oldest syntax of the browsers that have requestSubmit is newer still
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  const script = bundle.outputFiles[0].contents;
  const gzipBytes = gzipSync(script, { level: 9 }).length;
  if (gzipBytes > gzipLimit) {
    throw new Error(`svc.js is ${gzipBytes} bytes after gzip; the limit is ${gzipLimit}`);
  }

  const hash12 = createHash("sha256").update(script).digest("hex").slice(0, 12);
  const folder = join(outDir, "v1");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "svc.js"), script);
  await writeFile(join(folder, `svc-${hash12}.js`), script);
  return {
    bytes: script.length,
    gzipBytes,
    brotliBytes: brotliCompressSync(script).length,
    hash12,
    integrity: `sha384-${createHash("sha384").update(script).digest("base64")}`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await buildWidget({ outDir: process.argv[2] ?? "dist/assets" }));
}
