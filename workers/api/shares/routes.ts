// Routes for the share protocol (SPEC Share): check a request, record the decision and redeem the code; revoke, acknowledge and read a
// share.
import { createMiddleware } from "hono/factory";
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import { actorFromApiKey } from "../../../core/access/principal.ts";
import { personFromSession, type ConsumerSession, type Session } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { parseShareId } from "../../../core/ids.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { AppEnv, RequestContext } from "../../http/context.ts";
import { respond, failure, refusal, success } from "../../http/envelope.ts";
import { findSession } from "../../http/guards/find-session.ts";
import { defineGuard, combineGuards } from "../../http/guards/define-guard.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { publicGuard } from "../../http/guards/public.ts";
import {
  enforceLimitByAddress,
  enforceLimit,
  limitByAddress,
  limitByAccount,
  applySecondaryRateLimit,
} from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, idempotencyGuardOf, respondAndSave, getIdempotencyKey } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { authorizeQuerySchema, shareRequestSchema, toShareRequest, parseScope } from "../../http/share-request.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { callerFromSession } from "../../http/guards/session.ts";
import { successResponse, requestBody, idempotencyHeaders, optionalRequestBody, rateHeaders, replayHeaders } from "../../http/wire.ts";
import { acknowledgeShare, type CeasedShare } from "../../operations/shares/acknowledge-share.ts";
import { authorizeShareRequest } from "../../operations/shares/authorize-share-request.ts";
import { createShareRequestToken } from "../../operations/shares/create-share-request-token.ts";
import { decideShare, type ShareDecision } from "../../operations/shares/decide-share.ts";
import type { Grantor } from "../../operations/shares/grant-share.ts";
import type { GrantResult } from "../../operations/shares/earlier-decision.ts";
import { getBusinessShare } from "../../operations/shares/get-business-share.ts";
import { getCurrentValues } from "../../operations/shares/get-current-values.ts";
import { listShares } from "../../operations/shares/list-shares.ts";
import { redeemShareCode } from "../../operations/shares/redeem-share-code.ts";
import type { RevocationResult } from "../../operations/shares/commit-revocation.ts";
import { signShareRequest } from "../../operations/shares/sign-share-request.ts";
import { revokeShareByPerson, type ShareRevoker } from "../../operations/shares/revoke-share-by-person.ts";
import { selectLanguage } from "../../pages/shared/language.ts";
import * as wire from "./schema.ts";

const createRoute = createRouteFactory("sharing");

/** `session` is null if the person is not signed in and uses an emailed link. */
interface RevokerEnv {
  Variables: AppEnv["Variables"] & { session: Session | null };
}

/**
 * Redirects browser navigation to the consent sheet. Referrer-Policy makes the browser send the origin of the requesting page as the
 * Referer. Cross-Origin-Opener-Policy lets the sheet keep its reference to the window that opened it.
 */
const redirectToConsentSheet = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.header("sec-fetch-mode") !== "navigate") return next();
  const { services } = c.var;
  c.header("Referrer-Policy", "origin");
  c.header("Cross-Origin-Opener-Policy", "unsafe-none");
  return c.redirect(`${services.config.appUrl}/authorize${new URL(c.req.url).search}`, 303);
});

const authorizeShareRoute = createRoute({
  method: "get",
  path: "/v1/authorize",
  operationId: "authorizeShare",
  summary: "Check a share request",
  description:
    "Validates a share request and returns what the consent sheet shows. Nothing is stored. If a browser navigates to this URL, it is redirected to the consent sheet.",
  middleware: publicGuard(redirectToConsentSheet, limitByAddress("AUTHORIZE_PER_IP")),
  request: { query: authorizeQuerySchema },
  responses: {
    303: { description: "Redirects a browser to the consent sheet." },
    200: successResponse(
      "The share request is valid.",
      "AuthorizeResponse",
      () => wire.getShareSchemas().authorizedRequestSchema,
      wire.authorizedRequestExample,
    ),
  },
  refuses: ["client_not_found", "business_suspended", "business_inactive"],
  when: { origin_mismatch: "The origin is not on a verified domain of the business." },
});

