// Builds the two JSON response bodies, success and failure (SPEC Response envelope).
import type { TypedResponse } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isStorageLimitMessage } from "../../core/access/storage-limits.ts";
import { refusals, type RefusalCode } from "../../core/refusals.ts";
import type { Refusal, Result } from "../../core/result.ts";
import { getSecondsUntilTomorrow } from "../../core/time.ts";
import type { RequestContext } from "./context.ts";
import { statusByCode } from "./statuses.ts";

export const success = <T extends object, S extends ContentfulStatusCode>(c: RequestContext, status: S, data: T) =>
  c.json({ ok: true as const, data, request_id: c.var.requestId }, status);

/** A failure response. This type is assignable to the response type of every route. */
export type FailureResponse = Response & TypedResponse<never, never, never>;

/** The default Retry-After in seconds. It does not replace a value that is already set. */
const defaultRetryAfterSeconds: Partial<Record<RefusalCode, string>> = { storage_unavailable: "1", rate_limited: "60" };

/**
 * Returns a failure response. `detail` replaces the code's default message. It must be constant text that names the field and the rule, and
 * must never repeat the caller's input.
 */
export const failure = (c: RequestContext, code: RefusalCode, detail?: string): FailureResponse => {
  c.set("refused", code);
  const seconds = defaultRetryAfterSeconds[code];
  if (seconds !== undefined && !c.res.headers.has("Retry-After")) c.header("Retry-After", seconds);
  const error = { code, message: detail ?? refusals[code] };
  return c.json({ ok: false, error, request_id: c.var.requestId }, statusByCode[code]) as Response as FailureResponse;
};

/**
 * Responds with an operation's refusal. A storage limit allows more records after the next midnight (UTC), so its `Retry-After` is the
 * number of seconds until then.
 */
export const refusal = (c: RequestContext, refused: Refusal): FailureResponse => {
  if (isStorageLimitMessage(refused.detail)) c.header("Retry-After", String(getSecondsUntilTomorrow(c.var.services.clock())));
  return failure(c, refused.code, refused.detail);
};

/** Responds with an operation's result: the value in wire format, or the refusal. */
export const respond = <T, D extends object, S extends ContentfulStatusCode>(
  c: RequestContext,
  status: S,
  result: Result<T>,
  toWire: (value: T) => D,
) => (result.ok ? success(c, status, toWire(result.value)) : refusal(c, result));
