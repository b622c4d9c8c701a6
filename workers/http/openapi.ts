// Builds the OpenAPI 3.1 document from the same route definitions that serve requests and parse their input.
import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { RefusalCode } from "../../core/refusals.ts";
import type { AppEnv } from "./context.ts";
import { failure } from "./envelope.ts";
import { mergeTerms, type Guard, type RefusalTerms, type GuardTerms } from "./guards/define-guard.ts";
import { failureResponses, describeSchemaError } from "./wire.ts";

type RouteSpec<P extends string> = Omit<RouteConfig, "path" | "middleware"> &
  RefusalTerms & { readonly path: P; readonly middleware: Guard };

/** Adds the guards' headers to 2xx responses. Other responses may be sent before every guard has run, so they get none. */
const withResponseHeaders = (responses: RouteConfig["responses"], headers: NonNullable<GuardTerms["responseHeaders"]>) => {
  if (Object.keys(headers).length === 0) return responses;
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      status.startsWith("2") ? { ...response, headers: { ...headers, ...(response as { readonly headers?: object }).headers } } : response,
    ]),
  );
};

const queryTerms: GuardTerms = { when: { invalid_request: "A query parameter is invalid. The message says which one and why." } };

/**
 * Returns a `createRoute` function for the routes of one tag. It adds the guards' headers, credentials and refusals to each route's
 * description, and `internal_error` to every route.
 */
export const createRouteFactory =
  (tag: string) =>
  <P extends string, R extends RouteSpec<P>>({ refuses = [], when = {}, ...route }: R) => {
    const { method, middleware, request, responses } = route;
    const queryTermsOfRoute = request?.query === undefined ? {} : queryTerms;
    const terms = mergeTerms([queryTermsOfRoute, middleware.terms ?? {}, { refuses, when }]);
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

/** Describes a request error. A repeated query parameter is an error, because it is unclear which value the caller wants. */
const describeRequestError = (c: Context<AppEnv>, target: string, error: z.ZodError): string => {
  const name = error.issues[0]?.path[0];
  const isRepeated = target === "query" && typeof name === "string" && (c.req.queries(name)?.length ?? 0) > 1;
  return isRepeated ? `${name}: must not be repeated.` : describeSchemaError(error);
};

/** Creates the app for a group of routes. Schema errors become `invalid_request`, or 404 for an ID in the path. */
export const createApi = (): OpenAPIHono<AppEnv> =>
  new OpenAPIHono<AppEnv>({
    defaultHook: (result, c) => {
      if (result.success) return undefined;
      // The only path parameters with schemas are IDs.
      if (result.target === "param") return failure(c, c.req.param("cert_id") === undefined ? "not_found" : "cert_not_found");
      return failure(c, "invalid_request", describeRequestError(c, result.target, result.error));
    },
  });

/** The version of the service and of the OpenAPI document. The API's version is in its path. */
export const serviceVersion = "1.0.0";

const describeCredentials = (app: OpenAPIHono<AppEnv>): void => {
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "http",
    scheme: "bearer",
    description:
      "`Authorization: Bearer sk_live_…`, or `sk_test_…` for sandbox records. An API key belongs to one business and gives access only to its records. It is shown once, when you create it. Limit: 120 requests per minute. While a payment is past due, the key is read-only.",
  });

  app.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: "__Host-svc_session",
    description:
      "Session cookie of a signed-in person, set by `POST /v1/auth/verify-code` and `POST /v1/auth/passkey/verify`. In development over plain HTTP, the cookie's name is `svc_session`. Access depends on who signed in: a consumer, or a member or owner of a business. Cross-site requests with unsafe methods are refused.",
  });
};

const introduction = `Turns form submissions into consent certificates that anyone can verify, and lets people share contact fields with businesses.

**Envelope.** Unless a route says otherwise, JSON responses are \`{"ok": true, "data": …, "request_id": …}\` or \`{"ok": false, "error": {"code", "message"}, "request_id": …}\`. \`request_id\` is also sent in the \`X-Request-Id\` header. Include it when you contact support.

**Errors.** Handle errors by \`code\`. \`message\` is for developers and never contains a value that you sent. Besides the codes listed with each route, an unknown path returns 404 \`not_found\`, an unsupported method returns 405 \`method_not_allowed\` with \`Allow\`, and a deployment with a missing or invalid setting returns 503 \`misconfigured\`.

**Times** are ISO 8601 in UTC with milliseconds.

**Rate limits.** Rate-limited routes return \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds). Above the limit, they return 429 with \`Retry-After\`.

**Idempotency.** To retry a POST safely, send an \`Idempotency-Key\` header: 1 to 64 letters (A-Z, a-z), digits, underscores or hyphens. Repeating a request within 24 hours with the same key and body changes nothing and returns the same data with \`Idempotency-Replayed: true\`. Repeating the key with a different body returns 409 \`idempotency_conflict\`. While the first request is still running, repeating it can return the same error with \`Retry-After\`. Keys are scoped to the caller and the path. A refused request does not use up its key. These POST routes ignore the header: \`verify-code\`, \`logout\`, \`certs/search\`, \`share/requests\`, \`reveal\`, \`passkey/verify\` and the passkey options.

**Versioning.** The version is in the path. Within /v1, changes only add to the API: ignore keys you do not recognize.`;

/** Returns the OpenAPI document. `apiOrigin` becomes its server URL. */
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
      { name: "certificates", description: "Issue, verify, list and retrieve consent certificates." },
      {
        name: "webhooks",
        description:
          "Manage the webhook endpoints that receive signed events. Members can list and test endpoints, and send deliveries again. Only owners can add, change and delete endpoints, and read or rotate their secrets.",
      },
      {
        name: "sign-in",
        description: "Sign in with an email code or a passkey. Manage your sessions and passkeys.",
      },
      {
        name: "agents",
        description: "Manage the tokens that AI assistants use to connect to our MCP (Model Context Protocol) server.",
      },
      {
        name: "sharing",
        description:
          "A person shares contact fields with a business through a single-use code with PKCE, and can revoke the share at any time.",
      },
      { name: "account", description: "Manage a consumer account: contact fields, shares, certificates, removals, export and deletion." },
      {
        name: "portal",
        description:
          "Manage a business account: sign-up, profile, domains, clients, API keys, members and certificates. Members can read; only owners can change settings.",
      },
      { name: "audit", description: "Read what happened to your records, with proof that no entry was changed or left out." },
      { name: "events", description: "Poll the events about your records in order. Webhooks deliver the same events." },
      {
        name: "sandbox",
        description:
          "Use a test key to advance the sandbox clock, trigger events and reset the sandbox. Nothing here affects live records.",
      },
      { name: "withdrawal", description: "Withdraw consent as a person, and record or acknowledge withdrawals as a business." },
      { name: "contact", description: "Check whether you may contact a person." },
      { name: "integration", description: "Generate the script tag for a form on your page." },
      { name: "billing", description: "Pay for a plan. Also includes the webhook that receives the payment provider's events." },
      { name: "service", description: "Health, public keys and the OpenAPI document." },
    ],
  });
};
