// `svc events`: prints the event feed, one event per line.
import { getApiUrl, requireApiKey, UsageError, parseArguments } from "./arguments.ts";
import { createSvc } from "./client.ts";
import { toExitCode, followFeed, parseStartPosition, fetchHead } from "./feed.ts";

export const eventsHelp = `Usage: svc events [options]

  Prints your events in the order of seq, one JSON object per line.

  --follow           keep printing new events until you stop the command
  --types <a,b>      print only these event types
  --from <position>  start (the first event), now (only new events) or a number n (events after seq n).
                     Default: start, or now with --follow
  --live             allow a live key; live events contain data about real people
  --api <url>        URL of the service. Default: SVC_API or http://localhost:8787

The API key is read from SVC_API_KEY.
Exit codes: 0 stopped by you or after the last event; 1 the service refused; 2 wrong usage.
`;

/** Runs the command and returns its exit code. */
export const runEvents = async (args: readonly string[], signal: AbortSignal): Promise<number> => {
  const options = parseArguments(args, ["--types", "--from", "--api"], ["--follow", "--live"]);
  if (options.positionals.length > 0) throw new UsageError("svc events takes options only.");
  const [from, api, { key, isLive }] = [parseStartPosition(options), getApiUrl(options), requireApiKey(options)];
  const isFollowing = options.flags.has("--follow");
  // No retries in the client, because kit/feed.ts waits and retries, and prints a message when it does.
  const svc = createSvc({ baseUrl: api, apiKey: key, retries: 0 });
  process.stdout.once("error", () => process.exit(0)); // the program that reads the output, such as `head`, has exited
  const printEvents = async (): Promise<void> => {
    const position = from ?? (isFollowing ? "now" : 0);
    const start = position === "now" ? await fetchHead(svc, signal) : position;
    if (isFollowing) process.stderr.write(`Following ${isLive ? "live" : "test"} events after seq ${start}\n`);
    const printEvent = async (event: object): Promise<void> => {
      process.stdout.write(`${JSON.stringify(event)}\n`);
    };
    await followFeed(
      { svc, types: options.values.get("--types"), isOnce: !isFollowing, signal, handleEvent: printEvent, saveCursor: () => undefined },
      start,
    );
  };
  return toExitCode(printEvents(), signal);
};
