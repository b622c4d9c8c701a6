// The routes of the share protocol: a request is looked at, granted and redeemed; a share is stopped, acknowledged and read.
import { createMiddleware } from "hono/factory";
import { addressKey } from "../../../core/access/address.ts";
import { personOf, type ConsumerSession, type Session } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { Api, RequestContext } from "../../http/context.ts";
import { answer, failure, refusal, success } from "../../http/envelope.ts";
import { guard, inTurn } from "../../http/guard.ts";
import {
  behindApiKey,
  countedByAddress,
  countedExactly,
  forAnyone,
  limitByAddress,
  limitByAccount,
  overflowing,
} from "../../http/guards.ts";
import { idempotent, keeping, sentKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { authorizeQuery, requestOf, scopeOfText } from "../../http/share-request.ts";
import { behindConsumer, sameOrigin, sessionCaller, sessionToken } from "../../http/session-guards.ts";
import { answerOf, bodyOf, idempotencyHeaders, optionalBodyOf, rateHeaders, repeatHeaders } from "../../http/wire.ts";
import { sessionOf } from "../../operations/access/sign-in.ts";
import { acknowledgeStop, type CeasedShare } from "../../operations/shares/acknowledge.ts";
import { authorizeRequest, decideShare, tokenOf, type Decision } from "../../operations/shares/authorize.ts";
import type { Granted, Granting } from "../../operations/shares/grant.ts";
import { listShares, readCurrentValues, readShare } from "../../operations/shares/read.ts";
import { redeemCode } from "../../operations/shares/redeem.ts";
import { revokeByPerson, type Revoked, type Revoking } from "../../operations/shares/revoke.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import * as example from "./examples.ts";
import * as wire from "./schema.ts";

const createRoute = routesOf("sharing");

const notYours = { not_found: "There is no such share, or it is not yours." } as const;

/** Somebody who is signed in, or holds a link. */
interface Revoker {
  Variables: Api["Variables"] & { session: Session | null };
}

/** A browser that navigates is a person, who needs the sheet and not JSON. It keeps naming the page it came from. */
const toSheet = createMiddleware<Api>(async (c, next) => {
  if (c.req.header("sec-fetch-mode") !== "navigate") return next();
  const { services } = c.var;
  c.header("Referrer-Policy", "origin");
  c.header("Cross-Origin-Opener-Policy", "unsafe-none");
  return c.redirect(`${services.config.appUrl}/authorize${new URL(c.req.url).search}`, 303);
});

const authorizeRoute = createRoute({
  method: "get",
  path: "/v1/authorize",
  operationId: "authorizeShare",
  summary: "Check a request to share",
  description:
    "What a business asks of a person, checked and in words for a consent screen. Reads only: nothing is kept of a request. A browser that navigates here is sent on to the consent sheet.",
  middleware: forAnyone(toSheet, limitByAddress("AUTHORIZE_PER_IP")),
  request: { query: authorizeQuery },
  responses: {
    303: { description: "A browser that navigates is sent on to the consent sheet." },
    200: answerOf("The request.", "AuthorizeAnswer", wire.authorizedSchema, example.authorizedExample),
  },
  refuses: ["client_not_found", "business_suspended", "business_inactive"],
  when: { origin_mismatch: "The origin is on none of the business's verified domains." },
});

const limitGrants = limitByAccount("GRANTS", "More than 30 grants a minute by one person, or 120 calls.");

/** What is refused whoever decides. */
const granting = {
  refuses: ["business_suspended", "business_inactive", "subscription_past_due"],
  when: {
    client_not_found: "There is no such client.",
    origin_mismatch: "The origin is on none of the business's verified domains.",
    code_used: "This request was decided before, and its code has been redeemed.",
  },
} as const;

const consentRoute = createRoute({
  method: "post",
  path: "/v1/share/consent",
  operationId: "grantShare",
  summary: "Share fields with a business",
  description:
    "The person who is signed in agrees. Makes the share and a code that redeems it once, within 60 seconds. With `authorize_token` a request is decided once: sent again, it answers the same share, and its code while that is of use. The business gets the event `share.created`, the person a mail with a link that takes the share back.",
  middleware: behindConsumer(limitGrants, jsonBody, idempotent),
  request: { body: bodyOf(wire.consentSchema, example.consentExample) },
  responses: {
    201: answerOf("The share, and the code that redeems it.", "ShareConsentAnswer", wire.grantedSchema, example.grantedExample),
  },
  ...granting,
  when: {
    ...granting.when,
    share_inactive: "This request was decided before, and the share is over.",
    forbidden: "Not a person's session, or a test client: those have POST /v1/share/sandbox-consent.",
  },
});

const sandboxRoute = createRoute({
  method: "post",
  path: "/v1/share/sandbox-consent",
  operationId: "grantSandboxShare",
  summary: "Share a test person's fields",
  description:
    "As `POST /v1/share/consent`, for a test client, without a session: a test person agrees. For trying out; nobody's real details.",
  middleware: forAnyone(limitByAddress("SANDBOX_CONSENT_PER_IP"), jsonBody, idempotent),
  request: { body: bodyOf(wire.sandboxConsentSchema, { ...example.consentExample, persona: "default" }) },
  responses: {
    201: answerOf("The share, and the code that redeems it.", "SandboxConsentAnswer", wire.grantedSchema, example.grantedExample),
  },
  refuses: [...granting.refuses, "sandbox_only"],
  when: {
    ...granting.when,
    rate_limited:
      "More than 60 a minute from one address of the network, or 600 for one client; or the business has 10,000 active test shares, which `POST /v1/sandbox/reset` ends.",
  },
});

const redeemRoute = createRoute({
  method: "post",
  path: "/v1/share/redeem",
  operationId: "redeemShare",
  summary: "Redeem a code for the fields",
  description:
    "Exactly once, within 60 seconds, with the verifier of the request, from the origin that asked; a server sends no Origin. Refused tries use nothing up. Who is asking is judged before the state of the code is told. With an `Idempotency-Key`, a lost answer can be asked for again under the same key, verifier, client and origin while the code would still live. No answer is kept.",
  middleware: forAnyone(limitByAddress("REDEEM_PER_IP"), jsonBody),
  request: { headers: idempotencyHeaders, body: bodyOf(wire.redeemSchema, example.redeemExample) },
  responses: { 200: { ...answerOf("The fields.", "RedeemAnswer", wire.redeemedSchema, example.redeemedExample), headers: repeatHeaders } },
  refuses: ["code_invalid", "pkce_mismatch", "business_suspended", "business_inactive", "code_used", "share_inactive", "code_expired"],
  when: {
    origin_mismatch:
      "The Origin is not the one that asked; or there is none, and its domain is not verified any more, or the client demands one.",
    rate_limited: "More than 60 a minute from one address of the network, or more than 20 failed tries of one code.",
  },
});

/** Whoever is signed in is counted as on every route of theirs; whoever comes with the link, by their address. */
const sessionOrLink = guard<Revoker>(
  {
    refuses: ["storage_unavailable"],
    when: { rate_limited: "More than 120 calls a minute by one person, or 60 with links from one address of the network." },
    sets: rateHeaders,
    security: [{}, { session: [] }],
  },
  async (c, next) => {
    const session = await sessionOf(c.var.services, sessionToken(c));
    c.set("session", session);
    if (session !== null) c.set("caller", sessionCaller(session));
    const refused = session === null ? countedByAddress(c, "REVOKE_LINK_PER_IP") : countedExactly(c, "SESSION", session.userId);
    return (await refused) ?? next();
  },
);

const revokeRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/revoke",
  operationId: "revokeShare",
  summary: "Stop a share",
  description:
    "By the person: signed in, or with `revoke_token` from the link in the mail. The business is told at once and must have ended contact ten business days later. Again it answers the same. Possible whatever the business has paid.",
  middleware: inTurn<Revoker>(sameOrigin, sessionOrLink, optionalJsonBody, idempotent),
  request: { params: wire.unreadShareParam, body: optionalBodyOf(wire.revokeSchema, { reason: "Found another provider" }) },
  responses: { 200: answerOf("The share as it is now, and the deadline.", "RevokeAnswer", wire.revokedSchema, example.revokedExample) },
  when: {
    ...notYours,
    unauthorized: "Neither a session nor the link's token, or a token that is not this share's.",
    forbidden: "The session is not a person's.",
    share_inactive: "It ended by itself, or was renewed.",
  },
});

const ceaseRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/cease-ack",
  operationId: "acknowledgeShare",
  summary: "Acknowledge that contact has ended",
  description:
    "Once a share that the person has stopped; again it answers with the first. The person is written that you confirmed, with your note.",
  middleware: behindApiKey(optionalJsonBody, idempotent),
  request: {
    params: wire.shareParam,
    body: optionalBodyOf(wire.ceaseRequestSchema, { acknowledged_by: "Privacy team", actions: ["removed from the call list"] }),
  },
  responses: { 200: answerOf("The share as it is now.", "ShareCeaseAnswer", wire.ceasedSchema, example.ceasedExample) },
  refuses: ["subscription_past_due"],
  when: { ...notYours, cease_not_open: "Nobody has stopped it." },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/shares",
  operationId: "listShares",
  summary: "List your shares",
  description:
    "Newest first, at most 200 a page; `has_more` says whether there are older ones, from behind `starting_after`. A test key lists those of the sandbox.",
  middleware: behindApiKey(),
  request: { query: wire.listSharesQuery },
  responses: {
    200: answerOf("A page of shares.", "ShareListAnswer", wire.sharesSchema, { shares: [example.shareExample], count: 1, has_more: false }),
  },
});

const detailRoute = createRoute({
  method: "get",
  path: "/v1/shares/{share_id}",
  operationId: "readShare",
  summary: "Read a share",
  description: "With what was shown to the person, its statement in the ledger, and what happened to it.",
  middleware: behindApiKey(),
  request: { params: wire.shareParam },
  responses: { 200: answerOf("The share.", "ShareDetailAnswer", wire.shareDetailSchema, example.shareDetailExample) },
  when: notYours,
});

