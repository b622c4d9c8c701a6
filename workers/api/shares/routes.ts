// The routes of the share protocol: a request is looked at, granted and redeemed; a share is stopped, acknowledged and read.
import { createMiddleware } from "hono/factory";
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import { personFromSession, type ConsumerSession, type Session } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { parseShareId } from "../../../core/ids.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { AppEnv, RequestContext } from "../../http/context.ts";
import { respond, failure, refusal, success } from "../../http/envelope.ts";
import { defineGuard, combineGuards } from "../../http/guards/define-guard.ts";
import { apiKeyGuard } from "../../http/guards/api-key.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { countByAddress, countExactly, limitByAddress, limitByAccount, applySecondaryRateLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, saveIdempotentResponse, getIdempotencyKey } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { authorizeQuerySchema, toShareRequest, parseScope } from "../../http/share-request.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { getSessionToken } from "../../http/guards/session-cookie.ts";
import { callerFromSession } from "../../http/guards/session.ts";
import { successResponse, requestBody, idempotencyHeaders, optionalRequestBody, rateHeaders, replayHeaders } from "../../http/wire.ts";
import { authenticateSession } from "../../operations/access/authenticate-session.ts";
import { acknowledgeShare, type CeasedShare } from "../../operations/shares/acknowledge-share.ts";
import { authorizeShareRequest } from "../../operations/shares/authorize-share-request.ts";
import { createShareRequestToken } from "../../operations/shares/create-share-request-token.ts";
import { decideShare, type ShareDecision } from "../../operations/shares/decide-share.ts";
import type { GrantResult, Grantor } from "../../operations/shares/grant-share.ts";
import { getBusinessShare } from "../../operations/shares/get-business-share.ts";
import { getCurrentValues } from "../../operations/shares/get-current-values.ts";
import { listShares } from "../../operations/shares/list-shares.ts";
import { redeemShareCode } from "../../operations/shares/redeem-share-code.ts";
import type { RevocationResult } from "../../operations/shares/commit-revocation.ts";
import { revokeShareByPerson, type ShareRevoker } from "../../operations/shares/revoke-share-by-person.ts";
import { selectLanguage } from "../../pages/shared/language.ts";
import * as wire from "./schema.ts";

const createRoute = createRouteFactory("sharing");

const shareNotFoundRefusal = { not_found: "There is no such share, or it is not yours." } as const;

/** Somebody who is signed in, or holds a link. */
interface RevokerEnv {
  Variables: AppEnv["Variables"] & { session: Session | null };
}

/** A browser that navigates is a person, who needs the sheet and not JSON. It keeps naming the page it came from. */
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
  summary: "Check a request to share",
  description:
    "What a business asks of a person, checked and in words for a consent screen. Reads only: nothing is kept of a request. A browser that navigates here is sent on to the consent sheet.",
  middleware: publicGuard(redirectToConsentSheet, limitByAddress("AUTHORIZE_PER_IP")),
  request: { query: authorizeQuerySchema },
  responses: {
    303: { description: "A browser that navigates is sent on to the consent sheet." },
    200: successResponse("The request.", "AuthorizeAnswer", wire.authorizedRequestSchema, wire.authorizedRequestExample),
  },
  refuses: ["client_not_found", "business_suspended", "business_inactive"],
  when: { origin_mismatch: "The origin is on none of the business's verified domains." },
});

const limitGrants = limitByAccount("GRANTS", "More than 30 grants a minute by one person, or 120 calls.");

/** What is refused whoever decides. */
const grantRefusals = {
  refuses: ["business_suspended", "business_inactive", "subscription_past_due"],
  when: {
    client_not_found: "There is no such client.",
    origin_mismatch: "The origin is on none of the business's verified domains.",
    code_used: "This request was decided before, and its code has been redeemed.",
  },
} as const;

const grantShareRoute = createRoute({
  method: "post",
  path: "/v1/share/consent",
  operationId: "grantShare",
  summary: "Share fields with a business",
  description:
    "The person who is signed in agrees. Makes the share and a code that redeems it once, within 60 seconds. With `authorize_token` a request is decided once: sent again, it answers the same share, and its code while that is of use. The business gets the event `share.created`, the person a mail with a link that takes the share back.",
  middleware: consumerGuard(limitGrants, jsonBody, idempotencyGuard),
  request: { body: requestBody(wire.shareConsentSchema, wire.shareConsentExample) },
  responses: {
    201: successResponse("The share, and the code that redeems it.", "ShareConsentAnswer", wire.shareGrantSchema, wire.shareGrantExample),
  },
  ...grantRefusals,
  when: {
    ...grantRefusals.when,
    share_inactive: "This request was decided before, and the share is over.",
    forbidden: "Not a person's session, or a test client: those have POST /v1/share/sandbox-consent.",
  },
});

