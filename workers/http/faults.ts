// What a fault and an exception of hono's own middlewares answer.
import type { ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { kindOfError, saysError } from "../log.ts";
import type { Api } from "./context.ts";
import { failure } from "./envelope.ts";

/** Faults of storage are outages. Everything else is our bug. */
export const isOutage = (error: unknown): boolean =>
  saysError(error, /D1_ERROR|D1_EXEC_ERROR|D1_TYPE_ERROR|SQLITE_|KV (?:GET|PUT|DELETE)|Network connection lost|overloaded|reset because/i);

/** Outages of storage can be asked again, since whether the change was written is decided by its idempotency key. Everything else is our bug. */
export const onFault: ErrorHandler<Api> = (error, c) => {
  if (error instanceof HTTPException && error.res !== undefined) return error.getResponse(); // a refusal of bearerAuth, made by us
  const outage = isOutage(error);
  c.var.services.log.fault({ request_id: c.var.requestId, at: "request", error: kindOfError(error) });
  if (outage) c.header("Retry-After", "1");
  return failure(c, outage ? "storage_unavailable" : "internal_error");
};
