// Builds what developers install: dist/npm with the command `svc`, the typed client and the check of a signature, as one package
// without dependencies. The client's operations and types are generated from docs/openapi.json by the tool that lints it.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { sha256Hex } from "../core/hash.ts";
import { bundleSignatureVerifier, bundleVerifier } from "../verifier/build.ts";
import { forPrograms, type ApiDescription } from "./description.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const root = at("..");
const operationsPath = at("api.gen.ts");

const run = (program: string, args: readonly string[]): void => {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  execFileSync(process.execPath, [join(root, "node_modules", program), ...args], { cwd: root, env, stdio: "pipe" });
};

const inTemporary = <Made>(make: (folder: string) => Made): Made => {
  const folder = mkdtempSync(join(tmpdir(), "svc-kit-"));
  try {
    return make(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const generated = (description: string): string =>
  inTemporary((folder) => {
    const [from, to] = [join(folder, "api.json"), join(folder, "api.ts")];
    writeFileSync(from, description);
    run("@redocly/cli/bin/cli.js", ["generate-client", from, "--output", to, "--error-mode", "result", "--args-style", "grouped"]);
    return readFileSync(to, "utf8");
  });

/** What kit/api.gen.ts is made of: another description, or another generator, is another file. */
const source = (): { readonly description: string; readonly head: string } => {
  const description = JSON.stringify(forPrograms(JSON.parse(readFileSync(join(root, "docs/openapi.json"), "utf8")) as ApiDescription));
  const tool = readFileSync(join(root, "node_modules/@redocly/cli/package.json"), "utf8");
  return { description, head: `// Of the description ${sha256Hex(description + tool)}\n` };
};

/** What kit/api.gen.ts holds. */
export const operationsText = (): string => {
  const { description, head } = source();
  return head + generated(description);
};

/** Writes kit/api.gen.ts, unless it is of this very description already. */
export const generateOperations = (): void => {
  if (existsSync(operationsPath) && readFileSync(operationsPath, "utf8").startsWith(source().head)) return;
  writeFileSync(`${operationsPath}.new`, operationsText());
  renameSync(`${operationsPath}.new`, operationsPath);
};

const bundle = (entry: string, outfile: string, more: { readonly banner?: { readonly js: string } } = {}): Promise<unknown> =>
  build({
    entryPoints: [at(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    absWorkingDir: root,
    ...more,
  });

const compiler = ["--ignoreConfig", "--declaration", "--emitDeclarationOnly", "--strict", "--allowImportingTsExtensions"];
const target = ["--target", "es2024", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2024,dom,dom.iterable"];

/** Declarations name each other as they lie in the package. */
const writeTypes = (outDir: string): void =>
  inTemporary((folder) => {
    const files = ["kit/client.ts", "core/webhooks/verify-signature.ts"];
    run("typescript/bin/tsc", [...files, ...compiler, ...target, "--types", "node", "--rootDir", ".", "--outDir", folder]);
    const client = readFileSync(join(folder, "kit/client.d.ts"), "utf8");
    writeFileSync(join(outDir, "client.d.ts"), client.replaceAll("./api.gen.ts", "./api.js"));
    copyFileSync(join(folder, "kit/api.gen.d.ts"), join(outDir, "api.d.ts"));
    copyFileSync(join(folder, "core/webhooks/verify-signature.d.ts"), join(outDir, "verify-signature.d.ts"));
  });

const manifest = (): object => {
  const { name, version, description, license, engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const part = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.mjs` });
  return {
    ...{ name, version, description, license, engines },
    type: "module",
    bin: { svc: "svc.mjs", "svc-verify": "svc-verify.mjs" },
    exports: { "./client": part("client"), "./verify-signature": part("verify-signature") },
  };
};

/** Writes the package into the folder, which holds nothing else afterwards. */
export const buildKit = async (outDir: string): Promise<void> => {
  generateOperations();
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const command = { banner: { js: "#!/usr/bin/env node" } };
  const [verifier, signature] = await Promise.all([
    bundleVerifier(),
    bundleSignatureVerifier(),
    bundle("svc.ts", join(outDir, "svc.mjs"), command),
    bundle("client.ts", join(outDir, "client.mjs")),
  ]);
  writeFileSync(join(outDir, "svc-verify.mjs"), verifier.command);
  writeFileSync(join(outDir, "verify-signature.mjs"), signature);
  writeTypes(outDir);
  writeFileSync(join(outDir, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(outDir, "LICENSE"));
  cpSync(join(root, "docs/kit.md"), join(outDir, "README.md"));
};
