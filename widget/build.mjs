// Builds the widget for browsers: svc.js and the share part, which svc.js loads if it is needed. Each file also has a copy with its hash in
// the name.

import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Size limit of each file in bytes after gzip. It is low because svc.js must be loaded before the visitor submits a form. */
export const gzipLimit = 7168;

const bundleScript = async (entry, format, define) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    minify: true,
    format,
    target: ["es2019"], // every browser that has requestSubmit supports ES2019 and import()
    supported: { "dynamic-import": true },
    define: Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])),
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].contents;
};

/** Measures a script. Throws if it exceeds `gzipLimit`. */
const measureScript = (name, script) => {
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
 * Writes `<outDir>/v1/svc.js`, and the same bytes as `svc-<hash12>.js` for pages that pin the integrity. Writes the share part as
 * `svc-share.js` and `svc-share-<hash12>.js`. `appUrl` is the consent sheet's origin, which defaults to the API's origin. If a file exceeds
 * `gzipLimit`, throws and writes nothing.
 */
export async function buildWidget({ outDir, appUrl = "" }) {
  const share = measureScript("svc-share", await bundleScript("share/share.ts", "esm", { APP_URL: appUrl }));
  const svc = measureScript("svc", await bundleScript("svc.ts", "iife", { SHARE_FILE: `svc-share-${share.hash12}.js` }));
  const folder = join(outDir, "v1");
  await mkdir(folder, { recursive: true });
  for (const [name, { script, hash12 }] of Object.entries({ "svc-share": share, svc })) {
    await writeFile(join(folder, `${name}-${hash12}.js`), script);
    await writeFile(join(folder, `${name}.js`), script);
  }
  const withoutScript = ({ script: _, ...measurements }) => measurements;
  return { ...withoutScript(svc), share: withoutScript(share) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await buildWidget({ outDir: process.argv[2] ?? "dist/assets" }));
}
