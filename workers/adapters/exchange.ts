// One question to a neighbour and its answer: within a time, of a size, never following a redirect, and never thrown.
import { bytesUpTo } from "../../core/bytes.ts";
import type { Failure, Permanent, Retry } from "../../core/ledger/adapter.ts";
import { secondMs, type Clock } from "../../core/time.ts";

export type SendRequest = (request: Request) => Promise<Response>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export const retry = (code: string, afterMs?: number): Retry => ({
  ok: false,
  kind: "retry",
  code,
  ...(afterMs !== undefined && { afterMs }),
});
export const permanent = (code: string): Permanent => ({ ok: false, kind: "permanent", code });

export interface ExchangeLimits {
  readonly withinMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** The answer whatever its status, or `retry` with `timeout`, `connection` or `answer_too_large`. */
export const exchange = async (
  send: SendRequest,
  url: string,
  init: RequestInit,
  { withinMs, maxBytes, signal }: ExchangeLimits,
): Promise<{ readonly ok: true; readonly answer: Answer } | Retry> => {
  const limit = new AbortController();
  const stop = (): void => limit.abort();
  const timer = setTimeout(stop, withinMs);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  try {
    const response = await send(new Request(url, { ...init, redirect: "manual", signal: limit.signal }));
    const body = await bytesUpTo(response.body, maxBytes);
    return body === null ? retry("answer_too_large") : { ok: true, answer: { status: response.status, headers: response.headers, body } };
  } catch {
    return retry(limit.signal.aborted ? "timeout" : "connection"); // however it broke, asking again is all there is to do
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
};

/** Retry-After, in seconds or as a date; undefined for anything else, which leaves it to our own schedule. */
export const retryAfterMs = (headers: Headers, clock: Clock): number | undefined => {
  const text = headers.get("retry-after") ?? "";
  if (/^\d{1,6}$/.test(text)) return Number(text) * secondMs;
  const instant = /GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(instant) ? Math.max(0, instant - clock()) : undefined;
};

const askAgainStatuses: ReadonlySet<number> = new Set([408, 425, 429, 499]); // 499: the neighbour saw us hang up, perhaps too late

/** What a status that is no success says about asking again. */
export const refusedBy = ({ status, headers }: Answer, clock: Clock): Failure =>
  status >= 500 || askAgainStatuses.has(status) ? retry(`http_${status}`, retryAfterMs(headers, clock)) : permanent(`http_${status}`);

/** `text/plain; charset=utf-8` without what follows the semicolon, in small letters. */
export const mediaTypeOf = (headers: Headers): string => (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
