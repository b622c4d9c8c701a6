// Entry point of the `svc` command.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { UsageError } from "./arguments.ts";
import { runClock, clockHelp } from "./clock.ts";
import { runEvents, eventsHelp } from "./events.ts";
import { runListen, listenHelp } from "./listen.ts";
import { runTrigger, triggerHelp } from "./trigger.ts";

const helpText = `Usage: svc <command>

  svc listen --forward-to <url>  post your events to a URL on this machine, signed like webhooks
  svc trigger <event>            trigger an event in test mode
  svc clock +6d                  move the test mode clock, so that everything due in six days happens now
  svc events --follow            print your events as they arrive
  svc verify <evidence.zip>      check an evidence pack or a withdrawal receipt, without network access

  svc <command> --help           show the options of a command

The API key is read only from SVC_API_KEY.
`;

const usageErrorExitCode = 2;

interface Command {
  readonly help: string;
  readonly run: (args: readonly string[], signal: AbortSignal) => Promise<number>;
}
const commands: ReadonlyMap<string, Command> = new Map([
  ["listen", { help: listenHelp, run: runListen }],
  ["trigger", { help: triggerHelp, run: runTrigger }],
  ["clock", { help: clockHelp, run: runClock }],
  ["events", { help: eventsHelp, run: runEvents }],
]);

/** Runs the verifier. It is a separate program, so that anyone with an evidence pack can read and run it without this package. */
const runVerify = (args: readonly string[]): number => {
  const path = fileURLToPath(new URL("./svc-verify.mjs", import.meta.url));
  return spawnSync(process.execPath, [path, ...args], { stdio: "inherit" }).status ?? 1;
};

const runCommand = async ([name, ...args]: readonly string[]): Promise<number> => {
  if (name === "verify") return runVerify(args);
  const command = commands.get(name ?? "");
  if (command === undefined) {
    const isHelpRequest = name === "--help" || name === "-h" || name === "help";
    (isHelpRequest ? process.stdout : process.stderr).write(helpText);
    return isHelpRequest ? 0 : usageErrorExitCode;
  }
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(command.help);
    return 0;
  }
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
  try {
    return await command.run(args, interrupt.signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`svc ${name}: ${error.message}\n\n${command.help}`);
    return usageErrorExitCode;
  }
};

process.exitCode = await runCommand(process.argv.slice(2));