const signShareRequestRoute = createRoute({
  method: "post",
  path: "/v1/share/requests",
  operationId: "signShareRequest",
  summary: "Sign a share request",
  description:
    "Returns a signed URL of the consent sheet, valid for one hour. Use it for links that people open outside your website, for example from an email. The consent sheet accepts a decision only if there is evidence that the request is yours, and the signature is such evidence. Nothing is stored.",
  middleware: apiKeyGuard(jsonBody),
  request: { body: requestBody(shareRequestSchema, wire.shareRequestExample) },
  responses: {
    200: successResponse(
      "The signed request.",
      "SignedRequestResponse",
      () => wire.getShareSchemas().signedRequestSchema,
      wire.signedRequestExample,
    ),
  },
  refuses: ["subscription_past_due"],
  when: {
    client_not_found: "The client does not exist, is not yours, or is not in the key's environment.",
    origin_mismatch: "The origin is not on a verified domain of the business.",
  },
});

const limitGrants = limitByAccount("GRANTS", "More than 30 consent requests or 120 requests per minute by one person.");

const grantRefusals = {
  refuses: ["business_suspended", "business_inactive", "subscription_past_due"],
  when: {
    client_not_found: "The client does not exist.",
    origin_mismatch: "The origin is not on a verified domain of the business.",
    code_used: "The person already gave consent to this request, and the code was redeemed.",
    share_inactive: "The person already gave consent to this request, and the share is no longer active.",
  },
} as const;

const grantShareRoute = createRoute({
  method: "post",
  path: "/v1/share/consent",
  operationId: "grantShare",
  summary: "Share fields with a business",
  description:
    "Records the consent of the signed-in person. Creates the share and a single-use code that expires after 60 seconds. With `authorize_token`, a request can be decided only once: repeating it returns the same share and, until the code expires, the same code. The business gets a `share.created` event. The person gets an email with a link to revoke the share.",
  middleware: consumerGuard(limitGrants, jsonBody, idempotencyGuardOf("client_id")),
  request: { body: requestBody(wire.shareConsentSchema, wire.shareConsentExample) },
  responses: {
    201: successResponse(
      "The share and its single-use code.",
      "ShareConsentResponse",
      () => wire.getShareSchemas().shareGrantSchema,
      wire.shareGrantExample,
    ),
  },
  ...grantRefusals,
  when: {
    ...grantRefusals.when,
    share_limit: "The person has 100 active shares with this business, or 1,000 with all businesses in the same database.",
    forbidden:
      "The session does not belong to a consumer, or the client is a test client. For test clients, use `POST /v1/share/sandbox-consent`.",
  },
});

const grantSandboxShareRoute = createRoute({
  method: "post",
  path: "/v1/share/sandbox-consent",
  operationId: "grantSandboxShare",
  summary: "Share a test person's fields",
  description:
    "Same as `POST /v1/share/consent`, but for test clients and without a session. A test person with fictional details gives consent.",
  middleware: publicGuard(limitByAddress("SANDBOX_CONSENT_PER_IP"), jsonBody, idempotencyGuardOf("client_id")),
  request: { body: requestBody(wire.sandboxShareConsentSchema, wire.sandboxShareConsentExample) },
  responses: {
    201: successResponse(
      "The share and its single-use code.",
      "SandboxConsentResponse",
      () => wire.getShareSchemas().shareGrantSchema,
      wire.sandboxShareGrantExample,
    ),
  },
  refuses: [...grantRefusals.refuses, "sandbox_only"],
  when: {
    ...grantRefusals.when,
    rate_limited:
      "More than 60 requests per minute from one IP address, or 600 per minute for one client. Also returned when the sandbox has 10,000 active shares (to revoke them, call `POST /v1/sandbox/reset`), or has reached 10,000 test records or 100 MB in 30 days.",
  },
});

