// What a fault and an exception of hono's own middlewares answer.
import type { ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { findStorageFault } from "../../storage/faults.ts";
import { getErrorKind } from "../log.ts";
import type { AppEnv } from "./context.ts";
import { failure } from "./envelope.ts";

/** An outage, or rows that another request's rows were in the way of: the same request can be sent again, under its idempotency key. */
export const isOutage = (error: unknown): boolean => {
  const kind = findStorageFault(error)?.kind;
  return kind === "outage" || kind === "constraint";
};

export const handleError: ErrorHandler<AppEnv> = (error, c) => {
  if (error instanceof HTTPException && error.res !== undefined) return error.getResponse(); // a refusal of bearerAuth, made by us
  const outage = isOutage(error);
  c.var.services.log.error({ request_id: c.var.requestId, at: "request", error: getErrorKind(error) });
  return failure(c, outage ? "storage_unavailable" : "internal_error");
};
