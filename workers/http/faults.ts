// What a fault and an exception of hono's own middlewares answer.
import type { ErrorHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { storageFaultOf } from "../../storage/faults.ts";
import { kindOfError } from "../log.ts";
import type { Api } from "./context.ts";
import { failure } from "./envelope.ts";

/** An outage, or rows that another request's rows were in the way of: the same request can be sent again, under its idempotency key. */
export const isOutage = (error: unknown): boolean => {
  const kind = storageFaultOf(error)?.kind;
  return kind === "outage" || kind === "constraint";
};

export const onFault: ErrorHandler<Api> = (error, c) => {
  if (error instanceof HTTPException && error.res !== undefined) return error.getResponse(); // a refusal of bearerAuth, made by us
  const outage = isOutage(error);
  c.var.services.log.fault({ request_id: c.var.requestId, at: "request", error: kindOfError(error) });
  return failure(c, outage ? "storage_unavailable" : "internal_error");
};
