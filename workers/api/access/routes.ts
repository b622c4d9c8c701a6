// The wire of signing in and out. These are the only routes that set the session cookie.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { codePattern } from "../../../core/access/mailed-code.ts";
import { realms } from "../../../core/access/session.ts";
import { requestCode, signOut, userOf, verifyCode, type SignedInUser } from "../../operations/sign-in.ts";
import { pageLanguage } from "../../pages/language.ts";
import { jsonOnly, readJsonBody, readOptionalJsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { answer, failure, refusal, success } from "../../http/envelope.ts";
import { limitByAddress, preflight } from "../../http/guards.ts";
import { idempotentByAddress } from "../../http/idempotency.ts";
import { createRoute, mount } from "../../http/openapi.ts";
import { appOnly, clearSessionCookie, sameOrigin, sessionToken, setSessionCookie, signedIn } from "../../http/session-guards.ts";
import { envelope, enveloped, failures, idempotencyHeaders, rateHeaders, repeatHeaders, schemaFault } from "../../http/wire.ts";
import { setHeaders } from "./headers.ts";

const realmSchema = z
  .enum(realms as ["consumer", "business"])
  .openapi({ description: "`business` signs a member in to the portal, `consumer` a person in to the consumer app.", example: "business" });
const emailSchema = z.string().openapi({ description: "One e-mail address.", example: "owner@acme-solar.example" });

const requestSchema = z.object({ email: emailSchema, realm: realmSchema }).openapi("CodeRequest");
const verifySchema = z
  .object({
    email: emailSchema,
    code: z.string().regex(codePattern).openapi({ description: "The six digits from the mail.", example: "042917" }),
    realm: realmSchema,
    name: z
      .string()
      .nullish()
      .openapi({ description: "Your name, at most 200 characters. Kept when this is a consumer's first sign-in.", example: "Pat Example" }),
  })
  .openapi("CodeProof");

const userExample = {
  id: "mem_00k3v9d2m4q8x1c7b5n0t6w2h9",
  email: "owner@acme-solar.example",
  realm: "business",
  role: "owner",
  business_id: "biz_00f7m2k9x4c1v8b5n3q6t0w2h7",
};
const userSchema = z
  .object({
    id: z.string().openapi({ description: "`mem_…` for a member, `con_…` for a consumer." }),
    email: z.string().openapi({ description: "The address as it was first given." }),
    realm: z.enum(realms as ["consumer", "business"]),
    role: z.enum(["owner", "member"]).nullable().openapi({ description: "In the business; null for a consumer." }),
    business_id: z.string().nullable().openapi({ description: "Whose portal it is; null for a consumer." }),
  })
  .openapi("SignedInUser");

const json = <S extends z.ZodType>(schema: S, example: object) => ({ "application/json": { schema, example } });
const cookieHeader = { "Set-Cookie": { description: "The session cookie.", schema: { type: "string" as const } } };
const bodyRefusals = ["invalid_request", "csrf_failed", "payload_too_large", "unsupported_media_type", "storage_unavailable"] as const;

const requestRoute = createRoute({
  method: "post",
  path: "/v1/auth/request-code",
  operationId: "requestLoginCode",
  tags: ["sign-in"],
  summary: "Ask for a sign-in code",
  description:
    "Mails a six-digit code that is valid for ten minutes. The answer is the same whether or not the address is known, and whether or not a mail goes out: while a code is open the next one waits 60 seconds, and an address gets at most five in 15 minutes.",
  security: [],
  request: {
    headers: idempotencyHeaders,
    body: { required: true, content: json(requestSchema, { email: "owner@acme-solar.example", realm: "business" }) },
  },
  responses: {
    200: {
      description: "Accepted, which says nothing about the address.",
      headers: repeatHeaders,
      content: json(envelope("CodeRequestAnswer", z.object({ accepted: z.literal(true) })), enveloped({ accepted: true })),
    },
    ...failures([...bodyRefusals, "idempotency_conflict", "rate_limited"], {
      rate_limited: "More than 30 in an hour from one address of the network.",
    }),
  },
});

const verifyRoute = createRoute({
  method: "post",
  path: "/v1/auth/verify-code",
  operationId: "verifyLoginCode",
  tags: ["sign-in"],
  summary: "Sign in with a code",
  description:
    "Begins a session: 12 hours for a member of a business, 30 days for a consumer, who is made at the first sign-in. A code works once and bears five tries. Every reason not to sign in is the same refusal. A session that the browser had before ends. No idempotency key: a kept answer would be a session for whoever repeats it.",
  security: [],
  request: {
    body: { required: true, content: json(verifySchema, { email: "owner@acme-solar.example", code: "042917", realm: "business" }) },
  },
  responses: {
    200: {
      description: "Signed in.",
      headers: { ...rateHeaders, ...cookieHeader },
      content: json(
        envelope(
          "SignInAnswer",
          z.object({ user: userSchema, created: z.boolean().openapi({ description: "True at a consumer's first sign-in." }) }),
        ),
        enveloped({ user: userExample, created: false }),
      ),
    },
    ...failures(["login_failed", ...bodyRefusals, "rate_limited"], {
      login_failed: "Wrong address, wrong code, expired, used, no code outstanding, or too many tries: one answer for all of them.",
      rate_limited: "More than 120 a minute from one address of the network.",
    }),
  },
});

const logoutRoute = createRoute({
  method: "post",
  path: "/v1/auth/logout",
  operationId: "signOut",
  tags: ["sign-in"],
  summary: "Sign out",
  description: "Ends the session at once, wherever its cookie is. Without a session it does nothing and answers the same.",
  security: [{}, { session: [] }],
  responses: {
    200: {
      description: "Signed out.",
      content: json(envelope("SignOutAnswer", z.object({ logged_out: z.literal(true) })), enveloped({ logged_out: true })),
    },
    ...failures(["csrf_failed", "invalid_request", "payload_too_large", "unsupported_media_type", "storage_unavailable"], {
      invalid_request: "There is a body, and it is not JSON. None is needed.",
    }),
  },
});

const sessionSchema = userSchema
  .extend({ user: userSchema.openapi({ description: "The same, as signing in answers it: one reader serves both answers." }) })
  .openapi("Session");

const sessionRoute = createRoute({
  method: "get",
  path: "/v1/auth/session",
  operationId: "currentSession",
  tags: ["sign-in"],
  summary: "Read who is signed in",
  description: "The person whose session cookie came with the request.",
  security: [{ session: [] }],
  responses: {
    200: {
      description: "Who it is.",
      headers: rateHeaders,
      content: json(envelope("SessionAnswer", sessionSchema), enveloped({ ...userExample, user: userExample })),
    },
    ...failures(["unauthorized", "rate_limited", "storage_unavailable"], { rate_limited: "More than 120 a minute by one person." }),
  },
});

const userOnWire = ({ id, email, realm, role, businessId }: SignedInUser): object => ({ id, email, realm, role, business_id: businessId });

const ask = async (c: Context<Api>): Promise<Response> => {
  const body = await readJsonBody(c.req.raw, jsonOnly);
  if (!body.ok) return refusal(c, body);
  const parsed = requestSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const language = pageLanguage(undefined, c.req.header("accept-language"));
  return answer(c, 200, await requestCode(c.var.services, { ...parsed.data, language }));
};

const verify = async (c: Context<Api>): Promise<Response> => {
  const body = await readJsonBody(c.req.raw, jsonOnly);
  if (!body.ok) return refusal(c, body);
  const parsed = verifySchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const { email, code, realm, name } = parsed.data;
  const signed = await verifyCode(c.var.services, { email, code, realm, name: name ?? null, replaces: sessionToken(c) });
  if (!signed.ok) return refusal(c, signed);
  setSessionCookie(c, signed.value.token, realm);
  return success(c, 200, { user: userOnWire(signed.value.user), created: signed.value.created });
};

const logout = async (c: Context<Api>): Promise<Response> => {
  const body = await readOptionalJsonBody(c.req.raw);
  if (!body.ok) return refusal(c, body);
  const token = sessionToken(c);
  if (token !== null) {
    await signOut(c.var.services, token);
    clearSessionCookie(c);
    setHeaders(c, { "Clear-Site-Data": '"storage"' });
  }
  return success(c, 200, { logged_out: true });
};

const current = async (c: Context<Api>): Promise<Response> => {
  const { session, services } = c.var;
  if (session === undefined) return failure(c, "unauthorized");
  const user = userOnWire(await userOf(services, session));
  return success(c, 200, { ...user, user });
};

export const mountAuth = (app: Hono<Api>): void => {
  app.use("/v1/auth/*", appOnly, sameOrigin);
  app.options("/v1/auth/*", preflight("GET, POST", "Content-Type, Idempotency-Key"));
  mount(app, requestRoute, limitByAddress("AUTH_REQUEST_PER_IP"), idempotentByAddress, ask);
  mount(app, verifyRoute, limitByAddress("AUTH_VERIFY_PER_IP"), verify);
  mount(app, logoutRoute, logout);
  mount(app, sessionRoute, signedIn, current);
};