const redeemShareRoute = createRoute({
  method: "post",
  path: "/v1/share/redeem",
  operationId: "redeemShare",
  summary: "Redeem a code",
  description:
    "Returns the shared fields. A code works once, within 60 seconds, with the PKCE verifier for the request and from the origin that made the request. A server can omit `Origin`, unless the client has `require_origin`. Refused attempts do not use up the code. Only a caller with the correct client, origin and verifier learns whether the code was used or has expired. With an `Idempotency-Key`, you can repeat the same request until the code expires. Responses are not stored: each one contains the values at that time.",
  middleware: publicGuard(limitByAddress("REDEEM_PER_IP"), jsonBody),
  request: { headers: idempotencyHeaders, body: requestBody(wire.redeemRequestSchema, wire.redeemRequestExample) },
  responses: {
    200: {
      ...successResponse("The shared fields.", "RedeemResponse", wire.redeemedShareSchema, wire.redeemedShareExample),
      headers: replayHeaders,
    },
  },
  refuses: ["code_invalid", "pkce_mismatch", "business_suspended", "business_inactive", "code_used", "share_inactive", "code_expired"],
  when: {
    origin_mismatch:
      "The Origin does not match the share request. If no Origin was sent: the domain is no longer verified, or the client requires an Origin.",
    rate_limited:
      "More than 60 requests per minute from one IP address, or more than 20 failed attempts per minute from one IP address for one code.",
  },
});

/** Accepts a session or an emailed link. Limits the requests of a session by person, and those of a link by IP address. */
const allowSessionOrLink = defineGuard<RevokerEnv>(
  {
    refuses: ["storage_unavailable"],
    when: {
      rate_limited:
        "More than 120 requests per minute by a signed-in person, or more than 60 per minute from one IP address that use links from emails.",
    },
    responseHeaders: rateHeaders,
    security: [{}, { session: [] }],
  },
  async (c, next) => {
    const session = await findSession(c);
    if (session instanceof Response) return session;
    c.set("session", session);
    if (session !== null) c.set("caller", callerFromSession(session));
    const refused = session === null ? enforceLimitByAddress(c, "REVOKE_LINK_PER_IP") : enforceLimit(c, "SESSION", session.userId);
    return (await refused) ?? next();
  },
);

const revokeShareRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/revoke",
  operationId: "revokeShare",
  summary: "Revoke a share",
  description:
    "Revokes a share. Called by the person, either signed in or with the `revoke_token` from the link in an email. The business is notified immediately and must stop contacting the person by the end of the tenth business day (UTC). Repeating the request has no further effect. Works regardless of the business's billing status.",
  middleware: combineGuards<RevokerEnv>(sameOriginGuard, allowSessionOrLink, optionalJsonBody, idempotencyGuard),
  request: {
    params: wire.lenientShareIdParamSchema,
    body: optionalRequestBody(wire.revokeShareRequestSchema, { reason: "Found another provider" }),
  },
  responses: {
    200: successResponse(
      "The revoked share, and the deadline by which contact must stop.",
      "RevokeResponse",
      wire.revokedShareSchema,
      wire.revokedShareExample,
    ),
  },
  when: {
    ...wire.shareNotFoundRefusal,
    unauthorized: "The request has neither a session nor a `revoke_token`, or the token is not valid for this share.",
    forbidden: "The session does not belong to a consumer.",
    share_inactive: "The share expired or was renewed.",
  },
});

const acknowledgeShareRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/cease-ack",
  operationId: "acknowledgeShare",
  summary: "Acknowledge a revocation",
  description:
    "Confirms that you stopped contacting the person who revoked the share. The person gets an email with your note. Repeating the request returns the first acknowledgment.",
  middleware: apiKeyGuard(optionalJsonBody, idempotencyGuard),
  request: {
    params: wire.shareIdParamSchema,
    body: optionalRequestBody(wire.shareAcknowledgmentRequestSchema, {
      acknowledged_by: "Privacy team",
      actions: ["removed from the call list"],
    }),
  },
  responses: {
    200: successResponse(
      "The share and your acknowledgment.",
      "ShareCeaseResponse",
      () => wire.getShareSchemas().acknowledgedShareSchema,
      wire.acknowledgedShareExample,
    ),
  },
  refuses: ["subscription_past_due"],
  when: { ...wire.shareNotFoundRefusal, cease_not_open: "The share has not been revoked, so there is nothing to acknowledge." },
});

