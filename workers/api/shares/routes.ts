// The routes of the share protocol: a request is looked at, granted and redeemed; a share is stopped, acknowledged and read.
import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { createMiddleware } from "hono/factory";
import { addressKey } from "../../../core/access/address.ts";
import { personOf, type ConsumerSession, type Session } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { askedScope } from "../../../core/shares/fields.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { Api, ConsumerCaller, RequestContext } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { appOrigin, behindApiKey, callersOrigin, forAnyone, limitByAddress, limited } from "../../http/guards.ts";
import { idempotent, idempotentByAddress, keeping } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { authorizeQuery, requestOf, scopeOfText } from "../../http/share-request.ts";
import { behindConsumer, sameOrigin, sessionToken } from "../../http/session-guards.ts";
import {
  answerOf,
  badBody,
  bodyOf,
  bodyRefusals,
  failures,
  idempotencyHeaders,
  json,
  keyRefusals,
  rateHeaders,
  repeatHeaders,
} from "../../http/wire.ts";
import { sessionOf } from "../../operations/access/sign-in.ts";
import { acknowledgeStop, type CeasedShare } from "../../operations/shares/acknowledge.ts";
import { authorizeRequest, decideShare, tokenOf } from "../../operations/shares/authorize.ts";
import type { Granted } from "../../operations/shares/grant.ts";
import { listShares, readCurrentValues, readShare } from "../../operations/shares/read.ts";
import { redeemCode } from "../../operations/shares/redeem.ts";
import { revokeByPerson, type Revoked, type Revoking } from "../../operations/shares/revoke.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import {
  authorizedExample,
  ceasedExample,
  consentExample,
  currentExample,
  grantedExample,
  redeemedExample,
  redeemExample,
  revokedExample,
  shareDetailExample,
  shareExample,
} from "./examples.ts";
import {
  authorizedSchema,
  authorizedToWire,
  ceasedSchema,
  ceasedToWire,
  ceaseRequestSchema,
  consentSchema,
  currentSchema,
  currentToWire,
  decisionFromWire,
  grantedSchema,
  grantedToWire,
  listSharesQuery,
  redeemedSchema,
  redeemedToWire,
  redeemSchema,
  revokedSchema,
  revokedToWire,
  revokeSchema,
  sandboxConsentSchema,
  shareDetailSchema,
  shareDetailToWire,
  shareParam,
  sharesSchema,
  sharesToWire,
} from "./schema.ts";

const accountRefusals = ["business_suspended", "business_inactive", "subscription_past_due"] as const;
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
  tags: ["sharing"],
  summary: "Check a request to share",
  description:
    "What a business asks of a person, checked and in words for a consent screen. Reads only: nothing is kept of a request. A browser that navigates here is sent on to the consent sheet.",
  security: [],
  middleware: forAnyone(toSheet, limitByAddress("AUTHORIZE_PER_IP")),
  request: { query: authorizeQuery },
  responses: {
    303: { description: "A browser that navigates is sent on to the consent sheet." },
    200: {
      description: "The request.",
      headers: rateHeaders,
      content: answerOf("AuthorizeAnswer", authorizedSchema, authorizedExample),
    },
    ...failures(
      [
        "invalid_request",
        "client_not_found",
        "business_suspended",
        "business_inactive",
        "origin_mismatch",
        "rate_limited",
        "storage_unavailable",
      ],
      {
        origin_mismatch: "The origin is on none of the business's verified domains.",
        rate_limited: "More than 60 a minute from one address of the network.",
      },
    ),
  },
});

const limitGrants = createMiddleware<ConsumerCaller>(async (c, next) => {
  const refused = limited(c, "GRANTS", await c.var.services.takeExactly("GRANTS", c.var.person.id));
  if (refused !== null) return refused;
  await next();
});

const granting = {
  client_not_found: "There is no such client.",
  origin_mismatch: "The origin is on none of the business's verified domains.",
  code_used: "This request was decided before, and its code has been redeemed.",
  share_inactive: "This request was decided before, and the share is over.",
} as const;

