// The routes of signing in and out (CONTRACT 7). These are the only ones that set the session cookie.
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Result } from "../../../core/result.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { answer, success } from "../../http/envelope.ts";
import { forAnyone, limitByAddress, relyingParty } from "../../http/guards.ts";
import { signedSchema } from "../../http/passkey-credentials.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { forgetSession, sameOrigin, sessionToken, setSessionCookie, signedIn } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { askToSignIn, signInWithPasskey } from "../../operations/access/passkey-sign-in.ts";
import { requestCode, signOut, userOf, verifyCode, type SignedIn } from "../../operations/access/sign-in.ts";
import { requestExample as passkeyRequestExample, requestSchema as passkeyRequestSchema, signedExample } from "../passkeys/schema.ts";
import { consumerExample, requestSchema, sessionSchema, signedInSchema, userExample, userToWire, verifySchema } from "./schema.ts";

const createRoute = routesOf("sign-in");

const signedInAs = (user: object) => ({
  ...answerOf("Signed in.", "SignInAnswer", signedInSchema, { user, created: false }),
  headers: { "Set-Cookie": { description: "The session cookie.", schema: { type: "string" as const } } },
});

const passkeyProofSchema = z.object({ credential: signedSchema }).openapi("PasskeyProof");

const requestRoute = createRoute({
  method: "post",
  path: "/v1/auth/request-code",
  operationId: "requestLoginCode",
  middleware: forAnyone(sameOrigin, limitByAddress("AUTH_REQUEST_PER_IP"), jsonBody, idempotent),
  summary: "Ask for a sign-in code",
  description:
    "Mails a six-digit code that is valid for ten minutes. The answer is the same whether or not the address is known, and whether or not a mail goes out: while a code is open the next one waits 60 seconds, and an address gets at most five in 15 minutes.",
  request: { body: bodyOf(requestSchema, { email: "owner@acme-solar.example", realm: "business" }) },
  responses: {
    200: answerOf("Accepted, which says nothing about the address.", "CodeRequestAnswer", z.object({ accepted: z.literal(true) }), {
      accepted: true,
    }),
  },
});

const verifyRoute = createRoute({
  method: "post",
  path: "/v1/auth/verify-code",
  operationId: "verifyLoginCode",
  middleware: forAnyone(sameOrigin, limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  summary: "Sign in with a code",
  description:
    "Begins a session: 12 hours for a member of a business, 30 days for a consumer, who is made at the first sign-in. An address that acts for several businesses is signed in to the one it was in last; the portal leads to the others. A code works once and bears five tries. Every reason not to sign in is the same refusal. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  request: { body: bodyOf(verifySchema, { email: "owner@acme-solar.example", code: "042917", realm: "business" }) },
  responses: { 200: signedInAs(userExample) },
  when: { login_failed: "Wrong address, wrong code, expired, used, no code outstanding, or too many tries: one answer for all of them." },
});

const passkeyAskedRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/options",
  operationId: "askToSignInWithPasskey",
  middleware: forAnyone(sameOrigin, limitByAddress("AUTH_VERIFY_PER_IP"), noBody),
  summary: "Ask for what a passkey signs in with",
  description:
    "The options for `navigator.credentials.get()`, the same for everybody but for the challenge, which is good for five minutes, once. No idempotency key: a kept challenge may be spent already.",
  responses: { 200: answerOf("The options.", "PasskeyRequestAnswer", passkeyRequestSchema, { options: passkeyRequestExample }) },
  when: { rate_limited: "More than 120 a minute from one address of the network, together with `verify`." },
});

const passkeyVerifyRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/verify",
  operationId: "signInWithPasskey",
  middleware: forAnyone(sameOrigin, limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  summary: "Sign in with a passkey",
  description:
    "Begins a consumer's session of 30 days, as a code does. Every reason not to sign in is the same refusal, and the challenge is spent by each. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  request: { body: bodyOf(passkeyProofSchema, { credential: signedExample }) },
  responses: { 200: signedInAs(consumerExample) },
  when: {
    login_failed:
      "Unknown or removed passkey, wrong signature, origin or host, nobody verified at the device, a counter that went back, or a challenge that is unknown, expired or spent: one answer for all of them.",
  },
});

const logoutRoute = createRoute({
  method: "post",
  path: "/v1/auth/logout",
  operationId: "signOut",
  middleware: forAnyone(sameOrigin, noBody),
  summary: "Sign out",
  description: "Ends the session at once, wherever its cookie is. Without a session it does nothing and answers the same.",
  security: [{}, { session: [] }],
  responses: { 200: answerOf("Signed out.", "SignOutAnswer", z.object({ logged_out: z.literal(true) }), { logged_out: true }) },
});

const sessionRoute = createRoute({
  method: "get",
  path: "/v1/auth/session",
  operationId: "currentSession",
  middleware: signedIn,
  summary: "Read who is signed in",
  description: "The person whose session cookie came with the request.",
  responses: { 200: answerOf("Who it is.", "SessionAnswer", sessionSchema, { ...userExample, user: userExample }) },
});

/** The browser keeps the session from here on. */
const answerSignedIn = (c: Context<Api>, signed: Result<SignedIn>) => {
  if (signed.ok) setSessionCookie(c, signed.value.token, signed.value.user.realm);
  return answer(c, 200, signed, ({ user, created }) => ({ user: userToWire(user), created }));
};

export const access = newApi();

access.openapi(requestRoute, async (c) => {
  const asked = await requestCode(c.var.services, { ...c.req.valid("json"), language: c.var.language });
  return answer(c, 200, asked, () => ({ accepted: true as const }));
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
  return answerSignedIn(c, signed);
});

access.openapi(passkeyAskedRoute, async (c) => success(c, 200, { options: { ...(await askToSignIn(c.var.services, relyingParty(c))) } }));

access.openapi(passkeyVerifyRoute, async (c) => {
  const signed = await signInWithPasskey(c.var.services, {
    party: relyingParty(c),
    signed: c.req.valid("json").credential,
    replaces: sessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  return answerSignedIn(c, signed);
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
