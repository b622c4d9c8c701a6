// Builds what the Worker serves but does not compute: the page script, page styles and page scripts.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { buildWidget } from "../widget/build.mjs";

const outDir = "dist/assets";

/** Cross-origin pages load the script, with or without an integrity attribute; hashed copies never change. */
const headers = `/v1/svc.js
  Cache-Control: public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
  X-Content-Type-Options: nosniff
/v1/svc-*
  Cache-Control: public, max-age=31536000, immutable
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
  X-Content-Type-Options: nosniff
/a/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
`;

export const buildAssets = async (): Promise<void> => {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  await buildWidget({ outDir });
  writeFileSync(`${outDir}/_headers`, headers);
};

if (import.meta.main) await buildAssets();