const consentRoute = createRoute({
  method: "post",
  path: "/v1/share/consent",
  operationId: "grantShare",
  tags: ["sharing"],
  summary: "Share fields with a business",
  description:
    "The person who is signed in agrees. Makes the share and a code that redeems it once, within 60 seconds. With `authorize_token` a request is decided once: sent again, it answers the same share, and its code while that is of use. The business gets the event `share.created`, the person a mail with a link that takes the share back.",
  security: [{ session: [] }],
  middleware: behindConsumer(limitGrants, jsonBody, idempotent),
  request: { headers: idempotencyHeaders, body: bodyOf(consentSchema, consentExample) },
  responses: {
    201: {
      description: "The share, and the code that redeems it.",
      headers: repeatHeaders,
      content: answerOf("ShareConsentAnswer", grantedSchema, grantedExample),
    },
    ...failures(
      [
        ...bodyRefusals,
        "unauthorized",
        "client_not_found",
        ...accountRefusals,
        "csrf_failed",
        "forbidden",
        "origin_mismatch",
        "code_used",
        "share_inactive",
        "idempotency_conflict",
        "rate_limited",
        "storage_unavailable",
      ],
      {
        ...badBody,
        ...granting,
        forbidden: "Not a person's session, or a test client: those have POST /v1/share/sandbox-consent.",
        rate_limited: "More than 30 grants a minute by one person, or 120 calls.",
      },
    ),
  },
});

const sandboxRoute = createRoute({
  method: "post",
  path: "/v1/share/sandbox-consent",
  operationId: "grantSandboxShare",
  tags: ["sharing"],
  summary: "Share a test person's fields",
  description:
    "As `POST /v1/share/consent`, for a test client, without a session: a test person agrees. For trying out; nobody's real details.",
  security: [],
  middleware: forAnyone(limitByAddress("SANDBOX_CONSENT_PER_IP"), jsonBody, idempotentByAddress),
  request: { headers: idempotencyHeaders, body: bodyOf(sandboxConsentSchema, { ...consentExample, persona: "default" }) },
  responses: {
    201: {
      description: "The share, and the code that redeems it.",
      headers: repeatHeaders,
      content: answerOf("SandboxConsentAnswer", grantedSchema, grantedExample),
    },
    ...failures(
      [
        ...bodyRefusals,
        "client_not_found",
        ...accountRefusals,
        "sandbox_only",
        "origin_mismatch",
        "code_used",
        "idempotency_conflict",
        "rate_limited",
        "storage_unavailable",
      ],
      {
        ...badBody,
        ...granting,
        rate_limited:
          "More than 60 a minute from one address of the network, or 600 for one client; or the business has 10,000 active test shares, which `POST /v1/sandbox/reset` ends.",
      },
    ),
  },
});

const redeemRoute = createRoute({
  method: "post",
  path: "/v1/share/redeem",
  operationId: "redeemShare",
  tags: ["sharing"],
  summary: "Redeem a code for the fields",
  description:
    "Exactly once, within 60 seconds, with the verifier of the request, from the origin that asked; a server sends no Origin. Refused tries use nothing up. Who is asking is judged before the state of the code is told. With an `Idempotency-Key`, a lost answer can be asked for again under the same key, verifier, client and origin while the code would still live. No answer is kept.",
  security: [],
  middleware: forAnyone(limitByAddress("REDEEM_PER_IP"), jsonBody),
  request: { headers: idempotencyHeaders, body: bodyOf(redeemSchema, redeemExample) },
  responses: {
    200: {
      description: "The fields.",
      headers: repeatHeaders,
      content: answerOf("RedeemAnswer", redeemedSchema, redeemedExample),
    },
    ...failures(
      [
        ...bodyRefusals,
        "code_invalid",
        "pkce_mismatch",
        "business_suspended",
        "business_inactive",
        "origin_mismatch",
        "code_used",
        "share_inactive",
        "code_expired",
        "rate_limited",
        "storage_unavailable",
      ],
      {
        ...badBody,
        origin_mismatch:
          "The Origin is not the one that asked; or there is none, and its domain is not verified any more, or the client demands one.",
        rate_limited: "More than 60 a minute from one address of the network, or more than 20 failed tries of one code.",
      },
    ),
  },
});

