// Builds the page script for browsers: svc.js, the share part it loads where a page asks for it, a copy of each named after
// its content, and the numbers that go with them.

import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Hard limit of each file in bytes after gzip. A page loads svc.js before its visitor can submit anything. */
export const gzipLimit = 6144;

const bundled = async (entry, format, define) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    minify: true,
    format,
    target: ["es2019"], // the oldest syntax of the browsers that have requestSubmit; all of them have import() too
    supported: { "dynamic-import": true },
    define: Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])),
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].contents;
};

/** Throws when the file is over its limit. */
const measured = (name, script) => {
  const gzipBytes = gzipSync(script, { level: 9 }).length;
  if (gzipBytes > gzipLimit) throw new Error(`${name}.js is ${gzipBytes} bytes after gzip; the limit is ${gzipLimit}`);
  return {
    script,
    bytes: script.length,
    gzipBytes,
    brotliBytes: brotliCompressSync(script).length,
    hash12: createHash("sha256").update(script).digest("hex").slice(0, 12),
    integrity: `sha384-${createHash("sha384").update(script).digest("base64")}`,
  };
};

/**
 * Writes `<outDir>/v1/svc.js` and `<outDir>/v1/svc-<hash12>.js` (the same bytes, for pages that pin the integrity), and the
 * share part likewise as `svc-share.js` and `svc-share-<hash12>.js`. `appUrl` is where people of this deployment decide; without
 * it they do at the origin of the API. Nothing is written when a file is over its limit.
 */
export async function buildWidget({ outDir, appUrl = "" }) {
  const share = measured("svc-share", await bundled("share/share.ts", "esm", { APP_URL: appUrl }));
  const svc = measured("svc", await bundled("svc.ts", "iife", { SHARE_FILE: `svc-share-${share.hash12}.js` }));
  const folder = join(outDir, "v1");
  await mkdir(folder, { recursive: true });
  for (const [name, { script, hash12 }] of Object.entries({ "svc-share": share, svc })) {
    await writeFile(join(folder, `${name}-${hash12}.js`), script);
    await writeFile(join(folder, `${name}.js`), script);
  }
  const numbersOf = ({ script: _, ...numbers }) => numbers;
  return { ...numbersOf(svc), share: numbersOf(share) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await buildWidget({ outDir: process.argv[2] ?? "dist/assets" }));
}
