// `svc listen`: reads the feed and hands each event to an address of this machine, in order, with the body and the headers of a real
// delivery. The place is kept after each answer of the receiver, so an event may come twice and is never left out.
import { setTimeout as after } from "node:timers/promises";
import { formatWebhookSecret, buildDeliveryHeaders, secretLength } from "../core/webhooks/signature.ts";
import { getApiUrl, requireApiKey, UsageError, parseArguments, type ParsedArguments } from "./arguments.ts";
import { createSvc, type Event } from "./client.ts";
import { formatClockTime, toExitCode, followFeed, parseStartPosition, fetchHead } from "./feed.ts";
import { saveListenState, loadListenState, type ListenState } from "./listen-state.ts";

export const listenHelp = `Usage: svc listen --forward-to <address> [options]

  Follows your events and posts each to an address on this machine, signed as a webhook is.

  --forward-to <address>  for example http://localhost:3000/hook
  --types <a,b>           these types only
  --from <place>          start: from the first event on; now: what comes from now on; <n>: what comes after seq n.
                          Left out, it goes on where it ended the last time, the first time from now on
  --retry                 posts an event again until the receiver answers 2xx; otherwise each is posted once
  --once                  ends when there is nothing left to forward
  --live                  with a live key: live events, which tell of people
  --allow-host <host>     forwards to another host than this machine
  --api <address>         the service; else SVC_API, else http://localhost:8787

The API key is read from SVC_API_KEY. The signing secret is generated once and kept, with the place, in .svc/ of this folder.
Exit code: 0 ended by you or by --once; 1 the service refused; 2 wrong usage.
`;

const valueOptions = ["--forward-to", "--types", "--from", "--allow-host", "--api"];
const flagOptions = ["--retry", "--once", "--live"];

const receiverTimeoutMs = 10_000; // as long as a real delivery waits
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);

const parseForwardTarget = ({ values }: ParsedArguments): string => {
  const text = values.get("--forward-to");
  if (text === undefined) throw new UsageError("--forward-to says where the events go.");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError("--forward-to takes an address, such as http://localhost:3000/hook.");
  if (!isLoopback(url.hostname) && url.hostname !== values.get("--allow-host")) {
    throw new UsageError("--forward-to leads to another machine. Say --allow-host with its name if that is meant.");
  }
  return url.href;
};

const printLine = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
interface Receiver {
  readonly target: string;
  readonly secret: string;
  readonly repeats: boolean;
  readonly signal: AbortSignal;
}

/** Status of the receiver's answer; null where there was none. */
const postEvent = async ({ target, secret, signal }: Receiver, event: Event, attempt: number): Promise<number | null> => {
  const body = JSON.stringify(event);
  const deliveryId = `dlv_local_${event.seq}`;
  const headers = buildDeliveryHeaders({ event, deliveryId, attempt, body, secrets: [secret], now: Date.now() });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(receiverTimeoutMs)]);
  try {
    const answer = await fetch(target, { method: "POST", headers, body, redirect: "manual", signal: patience });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
};

/** Until the receiver has answered; with `repeats` until it has answered 2xx. */
const forwardEvent = async (receiver: Receiver, event: Event): Promise<void> => {
  let waitMs = firstRetryMs;
  for (let attempt = 1; ; ) {
    const began = performance.now();
    const status = await postEvent(receiver, event, attempt);
    const took = `${Math.round(performance.now() - began)} ms`;
    const line = `${formatClockTime()}  ${event.type.padEnd(24)} seq ${event.seq}`;
    printLine(`${line}  ${status === null ? "nobody answers, trying again" : `-> ${status}  ${took}`}`);
    if (status !== null && (!receiver.repeats || (status >= 200 && status < 300))) return;
    if (status !== null) attempt += 1;
    await after(waitMs, undefined, { signal: receiver.signal });
    waitMs = Math.min(2 * waitMs, maxRetryMs);
  }
};

const generateSecret = (): string => formatWebhookSecret(crypto.getRandomValues(new Uint8Array(secretLength)));

/** Runs the command and answers with its exit code. */
export const runListen = async (words: readonly string[], signal: AbortSignal): Promise<number> => {
  const given = parseArguments(words, valueOptions, flagOptions);
  if (given.positionals.length > 0) throw new UsageError("svc listen takes options only.");
  const [target, from, api, { key, isLive }] = [
    parseForwardTarget(given),
    parseStartPosition(given),
    getApiUrl(given),
    requireApiKey(given),
  ];
  const environment = isLive ? "live" : "sandbox";
  // this command waits by itself, and says so
  const svc = createSvc({ baseUrl: api, apiKey: key, retries: 0 });
  const reading = async (): Promise<void> => {
    const head = await fetchHead(svc, signal);
    const earlier = loadListenState(environment);
    const secret = earlier?.secret ?? generateSecret();
    const place = from ?? (earlier?.api === api ? earlier.cursor : null) ?? "now";
    // another feed than the one the place is of: past its end nothing would ever come
    const start = place === "now" || place > head ? head : place;
    let kept: ListenState = { api, secret, cursor: start };
    saveListenState(environment, kept);
    printLine(`Forwarding ${environment === "live" ? "live" : "test"} events after seq ${start} to ${target}`);
    printLine(`Signing secret: ${secret} (the same the next time)`);
    const advance = (cursor: number): void => {
      kept = { ...kept, cursor };
      saveListenState(environment, kept);
    };
    const receiver = { target, secret, repeats: given.flags.has("--retry"), signal };
    const course = { svc, types: given.values.get("--types"), isOnce: given.flags.has("--once"), signal, advance };
    await followFeed({ ...course, handleEvent: (event) => forwardEvent(receiver, event) }, start);
  };
  return toExitCode(reading(), signal);
};
