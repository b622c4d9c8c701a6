// Reading the feed for as long as somebody wants: page by page, every second, slower when nothing happens, and as slowly as the service
// asks for. `svc listen` and `svc events` differ in what they do with an event.
import { setTimeout as after } from "node:timers/promises";
import { UsageError, type ParsedArguments } from "./arguments.ts";
import { pagesOf, type Event, type Svc } from "./client.ts";

const activePollMs = 1_000; // sixty polls a minute: half of what the key may
const idlePollMs = 5_000;
const idleAfterPolls = 60; // polls that found nothing
const defaultRetryMs = 5_000;

export const formatClockTime = (): string => new Date().toISOString().slice(11, 19);

/** Where to begin: after a `seq`, or behind all there is; null where nothing was said. */
export const parseStartPosition = ({ values }: ParsedArguments): number | "now" | null => {
  const text = values.get("--from");
  if (text === undefined) return null;
  if (text === "start") return 0;
  if (text === "now") return "now";
  if (!/^\d{1,15}$/.test(text)) throw new UsageError("--from takes start, now, or the seq of an event.");
  return Number(text);
};

interface FeedRefusal {
  readonly code: string;
  readonly message: string;
  readonly response: Response;
}
class FeedRefusedError extends Error {}

/** What to do about a refusal of the feed: wait as long as it says, or end. */
const waitOrThrow = async ({ code, message, response }: FeedRefusal, signal: AbortSignal): Promise<void> => {
  const { status } = response;
  if (status >= 400 && status < 500 && status !== 429) throw new FeedRefusedError(`The service refused: ${code}: ${message}`);
  const asked = Number(response.headers.get("retry-after") ?? 0) * 1_000;
  const waitMs = asked > 0 ? asked : defaultRetryMs;
  process.stderr.write(`${formatClockTime()}  ${message} Trying again in ${Math.ceil(waitMs / 1_000)} s.\n`);
  await after(waitMs, undefined, { signal });
};

/** The newest event there is. */
export const fetchHead = async (svc: Svc, signal: AbortSignal): Promise<number> => {
  for (;;) {
    const answer = await svc.listEvents({ query: { limit: 1 } });
    if (answer.error === undefined) return answer.data.head;
    await waitOrThrow({ ...answer.error, response: answer.response }, signal);
  }
};

interface FollowOptions {
  readonly svc: Svc;
  readonly types: string | undefined;
  /** Ends when nothing is left. */
  readonly isOnce: boolean;
  readonly signal: AbortSignal;
  readonly handleEvent: (event: Event) => Promise<void>;
  /** Told of each place that is behind us. */
  readonly advance: (cursor: number) => void;
}

/** What is there after a place, up to the first page that is refused; the place after it. */
const readPages = async (
  { svc, types, signal, handleEvent, advance }: FollowOptions,
  from: number,
): Promise<{ cursor: number; isAll: boolean }> => {
  let cursor = from;
  const passed = (to: number): void => {
    cursor = to;
    advance(to);
  };
  for await (const page of pagesOf(svc, "listEvents", { cursor, ...(types !== undefined && { types }) })) {
    if (page.error !== undefined) {
      await waitOrThrow({ ...page.error, response: page.response }, signal);
      return { cursor, isAll: false };
    }
    for (const event of page.data.events) {
      await handleEvent(event);
      passed(event.seq);
    }
    if (page.data.next_cursor > cursor) passed(page.data.next_cursor);
  }
  return { cursor, isAll: true };
};

export const followFeed = async (course: FollowOptions, from: number): Promise<void> => {
  let cursor = from;
  for (let quiet = 0; ; ) {
    const next = await readPages(course, cursor);
    quiet = next.cursor === cursor ? quiet + 1 : 0;
    ({ cursor } = next);
    if (!next.isAll) continue; // it has waited
    if (course.isOnce) return;
    await after(quiet > idleAfterPolls ? idlePollMs : activePollMs, undefined, { signal: course.signal });
  }
};

/** The exit code of a command that reads the feed: 0 also where the person ended it, 1 where the service refused. */
export const toExitCode = async (reading: Promise<void>, signal: AbortSignal): Promise<number> => {
  try {
    await reading;
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    if (!(error instanceof FeedRefusedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
};
