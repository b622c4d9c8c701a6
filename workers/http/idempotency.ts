// The Idempotency-Key header. For 24 hours, a repeated request (same caller, route, key and body) gets the saved response.
// `idempotencyGuard` runs after authentication, rate limits and body parsing, which therefore apply to repeated requests too. If a handler
// commits a single batch, it responds with `respondAndSave`, so that the batch also saves the response.
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { getIpRateLimitKey } from "../../core/access/ip-address.ts";
import type { Json } from "../../core/canonical-json.ts";
import { firstShard, type ConsumerId } from "../../core/ids.ts";
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

/** The member of the body whose ID determines the shard in which the operation runs. */
type RecordMember = "client_id" | "cert_id";

/**
 * Returns the ID of the record that the request changes, if there is one. The idempotency key is stored in that record's shard. Reads only
 * `member` from the body, because the operation ignores unknown members.
 */
const findRecordId = (c: RequestContext, body: Json, member: RecordMember | null): string | undefined => {
  const memberId = member === null ? undefined : (body as Readonly<Partial<Record<RecordMember, Json>>>)[member];
  return [c.req.param("share_id"), c.req.param("cert_id"), memberId].find((id) => typeof id === "string");
};

/**
 * Returns the caller to whom the idempotency key belongs, and an ID whose shard stores the key. A caller without a credential is identified
 * by IP address and not by a cookie, because the browser may not have a cookie yet when it sends the first request.
 */
const resolveKeyOwner = async (
  c: RequestContext,
  body: Json,
  member: RecordMember | null,
): Promise<Pick<IdempotentRequest, "caller" | "consumerId" | "ownerId">> => {
  const { caller, services, ip } = c.var;
  const recordId = findRecordId(c, body, member);
  if (caller === undefined) {
    const addressHash = await hashCallerAddress(services, getIpRateLimitKey(ip));
    return { caller: addressHash, consumerId: null, ownerId: recordId ?? `con_${firstShard}` };
  }
  const { id, businessId } = caller;
  // Deleting a person's account does not erase responses that are stored in the shards of certificates. These responses contain no personal
  // data.
  const isErasedWithAccount = id.startsWith("con_") && recordId?.startsWith("cc_") !== true;
  return { caller: id, consumerId: isErasedWithAccount ? (id as ConsumerId) : null, ownerId: recordId ?? businessId ?? id };
};

/**
 * Runs an operation and responds with its result. The operation gets a function that builds the statements for saving the response. If the
 * request has no idempotency key, there are none.
 */
export const respondAndSave = async <T, D extends object, S extends ContentfulStatusCode>(
  c: RequestContext,
  status: S,
  toWire: (value: T) => D,
  operation: (save: SaveIdempotentResponse<T>) => Promise<Result<T>>,
) => {
  const save: SaveIdempotentResponse<T> = async (value, onlyIf) =>
    c.var.claimedRequest?.toStatements({ status, data: toWire(value), cookie: null }, onlyIf) ?? [];
  return respond(c, status, await operation(save), toWire);
};

/**
 * Saves the response, releases the key after a refusal, or suspends the claim after a server error. Errors are logged and not thrown. If
 * the response was not saved, a repeated request runs the operation again.
 */
const finishRequest = async (c: RequestContext, request: ClaimedRequest): Promise<void> => {
  try {
    const { status } = c.res;
    if (status >= 500) return await request.suspend();
    if (status >= 300) return await request.release();
    const { data } = (await c.res.clone().json()) as { data: object };
    await request.saveResponse({ status, data, cookie: c.res.headers.get("set-cookie") });
  } catch (error) {
    c.var.services.log.error({ request_id: c.var.requestId, at: "idempotency", error: getErrorKind(error) });
  }
};

// The first request usually ends within seconds. If its process died, a repeated request takes over its claim after at most a minute.
const inProgressRetrySeconds = "5";
const inProgressMessage =
  "Idempotency-Key: the first request with this key is still in progress. Repeat the same request after `Retry-After` seconds.";

export const getIdempotencyKey = (c: RequestContext): string | null => c.req.header("idempotency-key") ?? null;

/** Checks only the format of the header. For routes whose operation stores the key with a new record. */
export const idempotencyKeyGuard = defineGuard<AppEnv>(
  { refuses: ["idempotency_conflict"], requestHeaders: idempotencyHeaders, responseHeaders: replayHeaders },
  async (c, next) => {
    const key = getIdempotencyKey(c);
    if (key !== null && !idempotencyPattern.test(key)) return failure(c, "invalid_request", `Idempotency-Key: ${idempotencyKeyRule}.`);
    return next();
  },
);

/**
 * Creates a guard that runs a request with an Idempotency-Key once, and responds to repeated requests with the saved response. Responds
 * with 409 if the body differs, and with 409 and `Retry-After` while the first request is in progress. `member` is set for a route that
 * changes a record whose ID is in the body.
 */
export const idempotencyGuardOf = (member: RecordMember | null) =>
  combineGuards<AppEnv>(
    idempotencyKeyGuard,
    createMiddleware<AppEnv>(async (c, next) => {
      const key = getIdempotencyKey(c);
      if (key === null) return next();
      const body = await c.req.json<Json>();
      if (body === null) return next(); // the route's schema refuses a body of `null`
      const { services, requestId } = c.var;
      const route = `${c.req.method} ${c.req.path}`;
      const claim = await claimIdempotentRequest(services, { ...(await resolveKeyOwner(c, body, member)), route, key, body, requestId });
      if (!claim.ok) return refusal(c, claim);
      if (claim.value.kind === "saved") {
        const { status, data, cookie } = claim.value.response;
        c.header("Idempotency-Replayed", "true");
        if (cookie !== null) c.header("Set-Cookie", cookie, { append: true });
        return success(c, status as ContentfulStatusCode, data);
      }
      if (claim.value.kind === "inProgress") {
        c.header("Retry-After", inProgressRetrySeconds);
        return failure(c, "idempotency_conflict", inProgressMessage);
      }
      const { request: claimedRequest } = claim.value;
      c.set("claimedRequest", claimedRequest);
      const done = next().then(() => finishRequest(c, claimedRequest));
      services.waitUntil(() => done); // keeps running if the caller disconnects, so that a retry finds the saved response
      await done;
    }),
  );

export const idempotencyGuard = idempotencyGuardOf(null);

/** Responds with the result of an operation that stores the idempotency key itself. */
export const respondIdempotent = <T, D extends object>(
  c: RequestContext,
  result: Result<{ readonly isReplayed: boolean; readonly value: T }>,
  toWire: (value: T) => D,
) => {
  if (result.ok && result.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, result, ({ value }) => toWire(value));
};
