// Turns uncaught errors into failure responses.
import type { ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { findStorageFault } from "../../storage/faults.ts";
import { getErrorKind } from "../log.ts";
import type { AppEnv } from "./context.ts";
import { failure } from "./envelope.ts";

/**
 * Returns true if the caller can safely repeat the request: the database was unavailable, or a write conflicted with another request's
 * write.
 */
export const isTemporaryFault = (error: unknown): boolean => {
  const kind = findStorageFault(error)?.kind;
  return kind === "outage" || kind === "constraint";
};

export const handleError: ErrorHandler<AppEnv> = (error, c) => {
  // `bearerAuth` in guards/api-key.ts throws this error.
  if (error instanceof HTTPException && error.res !== undefined) return error.getResponse();
  const temporary = isTemporaryFault(error);
  c.var.services.log.error({ request_id: c.var.requestId, at: "request", error: getErrorKind(error) });
  return failure(c, temporary ? "storage_unavailable" : "internal_error");
};
