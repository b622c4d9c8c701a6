// The header Idempotency-Key (CONTRACT 0): the same caller, route, key and body within 24 hours are one request, answered
// once more. Routes have `idempotent` before their handler, behind their guards and limits and the body's reading, so that a repeat is
// let in and counted like any call; handlers whose change is one batch hand it `keeping`, so that the answer is kept in that batch.
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { addressKey } from "../../core/access/address.ts";
import type { Json } from "../../core/canonical-json.ts";
import { firstHome } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import { kindOfError } from "../log.ts";
import { beginKeyed, callerAt, type Keeping, type KeyedRequest, type Work } from "../operations/access/idempotency.ts";
import type { Api, RequestContext } from "./context.ts";
import { answer, failure, refusal, success } from "./envelope.ts";
import { guard, inTurn } from "./guard.ts";
import { idempotencyHeaders, idempotencyKeyRule, idempotencyPattern, repeatHeaders } from "./wire.ts";

/** The record that a request changes or that its change begins with, where it names one: the change is in its home, and so is the key. */
const recordOf = (c: RequestContext, body: Json): string | undefined => {
  const { client_id: client, cert_id: certificate } = body as { readonly client_id?: Json; readonly cert_id?: Json };
  return [c.req.param("share_id"), c.req.param("cert_id"), client, certificate].find((one) => typeof one === "string");
};

/**
 * Whose key it is, and in which home: the API key's or the person's; where a route let nobody in by name, whoever's who is at the same
 * network address, since a cookie may come with the very first answer.
 */
const ownerOf = async (c: RequestContext, body: Json): Promise<Pick<KeyedRequest, "caller" | "home">> => {
  const { caller, services, ip } = c.var;
  const record = recordOf(c, body);
  if (caller !== undefined) return { caller: caller.id, home: record ?? caller.businessId ?? caller.id };
  return { caller: await callerAt(services, addressKey(ip)), home: record ?? `con_${firstHome}` };
};

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

export const sentKey = (c: RequestContext): string | null => c.req.header("idempotency-key") ?? null;

/** Of routes whose operation itself keeps the key, with what it makes. */
export const takesKey = guard<Api>(
  { refuses: ["idempotency_conflict"], takes: idempotencyHeaders, sets: repeatHeaders },
  async (c, next) => {
    const key = sentKey(c);
    if (key !== null && !idempotencyPattern.test(key)) return failure(c, "invalid_request", `Idempotency-Key: ${idempotencyKeyRule}.`);
    return next();
  },
);

export const idempotent = inTurn<Api>(
  takesKey,
  createMiddleware<Api>(async (c, next) => {
    const key = sentKey(c);
    if (key === null) return next();
    const body = await c.req.json<Json>();
    if (body === null) return next(); // no schema takes it
    const { services, requestId } = c.var;
    const route = `${c.req.method} ${c.req.path}`;
    const begun = await beginKeyed(services, { ...(await ownerOf(c, body)), route, key, body, requestId });
    if (begun === null) return next();
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
  }),
);

/** What an operation that keeps the key itself came to. */
export const answerKept = <T, D extends object>(
  c: RequestContext,
  kept: Result<{ readonly replayed: boolean; readonly value: T }>,
  toWire: (value: T) => D,
) => {
  if (kept.ok && kept.value.replayed) c.header("Idempotency-Replayed", "true");
  return answer(c, 201, kept, ({ value }) => toWire(value));
};
