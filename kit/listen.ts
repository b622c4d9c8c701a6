// `svc listen`: reads the feed and hands each event to an address of this machine, in order, with the body and the headers of a real
// delivery. The place is kept after each answer of the receiver, so an event may come twice and is never left out.
import { setTimeout as after } from "node:timers/promises";
import { webhookSecret, deliveryHeaders, secretBytes } from "../core/webhooks/signature.ts";
import { apiOf, keyOf, Misused, readArguments, type Given } from "./arguments.ts";
import { createSvc, pagesOf, type Event, type Svc } from "./client.ts";
import { keep, readKept, type Kept } from "./kept.ts";

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

The API key is read from SVC_API_KEY. The signing secret is drawn once and kept, with the place, in .svc/ of this folder.
Exit code: 0 ended by you or by --once; 1 the service refused; 2 wrong usage.
`;

const valued = ["--forward-to", "--types", "--from", "--allow-host", "--api"];
const flagged = ["--retry", "--once", "--live"];

const quickMs = 1_000; // sixty polls a minute: half of what the key may
const quietMs = 5_000;
const quietAfter = 60; // polls that found nothing
const awayMs = 5_000;
const receiverMs = 10_000; // as long as a real delivery waits
const longestRetryMs = 60_000;

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(host);

const targetOf = ({ values }: Given): string => {
  const text = values.get("--forward-to");
  if (text === undefined) throw new Misused("--forward-to says where the events go.");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Misused("--forward-to takes an address, such as http://localhost:3000/hook.");
  if (!isLoopback(url.hostname) && url.hostname !== values.get("--allow-host")) {
    throw new Misused("--forward-to leads to another machine. Say --allow-host with its name if that is meant.");
  }
  return url.href;
};

const fromOf = ({ values }: Given): number | "now" | null => {
  const text = values.get("--from");
  if (text === undefined) return null;
  if (text === "start") return 0;
  if (text === "now") return "now";
  if (!/^\d{1,15}$/.test(text)) throw new Misused("--from takes start, now, or the seq of an event.");
  return Number(text);
};

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const clockTime = (): string => new Date().toISOString().slice(11, 19);

interface Receiver {
  readonly target: string;
  readonly secret: string;
  readonly repeats: boolean;
  readonly signal: AbortSignal;
}

/** Status of the receiver's answer; null where there was none. */
const post = async ({ target, secret, signal }: Receiver, event: Event, attempt: number): Promise<number | null> => {
  const body = JSON.stringify(event);
  const deliveryId = `dlv_local_${event.seq}`;
  const headers = deliveryHeaders({ event, deliveryId, attempt, body, secrets: [secret], now: Date.now() });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(receiverMs)]);
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
const forward = async (receiver: Receiver, event: Event): Promise<void> => {
  let waitMs = quickMs;
  for (let attempt = 1; ; ) {
    const began = performance.now();
    const status = await post(receiver, event, attempt);
    const took = `${Math.round(performance.now() - began)} ms`;
    const line = `${clockTime()}  ${event.type.padEnd(24)} seq ${event.seq}`;
    say(`${line}  ${status === null ? "nobody answers, trying again" : `-> ${status}  ${took}`}`);
    if (status !== null && (!receiver.repeats || (status >= 200 && status < 300))) return;
    if (status !== null) attempt += 1;
    await after(waitMs, undefined, { signal: receiver.signal });
    waitMs = Math.min(2 * waitMs, longestRetryMs);
  }
};

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly response: Response;
}
class Ended extends Error {}

/** What to do about a refusal of the feed: wait as long as it says, or end. */
const outlast = async ({ code, message, response }: Refused, signal: AbortSignal): Promise<void> => {
  const { status } = response;
  if (status >= 400 && status < 500 && status !== 429) throw new Ended(`The service refused: ${code}: ${message}`);
  const asked = Number(response.headers.get("retry-after") ?? 0) * 1_000;
  const waitMs = asked > 0 ? asked : awayMs;
  process.stderr.write(`${clockTime()}  ${message} Trying again in ${Math.ceil(waitMs / 1_000)} s.\n`);
  await after(waitMs, undefined, { signal });
};

/** The newest event there is. */
const headOf = async (svc: Svc, signal: AbortSignal): Promise<number> => {
  for (;;) {
    const answer = await svc.listEvents({ query: { limit: 1 } });
    if (answer.error === undefined) return answer.data.head;
    await outlast({ ...answer.error, response: answer.response }, signal);
  }
};

interface Course {
  readonly svc: Svc;
  readonly receiver: Receiver;
  readonly types: string | undefined;
  readonly isOnce: boolean;
  readonly advance: (cursor: number) => void;
}

/** All that is there after a place; the place after it. */
const forwardAll = async ({ svc, receiver, types, advance }: Course, from: number): Promise<number> => {
  let cursor = from;
  for await (const page of pagesOf(svc, "listEvents", { cursor, ...(types !== undefined && { types }) })) {
    if (page.error !== undefined) {
      await outlast({ ...page.error, response: page.response }, receiver.signal);
      return cursor;
    }
    for (const event of page.data.events) {
      await forward(receiver, event);
      cursor = event.seq;
      advance(cursor);
    }
    if (page.data.next_cursor > cursor) {
      cursor = page.data.next_cursor;
      advance(cursor);
    }
  }
  return cursor;
};

const follow = async (course: Course, from: number): Promise<void> => {
  const { signal } = course.receiver;
  let cursor = from;
  for (let quiet = 0; ; ) {
    const next = await forwardAll(course, cursor);
    quiet = next === cursor ? quiet + 1 : 0;
    cursor = next;
    if (course.isOnce) return;
    await after(quiet > quietAfter ? quietMs : quickMs, undefined, { signal });
  }
};

const drawSecret = (): string => webhookSecret(crypto.getRandomValues(new Uint8Array(secretBytes)));

/** Runs the command and answers with its exit code. */
export const listen = async (words: readonly string[], signal: AbortSignal): Promise<number> => {
  const given = readArguments(words, valued, flagged);
  if (given.words.length > 0) throw new Misused("svc listen takes options only.");
  const [target, from, api, { key, isLive }] = [targetOf(given), fromOf(given), apiOf(given), keyOf(given)];
  const environment = isLive ? "live" : "sandbox";
  // this command waits by itself, and says so
  const svc = createSvc({ baseUrl: api, apiKey: key, retries: 0 });
  try {
    const head = await headOf(svc, signal);
    const earlier = readKept(environment);
    const secret = earlier?.secret ?? drawSecret();
    const place = from ?? (earlier?.api === api ? earlier.cursor : null) ?? "now";
    // another feed than the one the place is of: past its end nothing would ever come
    let kept: Kept = { api, secret, cursor: place === "now" || place > head ? head : place };
    keep(environment, kept);
    say(`Forwarding ${environment === "live" ? "live" : "test"} events after seq ${kept.cursor} to ${target}`);
    say(`Signing secret: ${secret} (the same the next time)`);
    const advance = (cursor: number): void => {
      kept = { ...kept, cursor };
      keep(environment, kept);
    };
    const receiver = { target, secret, repeats: given.flags.has("--retry"), signal };
    await follow({ svc, receiver, types: given.values.get("--types"), isOnce: given.flags.has("--once"), advance }, kept.cursor as number);
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    if (!(error instanceof Ended)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
};
