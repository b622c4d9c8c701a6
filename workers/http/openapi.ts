// The OpenAPI 3.1 document, generated from the same route definitions that validate requests, and the app factory whose schema errors
// become ordinary refusals.
import { createRoute, OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { RefusalCode } from "../../core/refusals.ts";
import type { AppEnv } from "./context.ts";
import { failure } from "./envelope.ts";
import { mergeTerms, type Guard, type RefusalTerms, type GuardTerms } from "./guards/define-guard.ts";
import { failureResponses, describeSchemaError } from "./wire.ts";

/** A route definition: guards add their refusals, headers and security. */
type RouteSpec<P extends string> = Omit<RouteConfig, "path" | "middleware"> &
  RefusalTerms & { readonly path: P; readonly middleware: Guard };

/** Adds the guards' response headers to 2xx responses only. */
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
 * Creates the route factory for one tag. A route declares what its handler accepts, refuses and returns; its guards add the rest.
 * Every route can answer `internal_error`.
 */
export const createRouteFactory =
  (tag: string) =>
  <P extends string, R extends RouteSpec<P>>({ refuses = [], when = {}, ...route }: R) => {
    const { method, middleware, request, responses } = route;
    const requestTerms = request?.query === undefined ? {} : queryTerms;
    const terms = mergeTerms([requestTerms, middleware.terms ?? {}, { refuses, when }]);
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

/** A query parameter given twice is ambiguous and therefore refused. */
const describeRequestError = (c: Context<AppEnv>, target: string, error: z.ZodError): string => {
  const name = error.issues[0]?.path[0];
  const isRepeated = target === "query" && typeof name === "string" && (c.req.queries(name)?.length ?? 0) > 1;
  return isRepeated ? `${name}: must be given once.` : describeSchemaError(error);
};

/** Creates an app for a group of routes. Schema errors become refusals: 404 for a path parameter, else 400 `invalid_request`. */
export const createApi = (): OpenAPIHono<AppEnv> =>
  new OpenAPIHono<AppEnv>({
    defaultHook: (result, c) => {
      if (result.success) return undefined;
      // The only path parameters are ids, so an invalid one is an unknown record.
      if (result.target === "param") return failure(c, c.req.param("cert_id") === undefined ? "not_found" : "cert_not_found");
      return failure(c, "invalid_request", describeRequestError(c, result.target, result.error));
    },
  });

/** Version of the service and of the OpenAPI document; the API version is in the path. */
export const serviceVersion = "1.0.0";

const describeCredentials = (app: OpenAPIHono<AppEnv>): void => {
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "http",
    scheme: "bearer",
    description:
      "`Authorization: Bearer sk_live_…` (or `sk_test_…` for sandbox records). Created for one business and shown once; it gives access to that business's records only. 120 requests a minute. While a payment is past due it can read but not write.",
  });

  app.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: "__Host-svc_session",
    description:
      "The cookie that `POST /v1/auth/verify-code` and `POST /v1/auth/passkey/verify` set (named `svc_session` in development over plain http). What it gives access to depends on who signed in: a consumer, or a member or owner of a business. Unsafe methods are refused when they come from another site.",
  });
};

const introduction = `Turns a form submission into a consent certificate that anyone can verify.

**Envelope.** Every JSON response is \`{"ok": true, "data": …, "request_id": …}\` or \`{"ok": false, "error": {"code", "message"}, "request_id": …}\`, unless noted otherwise. \`request_id\` is also in the header \`X-Request-Id\`; include it when you contact support.

**Errors.** Handle \`code\`; \`message\` is for people and never echoes input. In addition to the codes listed for each route, an unknown path returns 404 \`not_found\`, a wrong method 405 \`method_not_allowed\` with \`Allow\`, and a deployment with missing settings 503 \`misconfigured\` on every route.

**Times** are ISO 8601 in UTC with milliseconds.

**Rate limits.** Limited routes return \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` (seconds); above the limit they return 429 with \`Retry-After\`.

**Idempotency.** A POST with the header \`Idempotency-Key\` (1 to 64 characters of A-Z a-z 0-9 _ -) can be repeated for 24 hours. The same key with the same body changes nothing more and returns the same data with \`Idempotency-Replayed: true\`. With another body, or while the first request is still running, it returns 409 \`idempotency_conflict\`. Keys are separate for each caller and path, and a refused request does not use up its key. \`verify-code\`, \`logout\`, \`certs/search\`, \`reveal\`, \`passkey/verify\` and the passkey options take no key.

**Versions.** The version is in the path. Within /v1 the API only grows: ignore keys you do not know.`;

/** Generates the document. `apiOrigin` is the origin of this deployment's API. */
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
      { name: "certificates", description: "Issue, verify, list and read consent certificates." },
      {
        name: "webhooks",
        description:
          "Endpoints that receive signed events. Signed-in members of a business list, test and replay them; owners also add, change and remove endpoints, and reveal and rotate their secrets.",
      },
      {
        name: "sign-in",
        description:
          "Sign in with an email code; consumers can also use a passkey. These routes start and end sessions of the portal and the consumer app, and manage a consumer's sessions and passkeys.",
      },
      {
        name: "agents",
        description:
          "Tokens for connecting an assistant to the agent server, which speaks the Model Context Protocol (docs/guides/agents.md).",
      },
      {
        name: "sharing",
        description: "A person shares contact fields with a business through a single-use code with PKCE, and can stop sharing.",
      },
      {
        name: "account",
        description: "A person's own account: contact fields, every business that holds their data, export and deletion.",
      },
      {
        name: "portal",
        description:
          "A business's own account: signup, profile, domains, clients, keys, members and certificates. Members can read; owners can also change.",
      },
      { name: "audit", description: "What happened to your records, with proof that nothing was changed or left out." },
      { name: "events", description: "What happened to your records, in order. Webhooks receive the same events." },
      {
        name: "sandbox",
        description: "Test mode, used with a test key: move the clock, trigger events and reset. Live records are never affected.",
      },
      { name: "withdrawal", description: "A person withdraws consent; the business records and acknowledges it." },
      { name: "contact", description: "Check whether you may contact a person." },
      { name: "integration", description: "Generate the script tag for a form from its page." },
      { name: "billing", description: "Pay for a plan, and receive the payment provider's events." },
      { name: "service", description: "Health and public keys of the service." },
    ],
  });
};