/** Whoever is signed in is counted as on every route of theirs; whoever comes with the link, by their address. */
const sessionOrLink = createMiddleware<Revoker>(async (c, next) => {
  const { services, ip } = c.var;
  const session = await sessionOf(services, sessionToken(c));
  c.set("session", session);
  if (session !== null)
    c.set("caller", { kind: "session", id: session.userId, businessId: session.realm === "business" ? session.business.id : null });
  const refused =
    session === null
      ? limited(c, "REVOKE_LINK_PER_IP", await services.takeByAddress("REVOKE_LINK_PER_IP", addressKey(ip)))
      : limited(c, "SESSION", await services.takeExactly("SESSION", session.userId));
  if (refused !== null) return refused;
  await next();
});

const repeatable: MiddlewareHandler<Revoker> = (c, next) =>
  c.var.session === null ? idempotentByAddress(c as never, next) : idempotent(c as never, next);

const revokeRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/revoke",
  operationId: "revokeShare",
  tags: ["sharing"],
  summary: "Stop a share",
  description:
    "By the person: signed in, or with `revoke_token` from the link in the mail. The business is told at once and must have ended contact ten business days later. Again it answers the same. Possible whatever the business has paid.",
  security: [{}, { session: [] }],
  middleware: every(sessionOrLink, optionalJsonBody, repeatable) as MiddlewareHandler<Revoker>,
  request: {
    params: shareParam,
    headers: idempotencyHeaders,
    body: { required: false, content: json(revokeSchema, { reason: "Found another provider" }) },
  },
  responses: {
    200: {
      description: "The share as it is now, and the deadline.",
      headers: repeatHeaders,
      content: answerOf("RevokeAnswer", revokedSchema, revokedExample),
    },
    ...failures(
      [
        ...bodyRefusals,
        "unauthorized",
        "csrf_failed",
        "forbidden",
        "not_found",
        "share_inactive",
        "idempotency_conflict",
        "rate_limited",
        "storage_unavailable",
      ],
      {
        rate_limited: "More than 120 calls a minute by one person, or 60 with links from one address of the network.",
        ...badBody,
        ...notYours,
        unauthorized: "Neither a session nor the link's token, or a token that is not this share's.",
        forbidden: "The session is not a person's.",
        share_inactive: "It ended by itself, or was renewed.",
      },
    ),
  },
});

const ceaseRoute = createRoute({
  method: "post",
  path: "/v1/shares/{share_id}/cease-ack",
  operationId: "acknowledgeShare",
  tags: ["sharing"],
  summary: "Acknowledge that contact has ended",
  description:
    "Once a share that the person has stopped; again it answers with the first. The person is written that you confirmed, with your note.",
  security: [{ apiKey: [] }],
  middleware: behindApiKey(optionalJsonBody, idempotent),
  request: {
    params: shareParam,
    headers: idempotencyHeaders,
    body: {
      required: false,
      content: json(ceaseRequestSchema, { acknowledged_by: "Privacy team", actions: ["removed from the call list"] }),
    },
  },
  responses: {
    200: {
      description: "The share as it is now.",
      headers: repeatHeaders,
      content: answerOf("ShareCeaseAnswer", ceasedSchema, ceasedExample),
    },
    ...failures([...bodyRefusals, ...keyRefusals, "subscription_past_due", "not_found", "cease_not_open", "idempotency_conflict"], {
      ...badBody,
      ...notYours,
      cease_not_open: "Nobody has stopped it.",
    }),
  },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/shares",
  operationId: "listShares",
  tags: ["sharing"],
  summary: "List your shares",
  description:
    "Newest first, at most 200 a page; `has_more` says whether there are older ones, from behind `starting_after`. A test key lists those of the sandbox.",
  security: [{ apiKey: [] }],
  middleware: behindApiKey(),
  request: { query: listSharesQuery },
  responses: {
    200: {
      description: "A page of shares.",
      headers: rateHeaders,
      content: answerOf("ShareListAnswer", sharesSchema, { shares: [shareExample], count: 1, has_more: false }),
    },
    ...failures(["invalid_request", ...keyRefusals], badBody),
  },
});

