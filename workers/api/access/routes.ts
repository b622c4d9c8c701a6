// The routes of signing in and out (CONTRACT 7). These are the only ones that set the session cookie.
import { z } from "@hono/zod-openapi";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin, forAnyone, limitByAddress, relyingParty } from "../../http/guards.ts";
import { signedSchema } from "../../http/passkey-credentials.ts";
import { idempotentByAddress } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { forgetSession, sameOrigin, sessionToken, setSessionCookie, signedIn } from "../../http/session-guards.ts";
import {
  answerOf,
  bodyOf,
  bodyRefusals,
  enveloped,
  failures,
  idempotencyHeaders,
  json,
  rateHeaders,
  repeatHeaders,
} from "../../http/wire.ts";
import { askToSignIn, signInWithPasskey } from "../../operations/access/passkey-sign-in.ts";
import { requestCode, signOut, userOf, verifyCode } from "../../operations/access/sign-in.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import { requestExample as passkeyRequestExample, signedExample } from "../passkeys/examples.ts";
import { requestSchema as passkeyRequestSchema } from "../passkeys/schema.ts";
import { consumerExample, requestSchema, sessionSchema, signInAnswer, userExample, userToWire, verifySchema } from "./schema.ts";

const cookieHeader = { "Set-Cookie": { description: "The session cookie.", schema: { type: "string" as const } } };
const anyonesRefusals = ["csrf_failed", ...bodyRefusals, "storage_unavailable", "rate_limited"] as const;

const passkeyProofSchema = z.object({ credential: signedSchema }).openapi("PasskeyProof");

const requestRoute = createRoute({
  method: "post",
  path: "/v1/auth/request-code",
  operationId: "requestLoginCode",
  middleware: forAnyone(limitByAddress("AUTH_REQUEST_PER_IP"), jsonBody, idempotentByAddress),
  tags: ["sign-in"],
  summary: "Ask for a sign-in code",
  description:
    "Mails a six-digit code that is valid for ten minutes. The answer is the same whether or not the address is known, and whether or not a mail goes out: while a code is open the next one waits 60 seconds, and an address gets at most five in 15 minutes.",
  security: [],
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(requestSchema, { email: "owner@acme-solar.example", realm: "business" }),
  },
  responses: {
    200: {
      description: "Accepted, which says nothing about the address.",
      headers: repeatHeaders,
      content: answerOf("CodeRequestAnswer", z.object({ accepted: z.literal(true) }), { accepted: true }),
    },
    ...failures([...anyonesRefusals, "idempotency_conflict"], {
      rate_limited: "More than 30 in an hour from one address of the network.",
    }),
  },
});

const verifyRoute = createRoute({
  method: "post",
  path: "/v1/auth/verify-code",
  operationId: "verifyLoginCode",
  middleware: forAnyone(limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  tags: ["sign-in"],
  summary: "Sign in with a code",
  description:
    "Begins a session: 12 hours for a member of a business, 30 days for a consumer, who is made at the first sign-in. An address that acts for several businesses is signed in to the one it was in last; the portal leads to the others. A code works once and bears five tries. Every reason not to sign in is the same refusal. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  security: [],
  request: {
    body: bodyOf(verifySchema, { email: "owner@acme-solar.example", code: "042917", realm: "business" }),
  },
  responses: {
    200: {
      description: "Signed in.",
      headers: { ...rateHeaders, ...cookieHeader },
      content: json(signInAnswer, enveloped({ user: userExample, created: false })),
    },
    ...failures(["login_failed", ...anyonesRefusals], {
      login_failed: "Wrong address, wrong code, expired, used, no code outstanding, or too many tries: one answer for all of them.",
      rate_limited: "More than 120 a minute from one address of the network.",
    }),
  },
});

const passkeyAskedRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/options",
  operationId: "askToSignInWithPasskey",
  middleware: forAnyone(limitByAddress("AUTH_VERIFY_PER_IP"), optionalJsonBody),
  tags: ["sign-in"],
  summary: "Ask for what a passkey signs in with",
  description:
    "The options for `navigator.credentials.get()`, the same for everybody but for the challenge, which is good for five minutes, once. No idempotency key: a kept challenge may be spent already.",
  security: [],
  responses: {
    200: {
      description: "The options.",
      headers: rateHeaders,
      content: answerOf("PasskeyRequestAnswer", passkeyRequestSchema, { options: passkeyRequestExample }),
    },
    ...failures(anyonesRefusals, {
      invalid_request: "There is a body, and it is not JSON. None is needed.",
      rate_limited: "More than 120 a minute from one address of the network, together with `verify`.",
    }),
  },
});

const passkeyVerifyRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/verify",
  operationId: "signInWithPasskey",
  middleware: forAnyone(limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  tags: ["sign-in"],
  summary: "Sign in with a passkey",
  description:
    "Begins a consumer's session of 30 days, as a code does. Every reason not to sign in is the same refusal, and the challenge is spent by each. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  security: [],
  request: {
    body: bodyOf(passkeyProofSchema, { credential: signedExample }),
  },
  responses: {
    200: {
      description: "Signed in.",
      headers: { ...rateHeaders, ...cookieHeader },
      content: json(signInAnswer, enveloped({ user: consumerExample, created: false })),
    },
    ...failures(["login_failed", ...anyonesRefusals], {
      login_failed:
        "Unknown or removed passkey, wrong signature, origin or host, nobody verified at the device, a counter that went back, or a challenge that is unknown, expired or spent: one answer for all of them.",
      rate_limited: "More than 120 a minute from one address of the network.",
    }),
  },
});

const logoutRoute = createRoute({
  method: "post",
  path: "/v1/auth/logout",
  operationId: "signOut",
  middleware: optionalJsonBody,
  tags: ["sign-in"],
  summary: "Sign out",
  description: "Ends the session at once, wherever its cookie is. Without a session it does nothing and answers the same.",
  security: [{}, { session: [] }],
  responses: {
    200: {
      description: "Signed out.",
      content: answerOf("SignOutAnswer", z.object({ logged_out: z.literal(true) }), { logged_out: true }),
    },
    ...failures(["csrf_failed", "invalid_request", "payload_too_large", "unsupported_media_type", "storage_unavailable"], {
      invalid_request: "There is a body, and it is not JSON. None is needed.",
    }),
  },
});

const sessionRoute = createRoute({
  method: "get",
  path: "/v1/auth/session",
  operationId: "currentSession",
  middleware: signedIn,
  tags: ["sign-in"],
  summary: "Read who is signed in",
  description: "The person whose session cookie came with the request.",
  security: [{ session: [] }],
  responses: {
    200: {
      description: "Who it is.",
      headers: rateHeaders,
      content: answerOf("SessionAnswer", sessionSchema, { ...userExample, user: userExample }),
    },
    ...failures(["unauthorized", "rate_limited", "storage_unavailable"], { rate_limited: "More than 120 a minute by one person." }),
  },
});

export const access = newApi();

access.use("/v1/auth/*", appOrigin({ methods: ["GET", "POST"], headers: ["Content-Type", "Idempotency-Key"] }), sameOrigin);

access.openapi(requestRoute, async (c) => {
  const language = pageLanguage(undefined, c.req.header("accept-language"));
  const asked = await requestCode(c.var.services, { ...c.req.valid("json"), language });
  return asked.ok ? success(c, 200, { accepted: true as const }) : refusal(c, asked);
});

access.openapi(verifyRoute, async (c) => {
  const { email, code, realm, name } = c.req.valid("json");
  const signed = await verifyCode(c.var.services, {
    email,
    code,
    realm,
    name: name ?? null,
    replaces: sessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  if (!signed.ok) return refusal(c, signed);
  setSessionCookie(c, signed.value.token, realm);
  return success(c, 200, { user: userToWire(signed.value.user), created: signed.value.created });
});

access.openapi(passkeyAskedRoute, async (c) => success(c, 200, { options: { ...(await askToSignIn(c.var.services, relyingParty(c))) } }));

access.openapi(passkeyVerifyRoute, async (c) => {
  const signed = await signInWithPasskey(c.var.services, {
    party: relyingParty(c),
    signed: c.req.valid("json").credential,
    replaces: sessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  if (!signed.ok) return refusal(c, signed);
  setSessionCookie(c, signed.value.token, "consumer");
  return success(c, 200, { user: userToWire(signed.value.user), created: signed.value.created });
});

access.openapi(logoutRoute, async (c) => {
  const token = sessionToken(c);
  if (token !== null) {
    await signOut(c.var.services, token);
    forgetSession(c);
  }
  return success(c, 200, { logged_out: true as const });
});

access.openapi(sessionRoute, async (c) => {
  const user = userToWire(await userOf(c.var.services, c.var.session));
  return success(c, 200, { ...user, user });
});
