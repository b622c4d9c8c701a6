// Builds what the Worker serves but does not compute: the page script, page styles and page scripts. Pages learn the names
// of their files from workers/pages/assets.gen.ts, and evidence pages get the script that checks them, and the trust document the
// hash of the verifier, from workers/pages/verifier.gen.ts; /docs has its guides from workers/pages/guides.gen.ts. Only this file writes
// the three. What the client of the kit is checked with (kit/api.gen.ts) is made here too.
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { sha256Hex } from "../core/hash.ts";
import { bundleSignatureVerifier, bundleVerifier, portableHashPlugin, type BuiltVerifier } from "../verifier/build.ts";
import { writeOperations } from "../kit/build.ts";
import { listGuideImages, renderGuidesModule } from "./guides.ts";
import { buildWidget } from "../widget/build.mjs";

const assetsDir = "dist/assets";
const namesPath = "workers/pages/assets.gen.ts";
const guidesPath = "workers/pages/guides.gen.ts";
const verifierPath = "workers/pages/verifier.gen.ts";
/**
 * Every copy of the page script and of its share part that was ever deployed: somebody's page may name the one, with its
 * integrity, for years, and that one names the other.
 */
export const releasedDir = "widget/released";
const signatureVerifierPath = "dist/verify-signature.mjs"; // for receivers of webhooks; not served

/**
 * Files are answered without the Worker, so what it says of every answer is said here too. Cross-origin pages load the
 * script, with or without an integrity attribute; hashed copies never change. The plain name of the share part matches the
 * rule of the hashed copies as well, so what that one said is taken back.
 */
const headers = `/*
  Strict-Transport-Security: max-age=31536000; includeSubDomains
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Permissions-Policy: camera=(), geolocation=(), microphone=(), payment=(), usb=()
/v1/svc.js
  Cache-Control: public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/v1/svc-*
  Cache-Control: public, max-age=31536000, immutable
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/v1/svc-share.js
  ! Cache-Control
  Cache-Control: public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800
/svc-verify.mjs
  Cache-Control: public, max-age=300
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/a/*
  Cache-Control: public, max-age=31536000, immutable
`;

/** A file of a page: its plain name, the address it is served at, its bytes. */
interface PageAsset {
  readonly name: string;
  readonly address: string;
  readonly contents: Uint8Array;
}

/** Scripts, the stylesheet and images of pages, each under a name that changes with its bytes. */
const buildPageAssets = async (): Promise<PageAsset[]> => {
  const { outputFiles, metafile } = await build({
    entryPoints: [
      ...globSync("workers/pages/client/*.ts", { exclude: ["**/*.d.ts"] }),
      "workers/pages/styles/app.css",
      "workers/pages/styles/mark.svg",
      ...listGuideImages(),
    ],
    outdir: join(assetsDir, "a"),
    entryNames: "[name]-[hash]",
    loader: { ".svg": "copy", ".png": "copy" },
    plugins: [portableHashPlugin],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  return Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) => {
    const file = outputFiles.find((output) => output.path.endsWith(path));
    if (entryPoint === undefined || file === undefined) throw new Error(`build: ${path} belongs to no page`);
    return { name: basename(entryPoint).replace(/\.ts$/, ".js"), address: `/a/${basename(path)}`, contents: file.contents };
  });
};

const renderAssetNames = (assets: readonly PageAsset[]): string =>
  [
    "// Written by scripts/build.ts: where the files of pages are served.",
    "export const assets = {",
    ...[...assets].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, address }) => `  "${name}": "${address}",`),
    "} as const;",
    "",
  ].join("\n");

/** The verifier for Node, as whoever has a pack fetches it: the trust document, packs and pages name its hash. */
const servedVerifier = "/svc-verify.mjs";

const renderVerifierModule = ({ page, command }: BuiltVerifier): string =>
  [
    "// Written by scripts/build.ts: the script of an evidence page, and the hash of the verifier that is served, as verifier/build.ts",
    "// makes them.",
    `export const verifierSource = ${JSON.stringify(page)};`,
    `export const verifierSha256 = "${sha256Hex(command)}";`,
    "",
  ].join("\n");

/** Unchanged files keep their time, so that whoever watches them sees changes only. */
const writeIfChanged = (path: string, contents: string | Uint8Array): void => {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(contents))) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
};

/** Throws when a file is not what its name says: a page that pins it would refuse it. */
const readReleasedScripts = (): readonly { readonly address: string; readonly contents: Buffer }[] =>
  readdirSync(releasedDir).map((name) => {
    const contents = readFileSync(join(releasedDir, name));
    const hash12 = sha256Hex(contents).slice(0, 12);
    if (name !== `svc-${hash12}.js` && name !== `svc-share-${hash12}.js`) throw new Error(`build: ${join(releasedDir, name)} was changed`);
    return { address: `/v1/${name}`, contents };
  });

/**
 * New files first, then old ones go: a runtime that serves this folder meanwhile never misses one. `appUrl` is the address of the
 * app in a deployment of several hosts.
 */
export const buildAssets = async (appUrl?: string): ReturnType<typeof buildWidget> => {
  writeOperations();
  const assets = await buildPageAssets();
  const widget = await buildWidget({ outDir: assetsDir, ...(appUrl !== undefined && { appUrl }) });
  const released = readReleasedScripts();
  for (const { address, contents } of [...assets, ...released]) writeIfChanged(join(assetsDir, address), contents);
  writeIfChanged(join(assetsDir, "_headers"), headers);
  writeIfChanged(namesPath, renderAssetNames(assets));
  writeIfChanged(guidesPath, renderGuidesModule(Object.fromEntries(assets.map(({ name, address }) => [name, address]))));
  const verifier = await bundleVerifier();
  writeIfChanged(verifierPath, renderVerifierModule(verifier));
  writeIfChanged(join(assetsDir, servedVerifier), verifier.command);
  const served = new Set([
    "/_headers",
    servedVerifier,
    "/v1/svc.js",
    `/v1/svc-${widget.hash12}.js`,
    "/v1/svc-share.js",
    `/v1/svc-share-${widget.share.hash12}.js`,
    ...[...assets, ...released].map(({ address }) => address),
  ]);
  writeIfChanged(signatureVerifierPath, await bundleSignatureVerifier());
  for (const entry of readdirSync(assetsDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !served.has(`/${relative(assetsDir, path)}`)) rmSync(path);
  }
  return widget;
};

if (import.meta.main) await buildAssets();
