// Sign-in and sign-out (SPEC Authentication). These are the only API routes that set the session cookie.
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Result } from "../../../core/result.ts";
import { trimTypedAddress } from "../../../core/email-address.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { AppEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress } from "../../http/guards/rate-limits.ts";
import { signedCredentialSchema } from "../../http/passkey-credentials.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { clearPendingSignIn, findPendingSignIn, identifySignInBrowser, savePendingSignIn } from "../../http/pending-sign-in.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { clearSession, getSessionToken, setSessionCookie } from "../../http/guards/session-cookie.ts";
import { anySessionGuard } from "../../http/guards/session.ts";
import { memberWithDefault, successResponse, requestBody } from "../../http/wire.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { signInWithPasskey } from "../../operations/access/sign-in-with-passkey.ts";
import { getSignedInUser } from "../../operations/access/get-signed-in-user.ts";
import { requestSignInCode } from "../../operations/access/request-sign-in-code.ts";
import { signOut } from "../../operations/access/sign-out.ts";
import type { SignInResult } from "../../operations/access/complete-sign-in.ts";
import { verifySignInCode } from "../../operations/access/verify-sign-in-code.ts";
import {
  requestOptionsExample as passkeyRequestExample,
  requestOptionsSchema as passkeyRequestSchema,
  assertionCredentialExample,
} from "../passkeys/schema.ts";
import {
  consumerUserExample,
  signInCodeRequestSchema,
  sessionSchema,
  realmSchema,
  signedInSchema,
  memberUserExample,
  userToWire,
  signInCodeVerificationSchema,
} from "./schema.ts";

const createRoute = createRouteFactory("sign-in");

const signedInResponse = (user: object) => ({
  ...successResponse("You are signed in.", "SignInResponse", signedInSchema, { user, created: false }),
  headers: { "Set-Cookie": { description: "The session cookie.", schema: { type: "string" as const } } },
});

const passkeySignInSchema = z
  .object({
    credential: signedCredentialSchema,
    realm: memberWithDefault(realmSchema, "consumer").meta({
      default: "consumer",
      description: "Realm of the passkey: `consumer` (default), or `business` for a member of a business.",
    }),
  })
  .openapi("PasskeyProof");

const requestSignInCodeRoute = createRoute({
  method: "post",
  path: "/v1/auth/request-code",
  operationId: "requestLoginCode",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_REQUEST_PER_IP"), jsonBody, idempotencyGuard),
  summary: "Request a sign-in code",
  description:
    "Emails a 6-digit code and a link, both valid for 10 minutes. The link opens a page with a button that signs the person in, but only in the browser that sent this request (identified by a cookie). The response does not reveal whether the email address is registered or whether an email was sent. A new code is sent at most once every 60 seconds while another one is active, at most 5 times in 15 minutes per email address, and at most 20 times a day per email address and realm.",
  request: { body: requestBody(signInCodeRequestSchema, { email: "owner@acme-solar.example", realm: "business" }) },
  responses: {
    200: successResponse(
      "Accepted. The response does not reveal whether the email address is registered.",
      "CodeRequestResponse",
      z.object({ accepted: z.literal(true) }),
      {
        accepted: true,
      },
    ),
  },
});

const sharedLimitRefusal = {
  rate_limited:
    "More than 120 requests per minute from one IP address (IPv6: one /64 network) to `verify-code`, `passkey/options`, `passkey/verify` and `logout` together.",
} as const;

const verifySignInCodeRoute = createRoute({
  method: "post",
  path: "/v1/auth/verify-code",
  operationId: "verifyLoginCode",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  summary: "Sign in with a code",
  description:
    "Starts a session: 12 hours for a member of a business, 30 days for a consumer. The first sign-in of a consumer creates the account. A member of several businesses is signed in to the one they used last, and can switch in the portal. Signing in never accepts an invitation: a person who belongs to no business gets a session of one hour with `role: null` and `business_id: null`, and accepts or declines in the portal. A code works once and allows 5 attempts from the browser that requested it (identified by a cookie) and 5 from all other browsers together. All failed attempts get the same error. Any previous session in the browser ends. Idempotency keys are ignored, because a stored response would contain a session.",
  request: { body: requestBody(signInCodeVerificationSchema, { email: "owner@acme-solar.example", code: "042917", realm: "business" }) },
  responses: { 200: signedInResponse(memberUserExample) },
  when: {
    ...sharedLimitRefusal,
    login_failed:
      "The email address or code is incorrect, or the code expired, was used or had too many attempts. The response does not say which.",
  },
});

const createPasskeyOptionsRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/options",
  operationId: "askToSignInWithPasskey",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), noBody),
  summary: "Get options to sign in with a passkey",
  description:
    "Returns the options for `navigator.credentials.get()`. The challenge can be used once, within 5 minutes. Idempotency keys are ignored, because a stored challenge might already have been used.",
  responses: {
    200: successResponse("Options for the browser.", "PasskeyRequestResponse", passkeyRequestSchema, { options: passkeyRequestExample }),
  },
  when: sharedLimitRefusal,
});

const signInWithPasskeyRoute = createRoute({
  method: "post",
  path: "/v1/auth/passkey/verify",
  operationId: "signInWithPasskey",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), jsonBody),
  summary: "Sign in with a passkey",
  description:
    "Starts a session: 30 days for a consumer, 12 hours for a member of a business. A member is signed in to the business in which they added the passkey. All failed attempts get the same error and use up the challenge. Any previous session in the browser ends. Idempotency keys are ignored, because a stored response would contain a session.",
  request: { body: requestBody(passkeySignInSchema, { credential: assertionCredentialExample }) },
  responses: { 200: signedInResponse(consumerUserExample) },
  when: {
    ...sharedLimitRefusal,
    login_failed:
      "The passkey is unknown, was removed or belongs to the other realm; its signature, origin or host is incorrect; the user was not verified; the counter went backward; or the challenge is unknown, expired or used. The response does not say which.",
  },
});

const signOutRoute = createRoute({
  method: "post",
  path: "/v1/auth/logout",
  operationId: "signOut",
  middleware: publicGuard(sameOriginGuard, limitByAddress("AUTH_VERIFY_PER_IP"), noBody),
  summary: "Sign out",
  description: "Ends the session immediately. Without a session, the request has no effect and gets the same response.",
  security: [{}, { session: [] }],
  responses: {
    200: successResponse("You are signed out.", "SignOutResponse", z.object({ logged_out: z.literal(true) }), { logged_out: true }),
  },
  when: sharedLimitRefusal,
});

const getSessionRoute = createRoute({
  method: "get",
  path: "/v1/auth/session",
  operationId: "currentSession",
  middleware: anySessionGuard,
  summary: "Read the current session",
  description:
    "Returns the signed-in user. `role` and `business_id` are `null` for a person who has been invited but has not joined a business yet.",
  responses: {
    200: successResponse("The signed-in user.", "SessionResponse", sessionSchema, { ...memberUserExample, user: memberUserExample }),
  },
});

const respondSignedIn = (c: Context<AppEnv>, result: Result<SignInResult>) => {
  if (result.ok) {
    setSessionCookie(c, result.value.token, result.value.user.realm);
    clearPendingSignIn(c);
  }
  return respond(c, 200, result, ({ user, created }) => ({ user: userToWire(user), created }));
};

export const signInRoutes = createApi();

signInRoutes.openapi(requestSignInCodeRoute, async (c) => {
  const { email, realm } = c.req.valid("json");
  const browser = await identifySignInBrowser(c);
  const requested = await requestSignInCode(c.var.services, { email, realm, language: c.var.language, browser });
  if (requested.ok) await savePendingSignIn(c, { email: trimTypedAddress(email), browser, next: null });
  return respond(c, 200, requested, () => ({ accepted: true as const }));
});

signInRoutes.openapi(verifySignInCodeRoute, async (c) => {
  const { email, code, realm, name } = c.req.valid("json");
  const result = await verifySignInCode(c.var.services, {
    email,
    code,
    realm,
    name: name ?? null,
    replaces: getSessionToken(c),
    userAgent: c.req.header("user-agent"),
    browser: (await findPendingSignIn(c))?.browser ?? null,
  });
  return respondSignedIn(c, result);
});

signInRoutes.openapi(createPasskeyOptionsRoute, async (c) =>
  success(c, 200, { options: { ...(await requestPasskeySignIn(c.var.services, getRelyingParty(c))) } }),
);

signInRoutes.openapi(signInWithPasskeyRoute, async (c) => {
  const result = await signInWithPasskey(c.var.services, {
    party: getRelyingParty(c),
    signed: c.req.valid("json").credential,
    realm: c.req.valid("json").realm,
    replaces: getSessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  return respondSignedIn(c, result);
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