const detailRoute = createRoute({
  method: "get",
  path: "/v1/shares/{share_id}",
  operationId: "readShare",
  tags: ["sharing"],
  summary: "Read a share",
  description: "With what was shown to the person, its statement in the ledger, and what happened to it.",
  security: [{ apiKey: [] }],
  middleware: behindApiKey(),
  request: { params: shareParam },
  responses: {
    200: {
      description: "The share.",
      headers: rateHeaders,
      content: answerOf("ShareDetailAnswer", shareDetailSchema, shareDetailExample),
    },
    ...failures([...keyRefusals, "not_found"], notYours),
  },
});

const currentRoute = createRoute({
  method: "get",
  path: "/v1/consumers/{share_id}/current",
  operationId: "readCurrentValues",
  tags: ["sharing"],
  summary: "Read the current values of a share",
  description: "Of an active share of yours, within its scope. Each reading is in your audit chain, and once a day in the person's.",
  security: [{ apiKey: [] }],
  middleware: behindApiKey(),
  request: { params: shareParam },
  responses: {
    200: {
      description: "The values.",
      headers: rateHeaders,
      content: answerOf("CurrentValuesAnswer", currentSchema, currentExample),
    },
    ...failures([...keyRefusals, "not_found", "share_inactive"], notYours),
  },
});

export const sharing = newApi();

const fromAnywhere = callersOrigin({ methods: ["GET", "POST"], headers: ["Content-Type", "Idempotency-Key"] });
for (const path of ["/v1/authorize", "/v1/share/redeem", "/v1/share/sandbox-consent"]) sharing.use(path, fromAnywhere);
const fromApp = appOrigin({ methods: ["POST"], headers: ["Content-Type", "Idempotency-Key"] });
for (const path of ["/v1/share/consent", "/v1/shares/:share_id/revoke"]) sharing.use(path, fromApp, sameOrigin);

const languageOf = (c: RequestContext) => pageLanguage(undefined, c.req.header("accept-language"));

sharing.openapi(authorizeRoute, async (c) => {
  const query = c.req.valid("query");
  const asked = scopeOfText(query.scope);
  if (!asked.ok) return refusal(c, asked);
  const { services } = c.var;
  const authorized = await authorizeRequest(services, requestOf(query, asked.value));
  if (!authorized.ok) return refusal(c, authorized);
  const language = pageLanguage(query.locale, c.req.header("accept-language"));
  return success(c, 200, authorizedToWire(authorized.value, await tokenOf(services, authorized.value), language));
});

sharing.openapi(consentRoute, async (c) => {
  const body = c.req.valid("json");
  const chosen = askedScope(body.scope);
  if (!chosen.ok) return refusal(c, chosen);
  const { services, person, requestId } = c.var;
  const decision = { ...decisionFromWire(body), scope: chosen.value.scope, language: languageOf(c), requestId };
  const toWire = (granted: Granted) => grantedToWire(granted, decision.state, services.clock());
  const granted = await decideShare(services, { person }, decision, keeping(c, 201, toWire));
  return granted.ok ? success(c, 201, toWire(granted.value)) : refusal(c, granted);
});

