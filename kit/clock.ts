// `svc clock`: reads the clock of the sandbox, or moves it forward, so that warnings and ends can be seen without waiting.
import { getApiUrl, UsageError, parseArguments, requireTestKey } from "./arguments.ts";
import { createSvc, type SandboxClockMove } from "./client.ts";

export const clockHelp = `Usage: svc clock [+<n>s|m|h|d|w | <moment>] [options]

  Reads the clock of your sandbox, or moves it forward: by six days with +6d, to a moment with 2027-11-19T10:05:00Z.
  Warnings and ends of test shares that become due happen before the answer.

  --api <address>  the service; else SVC_API, else http://localhost:8787

The API key is read from SVC_API_KEY and must be a test key. The clock is printed as it is then.
Exit code: 0 done; 1 the service refused, or did not answer; 2 wrong usage.
`;

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

const parseClockMove = (text: string): SandboxClockMove => {
  const [, count, unit = ""] = /^\+(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return { advance_seconds: Number(count) * (secondsPerUnit[unit] as number) };
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text))) return { to: text };
  throw new UsageError("svc clock takes a time such as +6d, +12h or 2027-11-19T10:05:00Z; it goes forward only.");
};

/** Runs the command and answers with its exit code. */
export const runClock = async (words: readonly string[]): Promise<number> => {
  const given = parseArguments(words, ["--api"], []);
  const [to, ...more] = given.positionals;
  if (more.length > 0) throw new UsageError("svc clock takes one time.");
  const move = to === undefined ? null : parseClockMove(to);
  const svc = createSvc({ baseUrl: getApiUrl(given), apiKey: requireTestKey() });
  const { data, error } = await (move === null ? svc.readSandboxClock() : svc.moveSandboxClock({ body: move }));
  if (error !== undefined) {
    process.stderr.write(`The clock was not ${move === null ? "read" : "moved"}: ${error.code}: ${error.message}\n`);
    return 1;
  }
  process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
  return 0;
};
