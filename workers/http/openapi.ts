// The OpenAPI 3.1 description, built from the very routes that are routed and that parse what arrives. Also the one kind of app
// that routes are written on: what its schemas refuse is answered as every other refusal.
import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { RefusalCode } from "../../core/refusals.ts";
import type { AppEnv } from "./context.ts";
import { failure } from "./envelope.ts";
import { mergeTerms, type Guard, type RefusalTerms, type GuardTerms } from "./guards/define-guard.ts";
import { failureResponses, describeSchemaError } from "./wire.ts";

/** What a route says of itself. */
type RouteSpec<P extends string> = Omit<RouteConfig, "path" | "middleware"> &
  RefusalTerms & { readonly path: P; readonly middleware: Guard };

/** Successes tell of the guards' headers; a redirection or a 304 does not come from the handler alone. */
const withResponseHeaders = (responses: RouteConfig["responses"], headers: NonNullable<GuardTerms["responseHeaders"]>) => {
  if (Object.keys(headers).length === 0) return responses;
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      status.startsWith("2") ? { ...response, headers: { ...headers, ...(response as { readonly headers?: object }).headers } } : response,
    ]),
  );
};

const queryTerms: GuardTerms = { when: { invalid_request: "The message names the parameter and the rule." } };

/**
 * How the routes of one word are made: each says what its own handler takes, refuses and answers, and the guards before it say the
 * rest. Any route can answer `internal_error`.
 */
export const createRouteFactory =
  (tag: string) =>
  <P extends string, R extends RouteSpec<P>>({ refuses = [], when = {}, ...route }: R) => {
    const { method, middleware, request, responses } = route;
    const ofRequest = request?.query === undefined ? {} : queryTerms;
    const terms = mergeTerms([ofRequest, middleware.terms ?? {}, { refuses, when }]);
    const codes = [...terms.refuses, ...(method === "get" ? [] : terms.refusesOnChange), ...Object.keys(terms.when), "internal_error"];
    return createRoute({
      tags: [tag],
      security: terms.security ?? [],
      ...route,
      request: { headers: terms.requestHeaders, ...request },
      responses: {
        ...withResponseHeaders(responses, terms.responseHeaders),
        ...failureResponses(new Set(codes as RefusalCode[]), terms.when),
      },
    } as unknown as R);
  };

/** A parameter of a query that is given twice could mean either, so it is refused. */
const describeRequestError = (c: Context<AppEnv>, target: string, error: z.ZodError): string => {
  const name = error.issues[0]?.path[0];
  const isTwice = target === "query" && typeof name === "string" && (c.req.queries(name)?.length ?? 0) > 1;
  return isTwice ? `${name}: must be given once.` : describeSchemaError(error);
};

/** An app for the routes of one word, put together in workers/app.ts. */
export const createApi = (): OpenAPIHono<AppEnv> =>
  new OpenAPIHono<AppEnv>({
    defaultHook: (result, c) => {
      if (result.success) return undefined;
      // Only an id can be wrong in a path.
      if (result.target === "param") return failure(c, c.req.param("cert_id") === undefined ? "not_found" : "cert_not_found");
      return failure(c, "invalid_request", describeRequestError(c, result.target, result.error));
    },
  });

/** Of the service and of its description; the API's own version is in its path. */
export const serviceVersion = "1.0.0";

const describeCredentials = (app: OpenAPIHono<AppEnv>): void => {
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "http",
    scheme: "bearer",
    description:
      "`Authorization: Bearer sk_live_…` (or `sk_test_…` for sandbox records). Made for one business and shown once; it opens the records of that business only. 120 requests a minute; past a payment that is due it reads and does not write.",
  });

  app.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: "__Host-svc_session",
    description:
      "A person who is signed in: the cookie that `POST /v1/auth/verify-code` and `POST /v1/auth/passkey/verify` set (in development over plain http it is named `svc_session`). What it opens depends on who signed in: a consumer, or a member or owner of a business. Unsafe methods are refused when they come from another site.",
  });
};

const introduction = `A form submission becomes a certificate of consent that anyone can check.

**Envelope.** Every JSON answer is \`{"ok": true, "data": …, "request_id": …}\` or \`{"ok": false, "error": {"code", "message"}, "request_id": …}\`, unless it says otherwise. \`request_id\` is also the header \`X-Request-Id\`: quote it to support.

**Errors.** Act on \`code\`; \`message\` is for people and never repeats what was sent. Besides the codes listed with each route, an unknown path answers 404 \`not_found\`, a wrong method 405 \`method_not_allowed\` with \`Allow\`, and a deployment that lacks a setting 503 \`misconfigured\` on every route.

**Times** are ISO 8601 in UTC with milliseconds.

**Limits.** Counted routes answer with \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds); past the limit 429 with \`Retry-After\`.

**Sending again.** A POST with a header \`Idempotency-Key\` (1 to 64 of A-Z a-z 0-9 _ -) can be sent again for 24 hours: the same key with the same body does nothing more and answers the same data, marked \`Idempotency-Replayed: true\`; with another body, or while the first is still being answered, it is 409 \`idempotency_conflict\`. A key is yours alone and belongs to one path; a refusal leaves it free. Only \`verify-code\`, \`logout\`, \`certs/search\`, \`reveal\`, \`passkey/verify\` and the options of passkeys take none.

**Versions.** The version is in the path. Within /v1 the surface only grows: ignore keys you do not know.`;

/** `apiOrigin` is where this deployment answers. */
export const openApiDocument = (app: OpenAPIHono<AppEnv>, apiOrigin: string): object => {
  describeCredentials(app);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "svc API",
      version: serviceVersion,
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" } as { name: string },
    },
    servers: [{ url: apiOrigin }],
    tags: [
      { name: "certificates", description: "Issue, verify, list and read certificates of consent." },
      {
        name: "webhooks",
        description:
          "Endpoints that events are posted to, signed. Managed by the people of a business who are signed in: members list, test and replay; owners also register, change, rotate, reveal and remove.",
      },
      {
        name: "sign-in",
        description:
          "Sign in with an e-mailed code, consumers also with a passkey. These routes set and end the session cookie of the portal and the consumer app, list a consumer's sessions and passkeys, and end or remove them.",
      },
      {
        name: "agents",
        description:
          "Tokens that an assistant connects to the agent server with. The server itself speaks the Model Context Protocol (docs/guides/agents.md).",
      },
      {
        name: "sharing",
        description: "A person shares contact fields with a business, by a single-use code with PKCE, and takes them back.",
      },
      { name: "account", description: "A person's own: their contact fields, everybody who holds something of theirs, and the end of it." },
      {
        name: "portal",
        description:
          "A business's own account: signing up, profile, domains, clients, keys, members and certificates. Members read; owners also change.",
      },
      { name: "audit", description: "What happened to your records, with the proof that nothing was changed or left out." },
      { name: "events", description: "What happened to your records, in order. The same events are pushed to your webhooks." },
      {
        name: "sandbox",
        description:
          "Test mode, by a test key: a clock to move, events to make happen, and the way back. Nothing of it reaches what is live.",
      },
      { name: "withdrawal", description: "The person takes consent back; the business records and acknowledges it." },
      { name: "contact", description: "Ask before contacting somebody." },
      { name: "integration", description: "The script tag for a form, written from the page." },
      { name: "billing", description: "Paying for a plan, and the payment provider's events." },
      { name: "service", description: "Health and keys of the service itself." },
    ],
  });
};