sharing.openapi(sandboxRoute, async (c) => {
  const body = c.req.valid("json");
  const chosen = askedScope(body.scope);
  if (!chosen.ok) return refusal(c, chosen);
  const { services, requestId } = c.var;
  const decision = { ...decisionFromWire(body), scope: chosen.value.scope, language: languageOf(c), requestId };
  const toWire = (granted: Granted) => grantedToWire(granted, decision.state, services.clock());
  const ofClient = decision.clientId === null ? null : await services.takeByAddress("SANDBOX_GRANTS_PER_CLIENT", decision.clientId);
  const crowded = ofClient === null || ofClient.allowed ? null : limited(c, "SANDBOX_GRANTS_PER_CLIENT", ofClient);
  if (crowded !== null) return crowded;
  const granted = await decideShare(services, { persona: body.persona ?? "default" }, decision, keeping(c, 201, toWire));
  return granted.ok ? success(c, 201, toWire(granted.value)) : refusal(c, granted);
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
    idempotencyKey: c.req.valid("header")["Idempotency-Key"] ?? null,
    requestId,
  });
  if (redeemed.ok) {
    if (redeemed.value.isReplayed) c.header("Idempotency-Replayed", "true");
    return success(c, 200, redeemedToWire(redeemed.value));
  }
  if (failedTries.has(redeemed.code)) {
    const state = await services.takeByAddress("REDEEM_FAILURES_PER_CODE", `${addressKey(ip)} ${sha256Hex(code)}`);
    const refused = state.allowed ? null : limited(c, "REDEEM_FAILURES_PER_CODE", state);
    if (refused !== null) return refused;
  }
  return refusal(c, redeemed);
});

sharing.openapi(revokeRoute, async (c) => {
  const { services, requestId, session } = c.var;
  const { reason, revoke_token: token } = c.req.valid("json");
  if (token == null && session === null) return failure(c, "unauthorized");
  if (token == null && session?.realm === "business") return failure(c, "forbidden");
  const by: Revoking = token == null ? { person: personOf(session as ConsumerSession) } : { token };
  const id = shareIdOf(c.req.valid("param").share_id);
  const toWire = (revoked: Revoked) => revokedToWire(revoked, services.clock());
  const revoked = await revokeByPerson(services, id, by, { reason: reason ?? null, requestId }, keeping(c, 200, toWire));
  return revoked.ok ? success(c, 200, toWire(revoked.value)) : refusal(c, revoked);
});

sharing.openapi(ceaseRoute, async (c) => {
  const { services, principal, requestId } = c.var;
  const { note, acknowledged_by: acknowledgedBy, actions } = c.req.valid("json");
  const details = { note: note ?? null, acknowledgedBy: acknowledgedBy ?? null, actions: actions ?? [] };
  const actor = { kind: "api_key", id: principal.keyId } as const;
  const id = shareIdOf(c.req.valid("param").share_id);
  const toWire = (ceased: CeasedShare) => ceasedToWire(ceased, services.clock());
  const ceased = await acknowledgeStop(services, principal, actor, id, details, requestId, keeping(c, 200, toWire));
  return ceased.ok ? success(c, 200, toWire(ceased.value)) : refusal(c, ceased);
});

sharing.openapi(listRoute, async (c) => {
  const { services, principal } = c.var;
  const { status, limit, starting_after: start } = c.req.valid("query");
  const startingAfter = start === undefined ? null : shareIdOf(start);
  if (start !== undefined && startingAfter === null)
    return failure(c, "invalid_request", "starting_after: must be the id of a share of yours.");
  const listed = await listShares(services, principal, { status: status ?? null, limit, startingAfter });
  return listed.ok ? success(c, 200, sharesToWire(listed.value, services.clock())) : refusal(c, listed);
});

sharing.openapi(detailRoute, async (c) => {
  const { services, principal } = c.var;
  const read = await readShare(services, principal, shareIdOf(c.req.valid("param").share_id));
  return read.ok ? success(c, 200, shareDetailToWire(read.value, services.clock())) : refusal(c, read);
});

sharing.openapi(currentRoute, async (c) => {
  const { services, principal } = c.var;
  const read = await readCurrentValues(services, principal, shareIdOf(c.req.valid("param").share_id));
  return read.ok ? success(c, 200, currentToWire(read.value)) : refusal(c, read);
});
