// The static checks of `npm run lint` and `npm test`: types, format, lint, dead code and the OpenAPI document. They work offline.
// The compiler and knip keep results in dist/, so a repeated run checks only changed files and the files that depend on them.
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";

interface Check {
  readonly name: string;
  /** A program in node_modules/.bin and its arguments. */
  readonly command: readonly [string, ...string[]];
}

/**
 * Returns one type check per tsconfig in the repository. The configurations at the root come first, because they take longest. Each check
 * uses a single thread, because the checks already run in parallel and more threads would repeat much of the work.
 */
const listTypeChecks = (): Check[] =>
  globSync("**/tsconfig*.json", { exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.wrangler)$/.test(path) })
    .sort((a, b) => a.split("/").length - b.split("/").length || a.length - b.length)
    .map((path) => ({
      name: `types ${path}`,
      command: ["tsc", "-p", path, "--checkers", "1", "--incremental", "--tsBuildInfoFile", `dist/types/${path}.tsbuildinfo`],
    }));

const listStaticChecks = (): Check[] => [
  { name: "format and lint", command: ["biome", "ci", "--error-on-warnings", "--colors=off", "."] },
  ...listTypeChecks(),
  { name: "dead code", command: ["knip", "--no-progress", "--cache", "--cache-location", "dist/knip"] },
  { name: "OpenAPI document", command: ["redocly", "lint", "docs/reference/openapi.json"] },
];

const maxOutputBytes = 64 * 1_024 ** 2; // no check prints more than this

const quietEnv = {
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", // keeps redocly from sending a request to the registry
};

const runStaticCheck = ({ command: [program, ...args] }: Check): Promise<{ readonly ok: boolean; readonly output: string }> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, ...quietEnv }, maxBuffer: maxOutputBytes };
    const child = execFile(`node_modules/.bin/${program}`, args, options, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: `${stdout}${stderr}` || (error?.message ?? "") }),
    );
    child.stdin?.end();
  });

/** Prints one line for a finished step: result, name and duration. */
export const printResult = (ok: boolean, name: string, start: number): void =>
  console.log(`  ${ok ? "ok  " : "FAIL"}  ${name.padEnd(44)} ${((performance.now() - start) / 1_000).toFixed(1).padStart(6)} s`);

/** Runs all checks, one per core at a time, and prints the output of failed ones. Returns the names of failed checks. */
export const runChecks = async (): Promise<readonly string[]> => {
  const pending = listStaticChecks();
  const failed: string[] = [];
  const worker = async (): Promise<void> => {
    for (let check = pending.shift(); check !== undefined; check = pending.shift()) {
      const start = performance.now();
      const { ok, output } = await runStaticCheck(check);
      printResult(ok, check.name, start);
      if (ok) continue;
      failed.push(check.name);
      console.log(output.trimEnd().replaceAll(/^/gm, "        "));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return failed;
};
