// The header Idempotency-Key (CONTRACT 0): the same caller, route, key and body within 24 hours are one request, answered
// once more. Routes whose change is one batch keep the answer in that batch themselves; all others have `idempotent` before
// their handler, and behind their guards and limits, so that a repeat is let in and counted like any call.
import type { Context, MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { addressKey } from "../../core/access/address.ts";
import { firstHome } from "../../core/ids.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { kindOfError } from "../log.ts";
import { beginKeyed, callerAt, type KeyedRequest, type Work } from "../operations/idempotency.ts";
import { readOptionalJsonBody } from "./body.ts";
import type { Api } from "./context.ts";
import { refusal, success } from "./envelope.ts";
import { idempotencyPattern } from "./wire.ts";
import { setHeaders } from "./headers.ts";

/** The key of this request, null without one. */
export const idempotencyKeyOf = (c: Context<Api>): Result<string | null, "invalid_request"> => {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return ok(null);
  return idempotencyPattern.test(key) ? ok(key) : refuse("invalid_request", "Idempotency-Key: must be 1 to 64 of A-Z a-z 0-9 _ -.");
};

type Caller = Pick<KeyedRequest, "caller" | "home">;

/** Of routes behind a credential: the key or the person. */
const credential = async (c: Context<Api>): Promise<Caller | null> => {
  const { principal, member } = c.var;
  if (principal !== undefined) return { caller: principal.keyId, home: principal.business.id };
  return member === undefined ? null : { caller: member.userId, home: member.business.id };
};

/** Of routes that anyone may call: whoever is at the same network address. A cookie may come with the very first answer. */
const atAddress = async (c: Context<Api>): Promise<Caller> => ({
  caller: await callerAt(c.var.services, addressKey(c.var.ip)),
  home: c.req.param("cert_id") ?? `con_${firstHome}`,
});

/** Ends the work as its answer was. The answer stands whatever becomes of this: without it a repeat does the work again. */
const settle = async (c: Context<Api>, work: Work): Promise<void> => {
  try {
    const { status } = c.res;
    if (status >= 500) return await work.yield();
    if (status >= 300) return await work.forget();
    const { data } = (await c.res.clone().json()) as { data: object };
    await work.keep({ status, data, cookie: c.res.headers.get("set-cookie") });
  } catch (error) {
    c.var.services.log.fault({ request_id: c.var.requestId, at: "idempotency", error: kindOfError(error) });
  }
};

const repeatable =
  (callerOf: (c: Context<Api>) => Promise<Caller | null>): MiddlewareHandler<Api> =>
  async (c, next) => {
    const key = idempotencyKeyOf(c);
    if (!key.ok) return refusal(c, key);
    if (key.value === null) return next();
    const caller = await callerOf(c);
    const body = await readOptionalJsonBody(c.req.raw);
    if (caller === null || !body.ok) return next(); // the handler says what is wrong
    const { services, requestId } = c.var;
    const route = `${c.req.method} ${c.req.path}`;
    const begun = await beginKeyed(services, { ...caller, route, key: key.value, body: body.value, requestId });
    if (begun === null) return next();
    if (!begun.ok) return refusal(c, begun);
    if (begun.value.kept !== null) {
      const { status, data, cookie } = begun.value.kept;
      setHeaders(c, { "Idempotency-Replayed": "true" });
      if (cookie !== null) setHeaders(c, { "Set-Cookie": cookie });
      return success(c, status as ContentfulStatusCode, data);
    }
    const { work } = begun.value;
    c.set("work", work);
    const done = next().then(() => settle(c, work));
    services.afterAnswer(() => done); // whoever hangs up and asks again finds it done, not broken off
    await done;
  };

export const idempotent: MiddlewareHandler<Api> = repeatable(credential);
export const idempotentByAddress: MiddlewareHandler<Api> = repeatable(atAddress);
