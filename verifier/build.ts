// Builds the verifier: dist/svc-verify.mjs for Node, also a module for programs; the script of the page that checks itself; and
// dist/verify-signature.mjs for receivers of webhooks. None depends on anything, and none is minified: whoever relies on it can
// read it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The server's runtime hashes with node:crypto; what runs anywhere brings its own SHA-256 under the same names. */
export const portableHashPlugin: Plugin = {
  name: "own-hash",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/hash\.ts$/ }, () => ({ path: resolvePath("hash.ts") }));
  },
};

const bundleEntry = async (options: BuildOptions): Promise<string> => {
  const { outputFiles } = await build({
    bundle: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    plugins: [portableHashPlugin],
    write: false,
    logLevel: "warning",
    absWorkingDir: resolvePath(".."),
    ...options,
  });
  const [output] = outputFiles ?? [];
  if (output === undefined) throw new Error("build: the verifier came to nothing");
  return output.text;
};

export interface BuiltVerifier {
  /** dist/svc-verify.mjs */
  readonly command: string;
  /** What `evidenceHtml` takes as its `verifierSource`. */
  readonly page: string;
}

export const bundleVerifier = async (): Promise<BuiltVerifier> => {
  const [command, page] = await Promise.all([
    bundleEntry({ entryPoints: [resolvePath("cli.ts")], format: "esm", platform: "node", banner: { js: "#!/usr/bin/env node" } }),
    bundleEntry({ entryPoints: [resolvePath("page.ts")], format: "iife", platform: "browser" }),
  ]);
  return { command, page };
};

/** dist/verify-signature.mjs: the module that receivers of webhooks copy into their project. */
export const bundleSignatureVerifier = (): Promise<string> =>
  bundleEntry({ entryPoints: [resolvePath("../core/webhooks/verify-signature.ts")], format: "esm", platform: "neutral" });

/** Writes `svc-verify.mjs` and `svc-verify-page.js` into the folder. */
export const buildVerifier = async (outDir: string): Promise<BuiltVerifier> => {
  const built = await bundleVerifier();
  mkdirSync(outDir, { recursive: true });
  writeFileSync(join(outDir, "svc-verify.mjs"), built.command, { mode: 0o755 });
  writeFileSync(join(outDir, "svc-verify-page.js"), built.page);
  return built;
};
