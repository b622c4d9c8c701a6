// The command `svc`: what a developer runs beside their own code. Each command says in its help what it does and how it ends.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { UsageError } from "./arguments.ts";
import { runClock, clockHelp } from "./clock.ts";
import { runEvents, eventsHelp } from "./events.ts";
import { runListen, listenHelp } from "./listen.ts";
import { runTrigger, triggerHelp } from "./trigger.ts";

const helpText = `Usage: svc <command>

  svc listen --forward-to <address>  posts your events to an address on this machine, signed as webhooks are
  svc trigger <event>                has something happen in test mode that makes this event
  svc clock +6d                      moves the clock of test mode, so that what is due in six days happens now
  svc events --follow                prints your events as they come
  svc verify <evidence.zip>          checks an evidence pack, or the receipt of a withdrawal, without any network

  svc <command> --help               says more

The API key is read from SVC_API_KEY and from nowhere else.
`;

const usageErrorExitCode = 2;

interface Command {
  readonly help: string;
  readonly run: (words: readonly string[], signal: AbortSignal) => Promise<number>;
}
const commands: ReadonlyMap<string, Command> = new Map([
  ["listen", { help: listenHelp, run: runListen }],
  ["trigger", { help: triggerHelp, run: runTrigger }],
  ["clock", { help: clockHelp, run: runClock }],
  ["events", { help: eventsHelp, run: runEvents }],
]);

/** The verifier is a program of its own, which whoever has a pack can read and run alone. */
const runVerify = (words: readonly string[]): number => {
  const path = fileURLToPath(new URL("./svc-verify.mjs", import.meta.url));
  return spawnSync(process.execPath, [path, ...words], { stdio: "inherit" }).status ?? 1;
};

const runCommand = async ([name, ...words]: readonly string[]): Promise<number> => {
  if (name === "verify") return runVerify(words);
  const command = commands.get(name ?? "");
  if (command === undefined) {
    const isAsked = name === "--help" || name === "-h" || name === "help";
    (isAsked ? process.stdout : process.stderr).write(helpText);
    return isAsked ? 0 : usageErrorExitCode;
  }
  if (words.includes("--help") || words.includes("-h")) {
    process.stdout.write(command.help);
    return 0;
  }
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  try {
    return await command.run(words, ending.signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`svc ${name}: ${error.message}\n\n${command.help}`);
    return usageErrorExitCode;
  }
};

process.exitCode = await runCommand(process.argv.slice(2));
