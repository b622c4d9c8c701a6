// Builds the static assets: the script for customers' pages (`widget/`), the scripts and styles of our own pages, the guides, and the
// verifier. Also generates these modules:
// - workers/pages/assets.gen.ts: the URLs of the assets
// - workers/pages/verifier.gen.ts: the path of the evidence page's script, and the hash of the verifier
// - workers/pages/guides.gen.ts: the titles, sections and asset paths of the guides at /docs
// - workers/adapters/phone-metadata.gen.ts: the metadata of phone numbers, as JSON text
// - kit/api.gen.ts: the operations of the typed client
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "esbuild";
import phoneMetadata from "libphonenumber-js/metadata.max.json";
import { sha256Hex } from "../core/hash.ts";
import { bundleSignatureVerifier, bundleVerifier, portableHashPlugin, type BuiltVerifier } from "../verifier/build.ts";
import { writeOperations } from "../kit/build.ts";
import { deploymentAssetsDir, localAssetsDir } from "./assets-folders.ts";
import { listGuideImages, renderGuides, renderGuidesModule } from "./guides.ts";
import { buildWidget } from "../widget/build.mjs";

const namesPath = "workers/pages/assets.gen.ts";
const guidesPath = "workers/pages/guides.gen.ts";
const verifierPath = "workers/pages/verifier.gen.ts";
const phoneMetadataPath = "workers/adapters/phone-metadata.gen.ts";
/**
 * Contains every released page script and share script. A customer's page may reference a page script by name and integrity hash for years,
 * and that script references its share script.
 */
export const releasedDir = "widget/released";
const signatureVerifierPath = "dist/verify-signature.mjs"; // for developers of webhook receivers; the service does not serve this file

/**
 * The headers of the static assets:
 * - Static assets bypass the Worker, so its default headers are repeated here.
 * - Pages on other origins load the scripts, so the scripts need CORS headers.
 * - A 405 needs `Allow`.
 * - Hashed copies never change, so browsers may cache them for a year.
 * - `svc-share.js` also matches the rule for the hashed copies, so its own rule first removes the Cache-Control that the other rule sets.
 */
const headers = `/*
  Strict-Transport-Security: max-age=31536000; includeSubDomains
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Permissions-Policy: camera=(), geolocation=(), microphone=(), payment=(), usb=()
  Allow: GET, HEAD
/v1/svc.js
  Cache-Control: public, max-age=300, stale-while-revalidate=86400
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/v1/svc-*
  Cache-Control: public, max-age=31536000, immutable
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/v1/svc-share.js
  ! Cache-Control
  Cache-Control: public, max-age=300, stale-while-revalidate=86400
/svc-verify.mjs
  Cache-Control: public, max-age=300
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
/favicon.ico
  Cache-Control: public, max-age=86400
/a/*
  Cache-Control: public, max-age=31536000, immutable
`;

/** An asset: its source name, the path it is served at, and its contents. */
interface PageAsset {
  readonly name: string;
  readonly address: string;
  readonly contents: Uint8Array;
}

/** Builds page scripts, the stylesheet and images, each under a name with a content hash. */
const buildPageAssets = async (): Promise<PageAsset[]> => {
  const { outputFiles, metafile } = await build({
    entryPoints: [
      ...globSync("workers/pages/client/*.ts", { exclude: ["**/*.d.ts"] }),
      "workers/pages/styles/app.css",
      "workers/pages/styles/mark.svg",
      ...listGuideImages(),
    ],
    outdir: join(localAssetsDir, "a"),
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
    "// Written by scripts/build.ts: the paths where page files are served.",
    "export const assets = {",
    ...[...assets].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, address }) => `  "${name}": "${address}",`),
    "} as const;",
    "",
  ].join("\n");

/** Returns a text asset that the Worker reads through its assets binding. The asset's path contains a hash of the text. */
const createTextAsset = (name: string, extension: "js" | "txt", text: string): PageAsset => ({
  name,
  address: `/a/${name}-${sha256Hex(text).slice(0, 12)}.${extension}`,
  contents: Buffer.from(text),
});

