// What an unknown path, a wrong method and a fault answer.
import type { Context, ErrorHandler, Hono } from "hono";
import { storageFaultOf } from "../../storage/faults.ts";
import { kindOfError } from "../log.ts";
import type { Api } from "./context.ts";
import { failure } from "./envelope.ts";
import { setHeaders } from "./headers.ts";

/** An outage, or rows that another request's rows were in the way of: nothing was written, and the same request can be sent again. */
export const isOutage = (error: unknown): boolean => {
  const kind = storageFaultOf(error)?.kind;
  return kind === "outage" || kind === "constraint";
};

export const onFault: ErrorHandler<Api> = (error, c) => {
  const outage = isOutage(error);
  c.var.services.log.fault({ request_id: c.var.requestId, at: "request", error: kindOfError(error) });
  if (outage) setHeaders(c, { "Retry-After": "1" });
  return failure(c as Context<Api>, outage ? "storage_unavailable" : "internal_error");
};

/** 405 with Allow where the path exists under another method, else 404. */
export const onUnknown =
  (app: Hono<Api>) =>
  (c: Context<Api>): Response => {
    const path = new URL(c.req.url).pathname;
    const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((method) =>
      app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
    );
    if (methods.length === 0) return failure(c, "not_found");
    if (methods.includes("GET")) methods.push("HEAD");
    setHeaders(c, { Allow: methods.join(", ") });
    return failure(c, "method_not_allowed");
  };
