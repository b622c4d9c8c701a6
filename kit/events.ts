// `svc events`: prints the feed, an event a line, as it is sent to endpoints.
import { getApiUrl, requireApiKey, UsageError, parseArguments } from "./arguments.ts";
import { createSvc } from "./client.ts";
import { toExitCode, followFeed, parseStartPosition, fetchHead } from "./feed.ts";

export const eventsHelp = `Usage: svc events [options]

  Prints your events, one JSON object a line, in the order of seq.

  --follow         goes on with what comes; otherwise it ends after the last there is
  --types <a,b>    these types only
  --from <place>   start: from the first event on; now: what comes from now on; <n>: what comes after seq n.
                   Left out, from the start, and with --follow from now on
  --live           with a live key: live events, which tell of people
  --api <address>  the service; else SVC_API, else http://localhost:8787

The API key is read from SVC_API_KEY.
Exit code: 0 ended by you, or after the last event; 1 the service refused; 2 wrong usage.
`;

/** Runs the command and answers with its exit code. */
export const runEvents = async (words: readonly string[], signal: AbortSignal): Promise<number> => {
  const given = parseArguments(words, ["--types", "--from", "--api"], ["--follow", "--live"]);
  if (given.positionals.length > 0) throw new UsageError("svc events takes options only.");
  const [from, api, { key, isLive }] = [parseStartPosition(given), getApiUrl(given), requireApiKey(given)];
  const isFollowing = given.flags.has("--follow");
  // this command waits by itself, and says so
  const svc = createSvc({ baseUrl: api, apiKey: key, retries: 0 });
  process.stdout.once("error", () => process.exit(0)); // whoever read it has read enough, as `head` does
  const reading = async (): Promise<void> => {
    const place = from ?? (isFollowing ? "now" : 0);
    const start = place === "now" ? await fetchHead(svc, signal) : place;
    if (isFollowing) process.stderr.write(`Following ${isLive ? "live" : "test"} events after seq ${start}\n`);
    const take = async (event: object): Promise<void> => {
      process.stdout.write(`${JSON.stringify(event)}\n`);
    };
    await followFeed(
      { svc, types: given.values.get("--types"), isOnce: !isFollowing, signal, handleEvent: take, advance: () => undefined },
      start,
    );
  };
  return toExitCode(reading(), signal);
};