/** The icon for programs that ignore a page's icon link and request /favicon.ico: mark.svg at 32 by 32 pixels. */
const readFavicon = (): PageAsset => ({
  name: "favicon.ico",
  address: "/favicon.ico",
  contents: readFileSync("workers/pages/styles/favicon.ico"),
});

/** The downloadable verifier for Node. The trust document, evidence packs and pages contain its hash. */
const servedVerifier = "/svc-verify.mjs";

const renderVerifierModule = (pageScript: PageAsset, { command }: BuiltVerifier): string =>
  [
    "// Written by scripts/build.ts: the path of the script that evidence pages contain, and the hash of the served verifier.",
    `export const evidencePageScript = "${pageScript.address}";`,
    `export const verifierSha256 = "${sha256Hex(command)}";`,
    "",
  ].join("\n");

const renderPhoneMetadataModule = (): string =>
  [
    "// Written by scripts/build.ts: the complete metadata of libphonenumber-js, as JSON text.",
    `export const phoneMetadata = ${JSON.stringify(JSON.stringify(phoneMetadata))};`,
    "",
  ].join("\n");

/** Writes a file unless it is unchanged, so that watchers see only real changes. */
const writeIfChanged = (path: string, contents: string | Uint8Array): void => {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(contents))) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
};

/**
 * Reads the released scripts. Throws if a file does not match the hash in its name, because browsers would refuse it on pages with an
 * integrity attribute.
 */
const readReleasedScripts = (): readonly { readonly address: string; readonly contents: Buffer }[] =>
  readdirSync(releasedDir).map((name) => {
    const contents = readFileSync(join(releasedDir, name));
    const hash12 = sha256Hex(contents).slice(0, 12);
    if (name !== `svc-${hash12}.js` && name !== `svc-share-${hash12}.js`) throw new Error(`build: ${join(releasedDir, name)} was changed`);
    return { address: `/v1/${name}`, contents };
  });

/**
 * Builds everything. New files are written before old ones are deleted. `appUrl` is the URL of the app in a deployment with several hosts;
 * without it, the assets are for the local service.
 */
export const buildAssets = async (appUrl?: string): ReturnType<typeof buildWidget> => {
  const assetsDir = appUrl === undefined ? localAssetsDir : deploymentAssetsDir;
  writeOperations();
  const assets = await buildPageAssets();
  const widget = await buildWidget({ outDir: assetsDir, ...(appUrl !== undefined && { appUrl }) });
  const released = readReleasedScripts();
  const verifier = await bundleVerifier();
  const evidencePageScript = createTextAsset("evidence-page", "js", verifier.page);
  const guides = renderGuides(Object.fromEntries(assets.map(({ name, address }) => [name, address]))).map(({ html, ...guide }) => ({
    ...guide,
    asset: createTextAsset(`guide-${guide.name}`, "txt", html),
  }));
  const files = [...assets, ...released, readFavicon(), evidencePageScript, ...guides.map(({ asset }) => asset)];
  for (const { address, contents } of files) writeIfChanged(join(assetsDir, address), contents);
  writeIfChanged(join(assetsDir, "_headers"), headers);
  writeIfChanged(namesPath, renderAssetNames(assets));
  writeIfChanged(guidesPath, renderGuidesModule(guides.map(({ asset, ...guide }) => ({ ...guide, path: asset.address }))));
  writeIfChanged(verifierPath, renderVerifierModule(evidencePageScript, verifier));
  writeIfChanged(phoneMetadataPath, renderPhoneMetadataModule());
  writeIfChanged(join(assetsDir, servedVerifier), verifier.command);
  const served = new Set([
    "/_headers",
    servedVerifier,
    "/v1/svc.js",
    `/v1/svc-${widget.hash12}.js`,
    "/v1/svc-share.js",
    `/v1/svc-share-${widget.share.hash12}.js`,
    ...files.map(({ address }) => address),
  ]);
  writeIfChanged(signatureVerifierPath, await bundleSignatureVerifier());
  for (const entry of readdirSync(assetsDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !served.has(`/${relative(assetsDir, path)}`)) rmSync(path);
  }
  return widget;
};

if (import.meta.main) await buildAssets();
