// Builds three files: dist/svc-verify.mjs (a command and module for Node), the script of the self-checking page, and
// dist/verify-signature.mjs for webhook receivers. They have no dependencies and are not minified, so that users can read the code that
// they rely on.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Replaces core/hash.ts, which needs node:crypto, with the portable SHA-256 in verifier/hash.ts. */
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
  if (output === undefined) throw new Error("build: esbuild returned no output");
  return output.text;
};

export interface BuiltVerifier {
  /** The text of dist/svc-verify.mjs. */
  readonly command: string;
  /** The script that `buildEvidenceHtml` embeds. */
  readonly page: string;
}

export const bundleVerifier = async (): Promise<BuiltVerifier> => {
  const [command, page] = await Promise.all([
    bundleEntry({ entryPoints: [resolvePath("cli.ts")], format: "esm", platform: "node", banner: { js: "#!/usr/bin/env node" } }),
    bundleEntry({ entryPoints: [resolvePath("page.ts")], format: "iife", platform: "browser" }),
  ]);
  return { command, page };
};

/** Builds dist/verify-signature.mjs, which webhook receivers copy into their project. */
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
