// The static checks: what can be said about the code without running it. `npm run lint` runs these, `npm test` runs these
// and the tests. None of them needs a network.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";

interface Check {
  readonly name: string;
  /** A command of node_modules/.bin and its arguments. */
  readonly command: readonly [string, ...string[]];
}

/** Every tsconfig of the repository, so that none can be forgotten. One checker each: they run side by side, and each works out types anew. */
const listTypeChecks = (): Check[] =>
  globSync("**/tsconfig*.json", { exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.wrangler)$/.test(path) })
    .sort()
    .map((path) => ({ name: `types ${path}`, command: ["tsc", "-p", path, "--checkers", "1"] }));

const listChecks = (): Check[] => [
  { name: "format and lint", command: ["biome", "ci", "--error-on-warnings", "--colors=off", "."] },
  ...listTypeChecks(),
  { name: "dead code", command: ["knip", "--no-progress"] },
  { name: "description of the API", command: ["redocly", "lint", "docs/reference/openapi.json"] },
];

const quietEnv = {
  REDOCLY_TELEMETRY: "off", // redocly would report its use
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", // and ask the registry for a newer one
};

const runCheck = ({ command: [program, ...args] }: Check): Promise<{ readonly ok: boolean; readonly output: string }> =>
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

/** One line for a finished step: what, how it went, how long it took. */
export const printResult = (ok: boolean, name: string, start: number): void =>
  console.log(`  ${ok ? "ok  " : "FAIL"}  ${name.padEnd(44)} ${((performance.now() - start) / 1_000).toFixed(1).padStart(6)} s`);

/** Runs every check, as many at once as there are cores, and shows the output of those that fail. Returns their names. */
export const runChecks = async (): Promise<readonly string[]> => {
  const waiting = listChecks();
  const failed: string[] = [];
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const start = performance.now();
      const { ok, output } = await runCheck(check);
      printResult(ok, check.name, start);
      if (ok) continue;
      failed.push(check.name);
      console.log(output.trimEnd().replaceAll(/^/gm, "        "));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return failed;
};