const listSharesRoute = createRoute({
  method: "get",
  path: "/v1/shares",
  operationId: "listShares",
  summary: "List shares with your business",
  description:
    "Returns the shares that people gave you, newest first, at most 200 per page. If `has_more` is `true`, pass the ID of the last share as `starting_after`. A test key lists sandbox shares.",
  middleware: apiKeyGuard(),
  request: { query: wire.shareListQuerySchema },
  responses: {
    200: successResponse("A page of shares.", "ShareListResponse", wire.shareListSchema, {
      shares: [wire.shareExample],
      count: 1,
      has_more: false,
    }),
  },
});

const getShareRoute = createRoute({
  method: "get",
  path: "/v1/shares/{share_id}",
  operationId: "readShare",
  summary: "Read a share",
  description: "Returns a share, including its history, its ledger anchor, and the disclosure that the person saw.",
  middleware: apiKeyGuard(),
  request: { params: wire.shareIdParamSchema },
  responses: {
    200: successResponse("The share.", "ShareDetailResponse", () => wire.getShareSchemas().shareDetailSchema, wire.shareDetailExample),
  },
  when: wire.shareNotFoundRefusal,
});

const getCurrentValuesRoute = createRoute({
  method: "get",
  path: "/v1/consumers/{share_id}/current",
  operationId: "readCurrentValues",
  summary: "Read the current values of a share",
  description:
    "Returns the current values of the fields in an active share's scope. Each read is recorded in your audit trail. The person's audit trail records only the first read of each day (UTC).",
  middleware: apiKeyGuard(),
  request: { params: wire.shareIdParamSchema },
  responses: {
    200: successResponse(
      "The current values.",
      "CurrentValuesResponse",
      () => wire.getShareSchemas().currentValuesSchema,
      wire.currentValuesExample,
    ),
  },
  refuses: ["share_inactive"],
  when: wire.shareNotFoundRefusal,
});

export const shareRoutes = createApi();

shareRoutes.openapi(authorizeShareRoute, async (c) => {
  const query = c.req.valid("query");
  const scope = parseScope(query.scope);
  if (!scope.ok) return refusal(c, scope);
  const { services } = c.var;
  const authorized = await authorizeShareRequest(services, toShareRequest(query, scope.value));
  if (!authorized.ok) return refusal(c, authorized);
  const language = selectLanguage(query.locale, c.req.header("accept-language"));
  return success(
    c,
    200,
    wire.authorizedRequestToWire(authorized.value, await createShareRequestToken(services, authorized.value), language),
  );
});

shareRoutes.openapi(signShareRequestRoute, async (c) => {
  const body = c.req.valid("json");
  const { services, principal } = c.var;
  const scope = parseScope(body.scope);
  if (!scope.ok) return refusal(c, scope);
  const signed = await signShareRequest(services, principal, toShareRequest(body, scope.value), body.return_url ?? undefined);
  return respond(c, 200, signed, (signedRequest) => wire.signedRequestToWire(services, body, signedRequest));
});

const handleDecision = (c: RequestContext, grantor: Grantor, decision: ShareDecision) => {
  const toWire = (granted: GrantResult) => wire.shareGrantToWire(granted, decision.state, c.var.services.clock());
  return respondAndSave(c, 201, toWire, (save) => decideShare(c.var.services, grantor, decision, save));
};

shareRoutes.openapi(grantShareRoute, async (c) => {
  const decision = wire.decisionFromWire(c.req.valid("json"), c.var);
  return decision.ok ? handleDecision(c, { person: c.var.person }, decision.value) : refusal(c, decision);
});

