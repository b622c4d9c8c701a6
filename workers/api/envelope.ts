// The two shapes of every JSON answer (SPEC, Response envelope).
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { refusals, type RefusalCode } from "../../core/refusals.ts";
import type { Refusal, Result } from "../../core/result.ts";
import type { Api } from "./context.ts";
import { statuses } from "./statuses.ts";
import { respond } from "./headers.ts";

export const success = (c: Context<Api>, status: ContentfulStatusCode, data: object): Response =>
  respond(c, status, JSON.stringify({ ok: true, data, request_id: c.get("requestId") }), "application/json");

/** As `success`, for data that is JSON text already: it is written once, however often it was needed. */
export const successText = (c: Context<Api>, status: ContentfulStatusCode, json: string): Response =>
  respond(c, status, `{"ok":true,"data":${json},"request_id":${JSON.stringify(c.get("requestId"))}}`, "application/json");

/** `detail` names an input and a rule in constant words; it never repeats what was sent. */
export const failure = (c: Context<Api>, code: RefusalCode, detail?: string): Response => {
  c.set("refused", code);
  const error = { code, message: detail ?? refusals[code] };
  return respond(c, statuses[code], JSON.stringify({ ok: false, error, request_id: c.get("requestId") }), "application/json");
};

export const refusal = (c: Context<Api>, refused: Refusal): Response => failure(c, refused.code, refused.detail);

/** A decision as an answer: the value with `status`, or its refusal. */
export const answer = (c: Context<Api>, status: ContentfulStatusCode, result: Result<object>): Response =>
  result.ok ? success(c, status, result.value) : refusal(c, result);