const currentRoute = createRoute({
  method: "get",
  path: "/v1/consumers/{share_id}/current",
  operationId: "readCurrentValues",
  summary: "Read the current values of a share",
  description: "Of an active share of yours, within its scope. Each reading is in your audit chain, and once a day in the person's.",
  middleware: behindApiKey(),
  request: { params: wire.shareParam },
  responses: { 200: answerOf("The values.", "CurrentValuesAnswer", wire.currentSchema, example.currentExample) },
  refuses: ["share_inactive"],
  when: notYours,
});

export const sharing = newApi();

sharing.openapi(authorizeRoute, async (c) => {
  const query = c.req.valid("query");
  const asked = scopeOfText(query.scope);
  if (!asked.ok) return refusal(c, asked);
  const { services } = c.var;
  const authorized = await authorizeRequest(services, requestOf(query, asked.value));
  if (!authorized.ok) return refusal(c, authorized);
  const language = pageLanguage(query.locale, c.req.header("accept-language"));
  return success(c, 200, wire.authorizedToWire(authorized.value, await tokenOf(services, authorized.value), language));
});

/** Keeps what was decided, and answers it. */
const decide = async (c: RequestContext, by: Granting, decision: Decision) => {
  const toWire = (granted: Granted) => wire.grantedToWire(granted, decision.state, c.var.services.clock());
  return answer(c, 201, await decideShare(c.var.services, by, decision, keeping(c, 201, toWire)), toWire);
};

sharing.openapi(consentRoute, async (c) => {
  const decision = wire.decisionFromWire(c.req.valid("json"), c.var);
  return decision.ok ? decide(c, { person: c.var.person }, decision.value) : refusal(c, decision);
});