shareRoutes.openapi(grantSandboxShareRoute, async (c) => {
  const body = c.req.valid("json");
  const decision = wire.decisionFromWire(body, c.var);
  if (!decision.ok) return refusal(c, decision);
  const { clientId } = decision.value;
  const clientState = clientId === null ? null : await c.var.services.takeApproximately("SANDBOX_GRANTS_PER_CLIENT", clientId);
  const limited = clientState && applySecondaryRateLimit(c, "SANDBOX_GRANTS_PER_CLIENT", clientState);
  return limited ?? handleDecision(c, { persona: body.persona ?? "default" }, decision.value);
});

/** The errors that count as wrong guesses. An expired or used code does not count. */
const failedAttemptCodes: ReadonlySet<string> = new Set(["code_invalid", "origin_mismatch", "pkce_mismatch"]);

shareRoutes.openapi(redeemShareRoute, async (c) => {
  const { code, code_verifier: verifier, client_id: clientId } = c.req.valid("json");
  const { services, requestId, ip } = c.var;
  const redeemed = await redeemShareCode(services, {
    code,
    verifier,
    clientId,
    origin: c.req.header("origin") ?? null,
    idempotencyKey: getIdempotencyKey(c),
    requestId,
  });
  if (redeemed.ok && redeemed.value.isReplayed) c.header("Idempotency-Replayed", "true");
  if (!redeemed.ok && failedAttemptCodes.has(redeemed.code)) {
    const state = await services.takeApproximately("REDEEM_FAILURES_PER_CODE", `${getIpRateLimitKey(ip)} ${sha256Hex(code)}`);
    const refused = applySecondaryRateLimit(c, "REDEEM_FAILURES_PER_CODE", state);
    if (refused !== null) return refused;
  }
  return respond(c, 200, redeemed, wire.redeemedShareToWire);
});

shareRoutes.openapi(revokeShareRoute, async (c) => {
  const { services, requestId, session } = c.var;
  const { reason, revoke_token: token } = c.req.valid("json");
  if (token == null && session === null) return failure(c, "unauthorized");
  if (token == null && session?.realm === "business") return failure(c, "forbidden");
  const revoker: ShareRevoker = token == null ? { person: personFromSession(session as ConsumerSession) } : { token };
  const { share_id: id } = c.req.valid("param");
  const toWire = (revoked: RevocationResult) => wire.revokedShareToWire(revoked, services.clock());
  const request = { reason: reason ?? null, requestId };
  return respondAndSave(c, 200, toWire, (save) => revokeShareByPerson(services, id, revoker, request, save));
});

shareRoutes.openapi(acknowledgeShareRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const { note, acknowledged_by: acknowledgedBy, actions } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [], requestId };
  const actor = actorFromApiKey(principal);
  const { share_id: id } = c.req.valid("param");
  const toWire = (ceased: CeasedShare) => wire.acknowledgedShareToWire(ceased, services.clock());
  return respondAndSave(c, 200, toWire, (save) => acknowledgeShare(services, principal, actor, id, details, save));
});

shareRoutes.openapi(listSharesRoute, async (c) => {
  const { services, principal } = c.var;
  const { status, limit, starting_after: startingAfterText } = c.req.valid("query");
  const startingAfter = startingAfterText === undefined ? null : parseShareId(startingAfterText);
  if (startingAfterText !== undefined && startingAfter === null)
    return failure(c, "invalid_request", "starting_after: must be the ID of one of your shares.");
  const listed = await listShares(services, principal, { status: status ?? null, limit, startingAfter });
  return respond(c, 200, listed, (page) => wire.shareListToWire(page, services.clock()));
});

shareRoutes.openapi(getShareRoute, async (c) => {
  const { services, principal } = c.var;
  const share = await getBusinessShare(services, principal, c.req.valid("param").share_id);
  return respond(c, 200, share, (detail) => wire.shareDetailToWire(detail, services.clock()));
});

shareRoutes.openapi(getCurrentValuesRoute, async (c) => {
  return respond(c, 200, await getCurrentValues(c.var.services, c.var.principal, c.req.valid("param").share_id), wire.currentValuesToWire);
});