const grantSandboxShareRoute = createRoute({
  method: "post",
  path: "/v1/share/sandbox-consent",
  operationId: "grantSandboxShare",
  summary: "Share a test person's fields",
  description:
    "As `POST /v1/share/consent`, for a test client, without a session: a test person agrees. For trying out; nobody's real details.",
  middleware: publicGuard(limitByAddress("SANDBOX_CONSENT_PER_IP"), jsonBody, idempotencyGuard),
  request: { body: requestBody(wire.sandboxShareConsentSchema, { ...wire.shareConsentExample, persona: "default" }) },
  responses: {
    201: successResponse("The share, and the code that redeems it.", "SandboxConsentAnswer", wire.shareGrantSchema, wire.shareGrantExample),
  },
  refuses: [...grantRefusals.refuses, "sandbox_only"],
  when: {
    ...grantRefusals.when,
    rate_limited:
      "More than 60 a minute from one address of the network, or 600 for one client; or the business has 10,000 active test shares, which `POST /v1/sandbox/reset` ends.",
  },
});

const redeemShareRoute = createRoute({
  method: "post",
  path: "/v1/share/redeem",
  operationId: "redeemShare",
  summary: "Redeem a code for the fields",
  description:
    "Exactly once, within 60 seconds, with the verifier of the request, from the origin that asked; a server sends no Origin. Refused tries use nothing up. Who is asking is judged before the state of the code is told. With an `Idempotency-Key`, a lost answer can be asked for again under the same key, verifier, client and origin while the code would still live. No answer is kept.",
  middleware: publicGuard(limitByAddress("REDEEM_PER_IP"), jsonBody),
  request: { headers: idempotencyHeaders, body: requestBody(wire.redeemRequestSchema, wire.redeemRequestExample) },
  responses: {
    200: {
      ...successResponse("The fields.", "RedeemAnswer", wire.redeemedShareSchema, wire.redeemedShareExample),
      headers: replayHeaders,
    },
  },
  refuses: ["code_invalid", "pkce_mismatch", "business_suspended", "business_inactive", "code_used", "share_inactive", "code_expired"],
  when: {
    origin_mismatch:
      "The Origin is not the one that asked; or there is none, and its domain is not verified any more, or the client demands one.",
    rate_limited: "More than 60 a minute from one address of the network, or more than 20 failed tries of one code.",
  },
});

/** Whoever is signed in is counted as on every route of theirs; whoever comes with the link, by their address. */
const allowSessionOrLink = defineGuard<RevokerEnv>(
  {
    refuses: ["storage_unavailable"],
    when: { rate_limited: "More than 120 calls a minute by one person, or 60 with links from one address of the network." },
    responseHeaders: rateHeaders,
    security: [{}, { session: [] }],
  },
  async (c, next) => {
    const session = await authenticateSession(c.var.services, getSessionToken(c));
    c.set("session", session);
    if (session !== null) c.set("caller", callerFromSession(session));
    const refused = session === null ? countByAddress(c, "REVOKE_LINK_PER_IP") : countExactly(c, "SESSION", session.userId);
    return (await refused) ?? next();
  },
);

const revokeShareRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/revoke",
  operationId: "revokeShare",
  summary: "Stop a share",
  description:
    "By the person: signed in, or with `revoke_token` from the link in the mail. The business is told at once and must have ended contact ten business days later. Again it answers the same. Possible whatever the business has paid.",
  middleware: combineGuards<RevokerEnv>(sameOriginGuard, allowSessionOrLink, optionalJsonBody, idempotencyGuard),
  request: {
    params: wire.lenientShareIdParamSchema,
    body: optionalRequestBody(wire.revokeShareRequestSchema, { reason: "Found another provider" }),
  },
  responses: {
    200: successResponse("The share as it is now, and the deadline.", "RevokeAnswer", wire.revokedShareSchema, wire.revokedShareExample),
  },
  when: {
    ...shareNotFoundRefusal,
    unauthorized: "Neither a session nor the link's token, or a token that is not this share's.",
    forbidden: "The session is not a person's.",
    share_inactive: "It ended by itself, or was renewed.",
  },
});

const acknowledgeShareRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/cease-ack",
  operationId: "acknowledgeShare",
  summary: "Acknowledge that contact has ended",
  description:
    "Once a share that the person has stopped; again it answers with the first. The person is written that you confirmed, with your note.",
  middleware: apiKeyGuard(optionalJsonBody, idempotencyGuard),
  request: {
    params: wire.shareIdParamSchema,
    body: optionalRequestBody(wire.shareAcknowledgmentRequestSchema, {
      acknowledged_by: "Privacy team",
      actions: ["removed from the call list"],
    }),
  },
  responses: {
    200: successResponse("The share as it is now.", "ShareCeaseAnswer", wire.acknowledgedShareSchema, wire.acknowledgedShareExample),
  },
  refuses: ["subscription_past_due"],
  when: { ...shareNotFoundRefusal, cease_not_open: "Nobody has stopped it." },
});