sharing.openapi(sandboxRoute, async (c) => {
  const body = c.req.valid("json");
  const decision = wire.decisionFromWire(body, c.var);
  if (!decision.ok) return refusal(c, decision);
  const { clientId } = decision.value;
  const ofClient = clientId === null ? null : await c.var.services.takeByAddress("SANDBOX_GRANTS_PER_CLIENT", clientId);
  const crowded = ofClient && overflowing(c, "SANDBOX_GRANTS_PER_CLIENT", ofClient);
  return crowded ?? decide(c, { persona: body.persona ?? "default" }, decision.value);
});

/** What a guesser gets wrong; whoever comes too late has guessed nothing. */
const failedTries: ReadonlySet<string> = new Set(["code_invalid", "origin_mismatch", "pkce_mismatch"]);

sharing.openapi(redeemRoute, async (c) => {
  const { code, code_verifier: verifier, client_id: clientId } = c.req.valid("json");
  const { services, requestId, ip } = c.var;
  const redeemed = await redeemCode(services, {
    code,
    verifier,
    clientId,
    origin: c.req.header("origin") ?? null,
    idempotencyKey: sentKey(c),
    requestId,
  });
  if (redeemed.ok && redeemed.value.isReplayed) c.header("Idempotency-Replayed", "true");
  if (!redeemed.ok && failedTries.has(redeemed.code)) {
    const state = await services.takeByAddress("REDEEM_FAILURES_PER_CODE", `${addressKey(ip)} ${sha256Hex(code)}`);
    const refused = overflowing(c, "REDEEM_FAILURES_PER_CODE", state);
    if (refused !== null) return refused;
  }
  return answer(c, 200, redeemed, wire.redeemedToWire);
});

sharing.openapi(revokeRoute, async (c) => {
  const { services, requestId, session } = c.var;
  const { reason, revoke_token: token } = c.req.valid("json");
  if (token == null && session === null) return failure(c, "unauthorized");
  if (token == null && session?.realm === "business") return failure(c, "forbidden");
  const by: Revoking = token == null ? { person: personOf(session as ConsumerSession) } : { token };
  const { share_id: id } = c.req.valid("param");
  const toWire = (revoked: Revoked) => wire.revokedToWire(revoked, services.clock());
  return answer(c, 200, await revokeByPerson(services, id, by, { reason: reason ?? null, requestId }, keeping(c, 200, toWire)), toWire);
});

sharing.openapi(ceaseRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const { note, acknowledged_by: acknowledgedBy, actions } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  const actor = { kind: "api_key", id: principal.keyId } as const;
  const { share_id: id } = c.req.valid("param");
  const toWire = (ceased: CeasedShare) => wire.ceasedToWire(ceased, services.clock());
  const ceased = await acknowledgeStop(services, principal, actor, id, details, requestId, keeping(c, 200, toWire));
  return answer(c, 200, ceased, toWire);
});

sharing.openapi(listRoute, async (c) => {
  const { services, principal } = c.var;
  const { status, limit, starting_after: start } = c.req.valid("query");
  const startingAfter = start === undefined ? null : shareIdOf(start);
  if (start !== undefined && startingAfter === null)
    return failure(c, "invalid_request", "starting_after: must be the id of a share of yours.");
  const listed = await listShares(services, principal, { status: status ?? null, limit, startingAfter });
  return answer(c, 200, listed, (page) => wire.sharesToWire(page, services.clock()));
});

sharing.openapi(detailRoute, async (c) => {
  const { services, principal } = c.var;
  const read = await readShare(services, principal, c.req.valid("param").share_id);
  return answer(c, 200, read, (detail) => wire.shareDetailToWire(detail, services.clock()));
});

sharing.openapi(currentRoute, async (c) => {
  return answer(c, 200, await readCurrentValues(c.var.services, c.var.principal, c.req.valid("param").share_id), wire.currentToWire);
});
