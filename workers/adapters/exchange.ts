// One question to a neighbour and its answer: within a time, of a size, never following a redirect, and never thrown.
import { readBytesUpTo } from "../../core/bytes.ts";
import type { LedgerFailure, PermanentFailure, RetryableFailure } from "../../core/ledger/adapter.ts";
import { secondMs, type Clock } from "../../core/time.ts";

export type SendRequest = (request: Request) => Promise<Response>;

export interface ExchangeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export const retryableFailure = (code: string, afterMs?: number): RetryableFailure => ({
  ok: false,
  kind: "retry",
  code,
  ...(afterMs !== undefined && { retryAfterMs: afterMs }),
});
export const permanentFailure = (code: string): PermanentFailure => ({ ok: false, kind: "permanent", code });

export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** The answer whatever its status, or `retry` with `timeout`, `connection` or `answer_too_large`. */
export const sendWithLimits = async (
  send: SendRequest,
  url: string,
  init: RequestInit,
  { timeoutMs, maxBytes, signal }: ExchangeLimits,
): Promise<{ readonly ok: true; readonly answer: ExchangeResponse } | RetryableFailure> => {
  const limit = new AbortController();
  const stop = (): void => limit.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  try {
    const response = await send(new Request(url, { ...init, redirect: "manual", signal: limit.signal }));
    const body = await readBytesUpTo(response.body, maxBytes);
    return body === null
      ? retryableFailure("answer_too_large")
      : { ok: true, answer: { status: response.status, headers: response.headers, body } };
  } catch {
    return retryableFailure(limit.signal.aborted ? "timeout" : "connection"); // however it broke, asking again is all there is to do
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

const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429, 499]); // 499: the neighbour saw us hang up, perhaps too late

/** What a status that is no success says about asking again. */
export const failureFromResponse = ({ status, headers }: ExchangeResponse, clock: Clock): LedgerFailure =>
  status >= 500 || retryableStatuses.has(status)
    ? retryableFailure(`http_${status}`, retryAfterMs(headers, clock))
    : permanentFailure(`http_${status}`);

/** `text/plain; charset=utf-8` without what follows the semicolon, in small letters. */
export const getMediaType = (headers: Headers): string => (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
