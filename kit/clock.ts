// `svc clock`: reads the sandbox clock or moves it forward, so that you can test share expirations and their warnings without waiting.
import { getApiUrl, UsageError, parseArguments, requireTestKey } from "./arguments.ts";
import { createSvc, type SandboxClockMove } from "./client.ts";

export const clockHelp = `Usage: svc clock [+<n>s|m|h|d|w | <time>] [options]

  Prints the clock of your sandbox, or moves it forward and prints it: +6d moves it by six days, 2027-11-19T10:05:00Z to
  that time. Test shares that expire by then, and their warnings, are processed before the command ends.

  --api <url>  URL of the service. Default: SVC_API or http://localhost:8787

The API key is read from SVC_API_KEY and must be a test key.
Exit codes: 0 done; 1 the service refused or did not respond; 2 wrong usage.
`;

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

const parseClockMove = (text: string): SandboxClockMove => {
  const [, count, unit = ""] = /^\+(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return { advance_seconds: Number(count) * (secondsPerUnit[unit] as number) };
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text))) return { to: text };
  throw new UsageError("svc clock takes a time such as +6d, +12h or 2027-11-19T10:05:00Z. It cannot move back.");
};

/** Runs the command and returns its exit code. */
export const runClock = async (args: readonly string[]): Promise<number> => {
  const options = parseArguments(args, ["--api"], []);
  const [time, ...extra] = options.positionals;
  if (extra.length > 0) throw new UsageError("svc clock takes one time.");
  const move = time === undefined ? null : parseClockMove(time);
  const svc = createSvc({ baseUrl: getApiUrl(options), apiKey: requireTestKey() });
  const { data, error } = await (move === null ? svc.readSandboxClock() : svc.moveSandboxClock({ body: move }));
  if (error !== undefined) {
    process.stderr.write(`The clock was not ${move === null ? "read" : "moved"}: ${error.code}: ${error.message}\n`);
    return 1;
  }
  process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
  return 0;
};
