// Sends one HTTP request with a time limit and a size limit. Does not follow redirects. Returns failures instead of throwing them.
import { readBytesUpTo } from "../../core/bytes.ts";
import type { LedgerFailure, PermanentFailure, RetryableFailure } from "../../core/ledger/adapter.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { withTimeout } from "./timeout.ts";

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

/** Returns the response, whatever its status, or a retryable failure: `timeout`, `connection` or `answer_too_large`. */
export const sendWithLimits = async (
  send: SendRequest,
  url: string,
  init: RequestInit,
  { timeoutMs, maxBytes, signal }: ExchangeLimits,
): Promise<{ readonly ok: true; readonly response: ExchangeResponse } | RetryableFailure> => {
  return withTimeout(timeoutMs, async (timeout) => {
    const limit = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    try {
      const response = await send(new Request(url, { ...init, redirect: "manual", signal: limit }));
      const body = await readBytesUpTo(response.body, maxBytes);
      return body === null
        ? retryableFailure("answer_too_large")
        : { ok: true, response: { status: response.status, headers: response.headers, body } };
    } catch {
      return retryableFailure(limit.aborted ? "timeout" : "connection");
    }
  });
};

/**
 * Converts the Retry-After header (seconds or a date) to milliseconds from now. Returns undefined if the header is missing or malformed.
 */
export const retryAfterMs = (headers: Headers, clock: Clock): number | undefined => {
  const text = headers.get("retry-after") ?? "";
  if (/^\d{1,6}$/.test(text)) return Number(text) * secondMs;
  const instant = /GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(instant) ? Math.max(0, instant - clock()) : undefined;
};

// 499 means that the connection was closed before the response. The server may or may not have processed the request, so the request can be
// retried.
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429, 499]);

export const failureFromResponse = ({ status, headers }: ExchangeResponse, clock: Clock): LedgerFailure =>
  status >= 500 || retryableStatuses.has(status)
    ? retryableFailure(`http_${status}`, retryAfterMs(headers, clock))
    : permanentFailure(`http_${status}`);

/** Returns the Content-Type in lowercase, without parameters, or an empty string if the header is missing. */
export const getMediaType = (headers: Headers): string => (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
