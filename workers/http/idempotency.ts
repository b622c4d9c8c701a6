// The header Idempotency-Key (CONTRACT 0): the same caller, route, key and body within 24 hours are one request, answered
// once more. Routes have `idempotent` before their handler, behind their guards and limits and the body's reading, so that a repeat is
// let in and counted like any call; handlers whose change is one batch hand it `keeping`, so that the answer is kept in that batch.
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { addressKey } from "../../core/access/address.ts";
import type { Json } from "../../core/canonical-json.ts";
import { firstHome } from "../../core/ids.ts";
import { kindOfError } from "../log.ts";
import { beginKeyed, callerAt, type Keeping, type KeyedRequest, type Work } from "../operations/access/idempotency.ts";
import type { Api, RequestContext } from "./context.ts";
import { failure, refusal, success } from "./envelope.ts";
import { idempotencyKeyRule, idempotencyPattern } from "./wire.ts";

type Caller = Pick<KeyedRequest, "caller" | "home">;

/** The record that a request changes or that its change begins with, where it names one: the change is in its home, and so is the key. */
const recordOf = (c: RequestContext, body: Json): string | undefined => {
  const { client_id: client, cert_id: certificate } = body as { readonly client_id?: Json; readonly cert_id?: Json };
  return [c.req.param("share_id"), c.req.param("cert_id"), client, certificate].find((one) => typeof one === "string");
};

/** Of routes behind a credential: the key or the person. */
const credential = async (c: RequestContext, body: Json): Promise<Caller | null> => {
  const { caller } = c.var;
  return caller === undefined ? null : { caller: caller.id, home: recordOf(c, body) ?? caller.businessId ?? caller.id };
};

/** Of routes that anyone may call: whoever is at the same network address. A cookie may come with the very first answer. */
const atAddress = async (c: RequestContext, body: Json): Promise<Caller> => ({
  caller: await callerAt(c.var.services, addressKey(c.var.ip)),
  home: recordOf(c, body) ?? `con_${firstHome}`,
});

/** Keeps the answer `status` with `data(value)` in the batch of the change, where the request has a key. */
export const keeping = <T>(c: RequestContext, status: number, data: (value: T) => object): Keeping<T> | undefined => {
  const { work } = c.var;
  return work && ((value, onlyIf) => work.rows({ status, data: data(value), cookie: null }, onlyIf));
};

/** Ends the work as its answer was. The answer stands whatever becomes of this: without it a repeat does the work again. */
const settle = async (c: RequestContext, work: Work): Promise<void> => {
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

const repeatable = (callerOf: (c: RequestContext, body: Json) => Promise<Caller | null>) =>
  createMiddleware<Api>(async (c, next) => {
    const key = c.req.header("idempotency-key");
    if (key === undefined) return next();
    if (!idempotencyPattern.test(key)) return failure(c, "invalid_request", `Idempotency-Key: ${idempotencyKeyRule}.`);
    const body = await c.req.json<Json>();
    const caller = await callerOf(c, body);
    if (caller === null) return next();
    const { services, requestId } = c.var;
    const route = `${c.req.method} ${c.req.path}`;
    const begun = await beginKeyed(services, { ...caller, route, key, body, requestId });
    if (!begun.ok) return refusal(c, begun);
    if (begun.value.kept !== null) {
      const { status, data, cookie } = begun.value.kept;
      c.header("Idempotency-Replayed", "true");
      if (cookie !== null) c.header("Set-Cookie", cookie, { append: true });
      return success(c, status as ContentfulStatusCode, data);
    }
    const { work } = begun.value;
    c.set("work", work);
    const done = next().then(() => settle(c, work));
    services.afterAnswer(() => done); // whoever hangs up and asks again finds it done, not broken off
    await done;
  });

export const idempotent = repeatable(credential);
export const idempotentByAddress = repeatable(atAddress);
