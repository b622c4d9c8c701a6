// Runs wrangler, which applies migrations, uploads code and secrets, and stores the sign-in. All other calls use cloudflare.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";

/** Thrown if wrangler fails, with its output. */
export class WranglerError extends Error {
  readonly output: string;
  constructor(command: readonly string[], output: string) {
    super(
      `wrangler ${command
        .filter((word) => !word.startsWith("--"))
        .slice(0, 3)
        .join(" ")} failed:\n${output.trim()}`,
    );
    this.name = "WranglerError";
    this.output = output;
  }
}

/**
 * Runs wrangler without prompts and returns its standard output. The output contains no secrets, because they are passed to wrangler in a
 * file. Throws a WranglerError if wrangler fails.
 */
export const runWrangler = async (...command: readonly string[]): Promise<string> => {
  const wrangler = spawn("node_modules/.bin/wrangler", command, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CI: "true", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
  });
  const output: string[] = [];
  const all: string[] = [];
  wrangler.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.push(text);
    all.push(text);
  });
  wrangler.stderr.setEncoding("utf8").on("data", (text: string) => all.push(text));
  const [status] = (await once(wrangler, "close")) as [number | null];
  if (status !== 0) throw new WranglerError(command, all.join(""));
  return output.join("");
};

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const interruptedStatus = 130; // what a shell reports after Ctrl-C

/**
 * Writes the secrets to the file `path` and runs wrangler with that path as the last argument. Deletes the file afterward, even if this
 * process is interrupted, for example by Ctrl-C.
 */
export const runWranglerWithSecrets = async (secrets: object, path: string, ...command: readonly string[]): Promise<void> => {
  const stop = (): void => {
    rmSync(path, { force: true });
    process.exit(interruptedStatus);
  };
  for (const signal of endingSignals) process.on(signal, stop);
  try {
    writeFileSync(path, JSON.stringify(secrets), { mode: 0o600 });
    await runWrangler(...command, path);
  } finally {
    rmSync(path, { force: true });
    for (const signal of endingSignals) process.off(signal, stop);
  }
};

/** Runs wrangler and parses the JSON that it prints. Text before the JSON, such as a notice, is skipped. */
export const readFromWrangler = async (...command: readonly string[]): Promise<unknown> => {
  const output = await runWrangler(...command);
  return JSON.parse(output.slice(output.search(/^[[{]/m)));
};
