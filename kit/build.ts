// Builds the npm package for developers: the `svc` and `svc-verify` commands, the typed client, and the module that checks webhook
// signatures. The package has no dependencies. Redocly CLI, which also lints docs/reference/openapi.json, generates the client's operations
// and types from that file.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { sha256Hex } from "../core/hash.ts";
import { bundleSignatureVerifier, bundleVerifier } from "../verifier/build.ts";
import { toClientDescription, type ApiDescription } from "./api-description.ts";

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const repositoryRoot = resolvePath("..");
const operationsPath = resolvePath("api.gen.ts");

const runTool = (program: string, args: readonly string[]): void => {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  execFileSync(process.execPath, [join(repositoryRoot, "node_modules", program), ...args], { cwd: repositoryRoot, env, stdio: "pipe" });
};

const withTemporaryFolder = <Result>(run: (folder: string) => Result): Result => {
  const folder = mkdtempSync(join(tmpdir(), "svc-kit-"));
  try {
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const generateClientSource = (description: string): string =>
  withTemporaryFolder((folder) => {
    const [from, to] = [join(folder, "api.json"), join(folder, "api.ts")];
    writeFileSync(from, description);
    runTool("@redocly/cli/bin/cli.js", ["generate-client", from, "--output", to, "--error-mode", "result", "--args-style", "grouped"]);
    return readFileSync(to, "utf8");
  });

/**
 * Loads the generator's input, and builds the first line of kit/api.gen.ts. The line contains a hash of the input and of the generator's
 * package.json, so that a change to either is noticed.
 */
const loadOperationsSource = (): { readonly description: string; readonly head: string } => {
  const description = JSON.stringify(
    toClientDescription(JSON.parse(readFileSync(join(repositoryRoot, "docs/reference/openapi.json"), "utf8")) as ApiDescription),
  );
  const tool = readFileSync(join(repositoryRoot, "node_modules/@redocly/cli/package.json"), "utf8");
  return { description, head: `// Of the description ${sha256Hex(description + tool)}\n` };
};

/** Runs the generator and returns the content of kit/api.gen.ts. */
export const generateOperationsText = (): string => {
  const { description, head } = loadOperationsSource();
  return head + generateClientSource(description);
};

/** Writes kit/api.gen.ts unless it is up to date. */
export const writeOperations = (): void => {
  if (existsSync(operationsPath) && readFileSync(operationsPath, "utf8").startsWith(loadOperationsSource().head)) return;
  writeFileSync(`${operationsPath}.new`, generateOperationsText());
  renameSync(`${operationsPath}.new`, operationsPath);
};

const bundleEntry = (entry: string, outfile: string, more: { readonly banner?: { readonly js: string } } = {}): Promise<unknown> =>
  build({
    entryPoints: [resolvePath(entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    absWorkingDir: repositoryRoot,
    ...more,
  });

const compilerOptions = ["--ignoreConfig", "--declaration", "--emitDeclarationOnly", "--strict", "--allowImportingTsExtensions"];
const compilerTarget = ["--target", "es2024", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2024,dom,dom.iterable"];

/**
 * Writes the type declarations. In the package, the declarations of api.gen.ts are in api.d.ts, so the import in client.d.ts is adjusted.
 */
const writeTypeDeclarations = (outDir: string): void =>
  withTemporaryFolder((folder) => {
    const files = ["kit/client.ts", "core/webhooks/verify-signature.ts"];
    runTool("typescript/bin/tsc", [
      ...files,
      ...compilerOptions,
      ...compilerTarget,
      "--types",
      "node",
      "--rootDir",
      ".",
      "--outDir",
      folder,
    ]);
    const client = readFileSync(join(folder, "kit/client.d.ts"), "utf8");
    writeFileSync(join(outDir, "client.d.ts"), client.replaceAll("./api.gen.ts", "./api.js"));
    copyFileSync(join(folder, "kit/api.gen.d.ts"), join(outDir, "api.d.ts"));
    copyFileSync(join(folder, "core/webhooks/verify-signature.d.ts"), join(outDir, "verify-signature.d.ts"));
  });

const buildManifest = (): object => {
  const { name, version, description, license, engines } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  const part = (file: string) => ({ types: `./${file}.d.ts`, default: `./${file}.mjs` });
  return {
    ...{ name, version, description, license, engines },
    type: "module",
    bin: { svc: "svc.mjs", "svc-verify": "svc-verify.mjs" },
    exports: { "./client": part("client"), "./verify-signature": part("verify-signature") },
  };
};

/** Builds the package. Replaces the folder if it exists. */
export const buildKit = async (outDir: string): Promise<void> => {
  writeOperations();
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const command = { banner: { js: "#!/usr/bin/env node" } };
  const [verifier, signature] = await Promise.all([
    bundleVerifier(),
    bundleSignatureVerifier(),
    bundleEntry("svc.ts", join(outDir, "svc.mjs"), command),
    bundleEntry("client.ts", join(outDir, "client.mjs")),
  ]);
  writeFileSync(join(outDir, "svc-verify.mjs"), verifier.command);
  writeFileSync(join(outDir, "verify-signature.mjs"), signature);
  writeTypeDeclarations(outDir);
  writeFileSync(join(outDir, "package.json"), `${JSON.stringify(buildManifest(), null, 2)}\n`);
  cpSync(join(repositoryRoot, "LICENSE"), join(outDir, "LICENSE"));
  cpSync(join(repositoryRoot, "docs/guides/kit.md"), join(outDir, "README.md"));
};
