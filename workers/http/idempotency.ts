// The header Idempotency-Key (CONTRACT 0): the same caller, route, key and body within 24 hours are one request, answered
// once more. Routes have `idempotent` before their handler, behind their guards and limits and the body's reading, so that a repeat is
// let in and counted like any call; handlers whose change is one batch hand it `keeping`, so that the answer is kept in that batch.
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { getIpRateLimitKey } from "../../core/access/ip-address.ts";
import type { Json } from "../../core/canonical-json.ts";
import { firstShard } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import { getErrorKind } from "../log.ts";
import {
  claimIdempotentRequest,
  hashCallerAddress,
  type SaveIdempotentResponse,
  type IdempotentRequest,
  type ClaimedRequest,
} from "../operations/access/idempotency.ts";
import type { AppEnv, RequestContext } from "./context.ts";
import { respond, failure, refusal, success } from "./envelope.ts";
import { defineGuard, combineGuards } from "./guards/define-guard.ts";
import { idempotencyHeaders, idempotencyKeyRule, idempotencyPattern, replayHeaders } from "./wire.ts";

/** The record that a request changes or that its change begins with, where it names one: the change is in its home, and so is the key. */
const findRecordId = (c: RequestContext, body: Json): string | undefined => {
  const { client_id: client, cert_id: certificate } = body as { readonly client_id?: Json; readonly cert_id?: Json };
  return [c.req.param("share_id"), c.req.param("cert_id"), client, certificate].find((one) => typeof one === "string");
};

/**
 * Whose key it is, and in which home: the API key's or the person's; where a route let nobody in by name, whoever's who is at the same
 * network address, since a cookie may come with the very first answer.
 */
const resolveKeyOwner = async (c: RequestContext, body: Json): Promise<Pick<IdempotentRequest, "caller" | "ownerId">> => {
  const { caller, services, ip } = c.var;
  const record = findRecordId(c, body);
  if (caller !== undefined) return { caller: caller.id, ownerId: record ?? caller.businessId ?? caller.id };
  return { caller: await hashCallerAddress(services, getIpRateLimitKey(ip)), ownerId: record ?? `con_${firstShard}` };
};

/** Keeps the answer `status` with `data(value)` in the batch of the change, where the request has a key. */
export const saveIdempotentResponse = <T>(
  c: RequestContext,
  status: number,
  data: (value: T) => object,
): SaveIdempotentResponse<T> | undefined => {
  const { work } = c.var;
  return work && ((value, onlyIf) => work.toStatements({ status, data: data(value), cookie: null }, onlyIf));
};

/** Ends the work as its answer was. The answer stands whatever becomes of this: without it a repeat does the work again. */
const finishWork = async (c: RequestContext, work: ClaimedRequest): Promise<void> => {
  try {
    const { status } = c.res;
    if (status >= 500) return await work.suspend();
    if (status >= 300) return await work.release();
    const { data } = (await c.res.clone().json()) as { data: object };
    await work.saveResponse({ status, data, cookie: c.res.headers.get("set-cookie") });
  } catch (error) {
    c.var.services.log.error({ request_id: c.var.requestId, at: "idempotency", error: getErrorKind(error) });
  }
};

export const getIdempotencyKey = (c: RequestContext): string | null => c.req.header("idempotency-key") ?? null;

/** Of routes whose operation itself keeps the key, with what it makes. */
export const idempotencyKeyGuard = defineGuard<AppEnv>(
  { refuses: ["idempotency_conflict"], requestHeaders: idempotencyHeaders, responseHeaders: replayHeaders },
  async (c, next) => {
    const key = getIdempotencyKey(c);
    if (key !== null && !idempotencyPattern.test(key)) return failure(c, "invalid_request", `Idempotency-Key: ${idempotencyKeyRule}.`);
    return next();
  },
);

export const idempotencyGuard = combineGuards<AppEnv>(
  idempotencyKeyGuard,
  createMiddleware<AppEnv>(async (c, next) => {
    const key = getIdempotencyKey(c);
    if (key === null) return next();
    const body = await c.req.json<Json>();
    if (body === null) return next(); // no schema takes it
    const { services, requestId } = c.var;
    const route = `${c.req.method} ${c.req.path}`;
    const begun = await claimIdempotentRequest(services, { ...(await resolveKeyOwner(c, body)), route, key, body, requestId });
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
    const done = next().then(() => finishWork(c, work));
    services.waitUntil(() => done); // whoever hangs up and asks again finds it done, not broken off
    await done;
  }),
);

/** What an operation that keeps the key itself came to. */
export const respondIdempotent = <T, D extends object>(
  c: RequestContext,
  kept: Result<{ readonly replayed: boolean; readonly value: T }>,
  toWire: (value: T) => D,
) => {
  if (kept.ok && kept.value.replayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, kept, ({ value }) => toWire(value));
};
