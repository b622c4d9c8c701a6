// Polls the event feed for `svc listen` and `svc events`: every second, or less often when there are no new events. Honors `Retry-After`.
import { setTimeout as after } from "node:timers/promises";
import { UsageError, type ParsedArguments } from "./arguments.ts";
import { pagesOf, type Event, type Svc } from "./client.ts";

const activePollMs = 1_000; // 60 polls per minute, half of the API key's limit
const idlePollMs = 5_000;
const idleAfterPolls = 60; // polling slows down after more than this many consecutive polls without new events
const defaultRetryMs = 5_000;

export const formatClockTime = (): string => new Date().toISOString().slice(11, 19);

/**
 * Parses `--from`: `start`, `now`, or the `seq` to start after. Returns 0 for `start`, and null if the option is not given. Throws
 * UsageError if the value is invalid.
 */
export const parseStartPosition = ({ values }: ParsedArguments): number | "now" | null => {
  const text = values.get("--from");
  if (text === undefined) return null;
  if (text === "start") return 0;
  if (text === "now") return "now";
  if (!/^\d{1,15}$/.test(text)) throw new UsageError("--from must be start, now or the seq of an event.");
  return Number(text);
};

interface FeedRefusal {
  readonly code: string;
  readonly message: string;
  readonly response: Response;
}
class FeedRefusedError extends Error {}

/** Waits for the time in `Retry-After` or, without this header, 5 seconds. Throws FeedRefusedError if waiting cannot help. */
const waitOrThrow = async ({ code, message, response }: FeedRefusal, signal: AbortSignal): Promise<void> => {
  const { status } = response;
  if (status >= 400 && status < 500 && status !== 429) throw new FeedRefusedError(`The service refused: ${code}: ${message}`);
  const retryAfterMs = Number(response.headers.get("retry-after") ?? 0) * 1_000;
  const waitMs = retryAfterMs > 0 ? retryAfterMs : defaultRetryMs;
  process.stderr.write(`${formatClockTime()}  ${message} Trying again in ${Math.ceil(waitMs / 1_000)} s.\n`);
  await after(waitMs, undefined, { signal });
};

/** Returns the newest event's `seq`, or 0 if there are no events. Waits while the service is unavailable. */
export const fetchHead = async (svc: Svc, signal: AbortSignal): Promise<number> => {
  for (;;) {
    const result = await svc.listEvents({ query: { limit: 1 } });
    if (result.error === undefined) return result.data.head;
    await waitOrThrow({ ...result.error, response: result.response }, signal);
  }
};

interface FollowOptions {
  readonly svc: Svc;
  readonly types: string | undefined;
  /** If true, stop after the last existing event. */
  readonly isOnce: boolean;
  readonly signal: AbortSignal;
  readonly handleEvent: (event: Event) => Promise<void>;
  /**
   * Called with the new feed position after each handled event. Also called after a page that ends with events of types that were not
   * requested.
   */
  readonly saveCursor: (cursor: number) => void;
}

/** Handles all events after `from`. If a page cannot be read, calls `waitOrThrow`, and then returns `isComplete: false`. */
const readPages = async (
  { svc, types, signal, handleEvent, saveCursor }: FollowOptions,
  from: number,
): Promise<{ cursor: number; isComplete: boolean }> => {
  let cursor = from;
  const advance = (to: number): void => {
    cursor = to;
    saveCursor(to);
  };
  for await (const page of pagesOf(svc, "listEvents", { cursor, ...(types !== undefined && { types }) })) {
    if (page.error !== undefined) {
      await waitOrThrow({ ...page.error, response: page.response }, signal);
      return { cursor, isComplete: false };
    }
    for (const event of page.data.events) {
      await handleEvent(event);
      advance(event.seq);
    }
    if (page.data.next_cursor > cursor) advance(page.data.next_cursor);
  }
  return { cursor, isComplete: true };
};

/**
 * Handles the events after `from` in order. If `isOnce` is true, ends after the last event. Throws if `signal` aborts or the service
 * refuses a request.
 */
export const followFeed = async (options: FollowOptions, from: number): Promise<void> => {
  let cursor = from;
  for (let emptyPolls = 0; ; ) {
    const next = await readPages(options, cursor);
    emptyPolls = next.cursor === cursor ? emptyPolls + 1 : 0;
    ({ cursor } = next);
    if (!next.isComplete) continue;
    if (options.isOnce) return;
    await after(emptyPolls > idleAfterPolls ? idlePollMs : activePollMs, undefined, { signal: options.signal });
  }
};

/**
 * Returns the exit code of a command that reads the feed: 0 if the feed ended or the user stopped the command, 1 if the service refused.
 */
export const toExitCode = async (work: Promise<void>, signal: AbortSignal): Promise<number> => {
  try {
    await work;
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    if (!(error instanceof FeedRefusedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
};
