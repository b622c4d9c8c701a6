// The static checks of `npm run lint` and `npm test`: types, format, lint, dead code and the OpenAPI document. They work offline.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";

interface Check {
  readonly name: string;
  /** A program in node_modules/.bin and its arguments. */
  readonly command: readonly [string, ...string[]];
}

/**
 * Returns one type check per tsconfig in the repository. The largest comes first because it takes longest. Each type check uses a single
 * thread. The type checks already run in parallel, and more threads would repeat much of the work.
 */
const listTypeChecks = (): Check[] =>
  globSync("**/tsconfig*.json", { exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.wrangler)$/.test(path) })
    .sort((a, b) => a.split("/").length - b.split("/").length || a.length - b.length)
    .map((path) => ({ name: `types ${path}`, command: ["tsc", "-p", path, "--checkers", "1"] }));

const listStaticChecks = (): Check[] => [
  ...listTypeChecks(),
  { name: "format and lint", command: ["biome", "ci", "--error-on-warnings", "--colors=off", "."] },
  { name: "dead code", command: ["knip", "--no-progress"] },
  { name: "OpenAPI document", command: ["redocly", "lint", "docs/reference/openapi.json"] },
];

const quietEnv = {
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", // sends no request to the registry
};

const runStaticCheck = ({ command: [program, ...args] }: Check): Promise<{ readonly ok: boolean; readonly output: string }> =>
  new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${program}`, args, { env: { ...process.env, ...quietEnv }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on("error", (error) => resolve({ ok: false, output: error.message }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
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
