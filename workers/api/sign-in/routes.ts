// The routes of signing in and out (CONTRACT 7). These are the only ones that set the session cookie.
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Result } from "../../../core/result.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { AppEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress } from "../../http/guards/rate-limits.ts";
import { signedCredentialSchema } from "../../http/passkey-credentials.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { clearSession, getSessionToken, setSessionCookie } from "../../http/guards/session-cookie.ts";
import { signedInGuard } from "../../http/guards/session.ts";
import { successResponse, requestBody } from "../../http/wire.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { signInWithPasskey } from "../../operations/access/sign-in-with-passkey.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import { requestSignInCode } from "../../operations/access/request-sign-in-code.ts";
import { signOut } from "../../operations/access/sign-out.ts";
import { verifySignInCode, type SignInResult } from "../../operations/access/verify-sign-in-code.ts";
import {
  requestOptionsExample as passkeyRequestExample,
  requestOptionsSchema as passkeyRequestSchema,
  assertionCredentialExample,
} from "../passkeys/schema.ts";
import {
  consumerUserExample,
  signInCodeRequestSchema,
  sessionSchema,
  signedInSchema,
  memberUserExample,
  userToWire,
  signInCodeVerificationSchema,
} from "./schema.ts";

const createRoute = createRouteFactory("sign-in");

const signedInResponse = (user: object) => ({
  ...successResponse("Signed in.", "SignInAnswer", signedInSchema, { user, created: false }),
  headers: { "Set-Cookie": { description: "The session cookie.", schema: { type: "string" as const } } },
});

const passkeySignInSchema = z.object({ credential: signedCredentialSchema }).openapi("PasskeyProof");

const requestSignInCodeRoute = createRoute({
  method: "post",
  path: "/v1/auth/request-code",
  operationId: "requestLoginCode",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_REQUEST_PER_IP"), jsonBody, idempotencyGuard),
  summary: "Ask for a sign-in code",
  description:
    "Mails a six-digit code that is valid for ten minutes. The answer is the same whether or not the address is known, and whether or not a mail goes out: while a code is open the next one waits 60 seconds, and an address gets at most five in 15 minutes.",
  request: { body: requestBody(signInCodeRequestSchema, { email: "owner@acme-solar.example", realm: "business" }) },
  responses: {
    200: successResponse("Accepted, which says nothing about the address.", "CodeRequestAnswer", z.object({ accepted: z.literal(true) }), {
      accepted: true,
    }),
  },
});

const verifySignInCodeRoute = createRoute({
  method: "post",
  path: "/v1/auth/verify-code",
  operationId: "verifyLoginCode",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  summary: "Sign in with a code",
  description:
    "Begins a session: 12 hours for a member of a business, 30 days for a consumer, who is made at the first sign-in. An address that acts for several businesses is signed in to the one it was in last; the portal leads to the others. A code works once and bears five tries. Every reason not to sign in is the same refusal. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  request: { body: requestBody(signInCodeVerificationSchema, { email: "owner@acme-solar.example", code: "042917", realm: "business" }) },
  responses: { 200: signedInResponse(memberUserExample) },
  when: { login_failed: "Wrong address, wrong code, expired, used, no code outstanding, or too many tries: one answer for all of them." },
});

const createPasskeyOptionsRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/options",
  operationId: "askToSignInWithPasskey",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), noBody),
  summary: "Ask for what a passkey signs in with",
  description:
    "The options for `navigator.credentials.get()`, the same for everybody but for the challenge, which is good for five minutes, once. No idempotency key: a kept challenge may be spent already.",
  responses: { 200: successResponse("The options.", "PasskeyRequestAnswer", passkeyRequestSchema, { options: passkeyRequestExample }) },
  when: { rate_limited: "More than 120 a minute from one address of the network, together with `verify`." },
});

const signInWithPasskeyRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/verify",
  operationId: "signInWithPasskey",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  summary: "Sign in with a passkey",
  description:
    "Begins a consumer's session of 30 days, as a code does. Every reason not to sign in is the same refusal, and the challenge is spent by each. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  request: { body: requestBody(passkeySignInSchema, { credential: assertionCredentialExample }) },
  responses: { 200: signedInResponse(consumerUserExample) },
  when: {
    login_failed:
      "Unknown or removed passkey, wrong signature, origin or host, nobody verified at the device, a counter that went back, or a challenge that is unknown, expired or spent: one answer for all of them.",
  },
});

const signOutRoute = createRoute({
  method: "post",
  path: "/v1/auth/logout",
  operationId: "signOut",
  middleware: publicGuard(sameOriginGuard, noBody),
  summary: "Sign out",
  description: "Ends the session at once, wherever its cookie is. Without a session it does nothing and answers the same.",
  security: [{}, { session: [] }],
  responses: { 200: successResponse("Signed out.", "SignOutAnswer", z.object({ logged_out: z.literal(true) }), { logged_out: true }) },
});

const getSessionRoute = createRoute({
  method: "get",
  path: "/v1/auth/session",
  operationId: "currentSession",
  middleware: signedInGuard,
  summary: "Read who is signed in",
  description: "The person whose session cookie came with the request.",
  responses: { 200: successResponse("Who it is.", "SessionAnswer", sessionSchema, { ...memberUserExample, user: memberUserExample }) },
});

/** The browser keeps the session from here on. */
const respondSignedIn = (c: Context<AppEnv>, signed: Result<SignInResult>) => {
  if (signed.ok) setSessionCookie(c, signed.value.token, signed.value.user.realm);
  return respond(c, 200, signed, ({ user, created }) => ({ user: userToWire(user), created }));
};

export const signInRoutes = createApi();

signInRoutes.openapi(requestSignInCodeRoute, async (c) => {
  const asked = await requestSignInCode(c.var.services, { ...c.req.valid("json"), language: c.var.language });
  return respond(c, 200, asked, () => ({ accepted: true as const }));
});

signInRoutes.openapi(verifySignInCodeRoute, async (c) => {
  const { email, code, realm, name } = c.req.valid("json");
  const signed = await verifySignInCode(c.var.services, {
    email,
    code,
    realm,
    name: name ?? null,
    replaces: getSessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  return respondSignedIn(c, signed);
});

signInRoutes.openapi(createPasskeyOptionsRoute, async (c) =>
  success(c, 200, { options: { ...(await requestPasskeySignIn(c.var.services, getRelyingParty(c))) } }),
);

signInRoutes.openapi(signInWithPasskeyRoute, async (c) => {
  const signed = await signInWithPasskey(c.var.services, {
    party: getRelyingParty(c),
    signed: c.req.valid("json").credential,
    replaces: getSessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  return respondSignedIn(c, signed);
});

signInRoutes.openapi(signOutRoute, async (c) => {
  const token = getSessionToken(c);
  if (token !== null) {
    await signOut(c.var.services, token);
    clearSession(c);
  }
  return success(c, 200, { logged_out: true as const });
});

signInRoutes.openapi(getSessionRoute, async (c) => {
  const user = userToWire(await getSignedInUser(c.var.services, c.var.session));
  return success(c, 200, { ...user, user });
});
