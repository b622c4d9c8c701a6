// `svc listen`: reads the feed and posts each event to a URL on this machine, in order, with the body and headers of a real delivery. Saves
// the feed position after each forwarded event, so that no event is skipped. An event may arrive twice.
import { setTimeout as after } from "node:timers/promises";
import { formatWebhookSecret, buildDeliveryHeaders, secretLength } from "../core/webhooks/signature.ts";
import { getApiUrl, requireApiKey, UsageError, parseArguments, type ParsedArguments } from "./arguments.ts";
import { createSvc, type Event } from "./client.ts";
import { formatClockTime, toExitCode, followFeed, parseStartPosition, fetchHead } from "./feed.ts";
import { buildFeedId, saveListenState, loadListenState } from "./listen-state.ts";

export const listenHelp = `Usage: svc listen --forward-to <url> [options]

  Follows your events and posts each to a URL on this machine, signed like a webhook.

  --forward-to <url>   for example http://localhost:3000/hook
  --types <a,b>        forward only these event types
  --from <position>    start (the first event), now (only new events) or a number n (events after seq n).
                       Default: where the last run with this key stopped; now on the first run
  --retry              post an event again until the receiver responds with 2xx. Default: any response counts
  --once               exit after the last existing event
  --live               allow a live key; live events contain data about real people
  --allow-host <host>  allow forwarding to this host instead of this machine
  --api <url>          URL of the service. Default: SVC_API or http://localhost:8787

The API key is read from SVC_API_KEY. The signing secret is generated once and kept with the position in .svc/ of this folder.
Exit codes: 0 stopped by you or after --once; 1 the service refused; 2 wrong usage.
`;

const valueOptions = ["--forward-to", "--types", "--from", "--allow-host", "--api"];
const flagOptions = ["--retry", "--once", "--live"];

const receiverTimeoutMs = 10_000; // the same timeout as for a real delivery
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);

const parseForwardTarget = ({ values }: ParsedArguments): string => {
  const text = values.get("--forward-to");
  if (text === undefined) throw new UsageError("--forward-to is required. Set it to the URL that receives the events.");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError("--forward-to must be an http or https URL, such as http://localhost:3000/hook.");
  if (!isLoopback(url.hostname) && url.hostname !== values.get("--allow-host")) {
    throw new UsageError("--forward-to is not on this machine. Add --allow-host with its host name to allow that.");
  }
  return url.href;
};

const printLine = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

interface Receiver {
  readonly target: string;
  readonly secret: string;
  readonly shouldRetry: boolean;
  readonly signal: AbortSignal;
}

/** Returns the status of the receiver's response, or null if there was none. */
const postEvent = async ({ target, secret, signal }: Receiver, event: Event, attempt: number): Promise<number | null> => {
  const body = JSON.stringify(event);
  const deliveryId = `dlv_local_${event.seq}`;
  const headers = buildDeliveryHeaders({ event, deliveryId, attempt, body, secrets: [secret], now: Date.now() });
  const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(receiverTimeoutMs)]);
  try {
    const response = await fetch(target, { method: "POST", headers, body, redirect: "manual", signal: abortSignal });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
};

/** Posts an event until the receiver responds or, if `shouldRetry` is true, until it responds with 2xx. */
const forwardEvent = async (receiver: Receiver, event: Event): Promise<void> => {
  let waitMs = firstRetryMs;
  for (let attempt = 1; ; ) {
    const startedAt = performance.now();
    const status = await postEvent(receiver, event, attempt);
    const duration = `${Math.round(performance.now() - startedAt)} ms`;
    const line = `${formatClockTime()}  ${event.type.padEnd(24)} seq ${event.seq}`;
    printLine(`${line}  ${status === null ? "no response, trying again" : `-> ${status}  ${duration}`}`);
    if (status !== null && (!receiver.shouldRetry || (status >= 200 && status < 300))) return;
    if (status !== null) attempt += 1;
    await after(waitMs, undefined, { signal: receiver.signal });
    waitMs = Math.min(2 * waitMs, maxRetryMs);
  }
};

const generateSecret = (): string => formatWebhookSecret(crypto.getRandomValues(new Uint8Array(secretLength)));

/** Runs the command and returns its exit code. */
export const runListen = async (args: readonly string[], signal: AbortSignal): Promise<number> => {
  const options = parseArguments(args, valueOptions, flagOptions);
  if (options.positionals.length > 0) throw new UsageError("svc listen takes options only.");
  const [target, from, api, { key, isLive }] = [
    parseForwardTarget(options),
    parseStartPosition(options),
    getApiUrl(options),
    requireApiKey(options),
  ];
  const environment = isLive ? "live" : "sandbox";
  // No retries in the client, because kit/feed.ts waits and retries, and prints a message when it does.
  const svc = createSvc({ baseUrl: api, apiKey: key, retries: 0 });
  const forwardEvents = async (): Promise<void> => {
    const head = await fetchHead(svc, signal);
    const savedState = loadListenState(environment);
    let secret = savedState?.secret ?? generateSecret();
    const feedId = buildFeedId(api, key);
    const earlier = savedState?.earlier?.api === api ? savedState.earlier.position : undefined;
    const position = from ?? savedState?.positions[feedId] ?? earlier ?? "now";
    // A position after the newest event belongs to a different feed, for example because the database was reset. New events would have
    // lower numbers and would be skipped, so start at the newest event.
    const start = position === "now" || position > head ? head : position;
    // Reads the saved positions each time, because the command may also be running with another API key.
    const saveCursor = (cursor: number): void => {
      const current = loadListenState(environment);
      saveListenState(environment, { secret: current?.secret ?? secret, positions: { ...current?.positions, [feedId]: cursor } });
    };
    saveCursor(start);
    secret = loadListenState(environment)?.secret ?? secret;
    printLine(`Forwarding ${environment === "live" ? "live" : "test"} events after seq ${start} to ${target}`);
    printLine(`Signing secret: ${secret} (the same in every run)`);
    const receiver = { target, secret, shouldRetry: options.flags.has("--retry"), signal };
    const followOptions = { svc, types: options.values.get("--types"), isOnce: options.flags.has("--once"), signal, saveCursor };
    await followFeed({ ...followOptions, handleEvent: (event) => forwardEvent(receiver, event) }, start);
  };
  return toExitCode(forwardEvents(), signal);
};