const listSharesRoute = createRoute({
  method: "get",
  path: "/v1/shares",
  operationId: "listShares",
  summary: "List your shares",
  description:
    "Newest first, at most 200 a page; `has_more` says whether there are older ones, from behind `starting_after`. A test key lists those of the sandbox.",
  middleware: apiKeyGuard(),
  request: { query: wire.shareListQuerySchema },
  responses: {
    200: successResponse("A page of shares.", "ShareListAnswer", wire.shareListSchema, {
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
  description: "With what was shown to the person, its statement in the ledger, and what happened to it.",
  middleware: apiKeyGuard(),
  request: { params: wire.shareIdParamSchema },
  responses: { 200: successResponse("The share.", "ShareDetailAnswer", wire.shareDetailSchema, wire.shareDetailExample) },
  when: shareNotFoundRefusal,
});

const getCurrentValuesRoute = createRoute({
  method: "get",
  path: "/v1/consumers/{share_id}/current",
  operationId: "readCurrentValues",
  summary: "Read the current values of a share",
  description: "Of an active share of yours, within its scope. Each reading is in your audit chain, and once a day in the person's.",
  middleware: apiKeyGuard(),
  request: { params: wire.shareIdParamSchema },
  responses: { 200: successResponse("The values.", "CurrentValuesAnswer", wire.currentValuesSchema, wire.currentValuesExample) },
  refuses: ["share_inactive"],
  when: shareNotFoundRefusal,
});

export const shareRoutes = createApi();

shareRoutes.openapi(authorizeShareRoute, async (c) => {
  const query = c.req.valid("query");
  const asked = parseScope(query.scope);
  if (!asked.ok) return refusal(c, asked);
  const { services } = c.var;
  const authorized = await authorizeShareRequest(services, toShareRequest(query, asked.value));
  if (!authorized.ok) return refusal(c, authorized);
  const language = selectLanguage(query.locale, c.req.header("accept-language"));
  return success(
    c,
    200,
    wire.authorizedRequestToWire(authorized.value, await createShareRequestToken(services, authorized.value), language),
  );
});

/** Keeps what was decided, and answers it. */
const handleDecision = async (c: RequestContext, by: Grantor, decision: ShareDecision) => {
  const toWire = (granted: GrantResult) => wire.shareGrantToWire(granted, decision.state, c.var.services.clock());
  return respond(c, 201, await decideShare(c.var.services, by, decision, saveIdempotentResponse(c, 201, toWire)), toWire);
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
  const ofClient = clientId === null ? null : await c.var.services.takeByAddress("SANDBOX_GRANTS_PER_CLIENT", clientId);
  const crowded = ofClient && applySecondaryRateLimit(c, "SANDBOX_GRANTS_PER_CLIENT", ofClient);
  return crowded ?? handleDecision(c, { persona: body.persona ?? "default" }, decision.value);
});

/** What a guesser gets wrong; whoever comes too late has guessed nothing. */
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
    const state = await services.takeByAddress("REDEEM_FAILURES_PER_CODE", `${getIpRateLimitKey(ip)} ${sha256Hex(code)}`);
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
  const by: ShareRevoker = token == null ? { person: personFromSession(session as ConsumerSession) } : { token };
  const { share_id: id } = c.req.valid("param");
  const toWire = (revoked: RevocationResult) => wire.revokedShareToWire(revoked, services.clock());
  return respond(
    c,
    200,
    await revokeShareByPerson(services, id, by, { reason: reason ?? null, requestId }, saveIdempotentResponse(c, 200, toWire)),
    toWire,
  );
});

shareRoutes.openapi(acknowledgeShareRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const { note, acknowledged_by: acknowledgedBy, actions } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  const actor = { kind: "api_key", id: principal.keyId } as const;
  const { share_id: id } = c.req.valid("param");
  const toWire = (ceased: CeasedShare) => wire.acknowledgedShareToWire(ceased, services.clock());
  const ceased = await acknowledgeShare(services, principal, actor, id, details, requestId, saveIdempotentResponse(c, 200, toWire));
  return respond(c, 200, ceased, toWire);
});

shareRoutes.openapi(listSharesRoute, async (c) => {
  const { services, principal } = c.var;
  const { status, limit, starting_after: start } = c.req.valid("query");
  const startingAfter = start === undefined ? null : parseShareId(start);
  if (start !== undefined && startingAfter === null)
    return failure(c, "invalid_request", "starting_after: must be the id of a share of yours.");
  const listed = await listShares(services, principal, { status: status ?? null, limit, startingAfter });
  return respond(c, 200, listed, (page) => wire.shareListToWire(page, services.clock()));
});

shareRoutes.openapi(getShareRoute, async (c) => {
  const { services, principal } = c.var;
  const read = await getBusinessShare(services, principal, c.req.valid("param").share_id);
  return respond(c, 200, read, (detail) => wire.shareDetailToWire(detail, services.clock()));
});

shareRoutes.openapi(getCurrentValuesRoute, async (c) => {
  return respond(c, 200, await getCurrentValues(c.var.services, c.var.principal, c.req.valid("param").share_id), wire.currentValuesToWire);
});
