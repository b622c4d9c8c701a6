// The two shapes of every JSON answer (SPEC, Response envelope).
import type { TypedResponse } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { refusals, type RefusalCode } from "../../core/refusals.ts";
import type { Refusal, Result } from "../../core/result.ts";
import type { RequestContext } from "./context.ts";
import { statusByCode } from "./statuses.ts";

/** The type holds the data to the schema of the route, key by key. */
export const success = <T extends object, S extends ContentfulStatusCode>(c: RequestContext, status: S, data: T) =>
  c.json({ ok: true as const, data, request_id: c.var.requestId }, status);

/** Any route may refuse: its failures are described from the catalogue, and their body is always this one. */
export type FailureResponse = Response & TypedResponse<never, never, never>;

/** Seconds until the same request may be sent again, where nobody who refused it has said how many. */
const retryAfterSeconds: Partial<Record<RefusalCode, string>> = { storage_unavailable: "1", rate_limited: "60" };

/** `detail` names an input and a rule in constant words; it never repeats what was sent. */
export const failure = (c: RequestContext, code: RefusalCode, detail?: string): FailureResponse => {
  c.set("refused", code);
  const seconds = retryAfterSeconds[code];
  if (seconds !== undefined && !c.res.headers.has("Retry-After")) c.header("Retry-After", seconds);
  const error = { code, message: detail ?? refusals[code] };
  return c.json({ ok: false, error, request_id: c.var.requestId }, statusByCode[code]) as Response as FailureResponse;
};

export const refusal = (c: RequestContext, refused: Refusal): FailureResponse => failure(c, refused.code, refused.detail);

/** What an operation came to: its value, as it is written on the wire, or its refusal. */
export const respond = <T, D extends object, S extends ContentfulStatusCode>(
  c: RequestContext,
  status: S,
  result: Result<T>,
  toWire: (value: T) => D,
) => (result.ok ? success(c, status, toWire(result.value)) : refusal(c, result));
