// The Hono app: every route, the middleware that runs before all routes, and the paths that each host serves. In production, each host
// serves only its own paths. In development, every host serves every path.
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { routePath } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import { firstShard, generateId } from "../core/ids.ts";
import { signInRoutes } from "./api/sign-in/routes.ts";
import { agentTokenRoutes } from "./api/agent-tokens/routes.ts";
import { adminRoutes } from "./api/admin/routes.ts";
import { auditRoutes } from "./api/audit/routes.ts";
import { billingRoutes } from "./api/billing/routes.ts";
import { certificateRoutes } from "./api/certificates/routes.ts";
import { accountExportToWire } from "./api/consumers/export-schema.ts";
import { consumerRoutes } from "./api/consumers/routes.ts";
import { consumerCertificateRoutes } from "./api/consumer-certificates/routes.ts";
import { removalRoutes } from "./api/removals/routes.ts";
import { contactCheckRoutes } from "./api/contact-check/routes.ts";
import { eventRoutes } from "./api/events/routes.ts";
import { registerFaultRoutes } from "./api/dev/fault-routes.ts";
import { describeWebhooks } from "./api/events/webhook-descriptions.ts";
import { integrationRoutes } from "./api/integration/routes.ts";
import { registerTransparencyLogRoutes } from "./api/transparency-logs/routes.ts";
import { oauthRoutes } from "./api/oauth/routes.ts";
import { passkeyRoutes } from "./api/passkeys/routes.ts";
import { accountRoutes } from "./api/portal/account-routes.ts";
import { portalCertificateRoutes } from "./api/portal/certificate-routes.ts";
import { domainRoutes } from "./api/portal/domain-routes.ts";
import { keyRoutes } from "./api/portal/key-routes.ts";
import { memberRoutes } from "./api/portal/member-routes.ts";
import { recipientRoutes } from "./api/portal/recipient-routes.ts";
import { refusedRequestRoutes } from "./api/portal/refused-request-routes.ts";
import { createServiceRoutes } from "./api/service/routes.ts";
import { sessionRoutes } from "./api/sessions/routes.ts";
import { sandboxRoutes } from "./api/sandbox/routes.ts";
import { shareRoutes } from "./api/shares/routes.ts";
import { webhookRoutes } from "./api/webhooks/routes.ts";
import { withdrawalRoutes } from "./api/withdrawals/routes.ts";
import type { Config } from "./env.ts";
import type { AppEnv } from "./http/context.ts";
import { corsRules } from "./http/cross-origin.ts";
import { failure } from "./http/envelope.ts";
import { handleError } from "./http/error-handler.ts";
import { recordRefusal } from "./http/refused-requests.ts";
import { createApi, openApiDocument } from "./http/openapi.ts";
import { acceptsHtml, renderNotFound } from "./pages/home/routes.ts";
import { renderMethodNotAllowed } from "./pages/shared/notice-pages.tsx";
import { agentServer } from "./mcp/agent-server.ts";
import { redirectEncodedFragment } from "./pages/shared/encoded-fragment.ts";
import { registerPageRoutes } from "./pages/routes.ts";
import { selectLanguage } from "./pages/shared/language.ts";
import { randomBytes } from "./platform/create-platform.ts";
import type { Services } from "./platform/platform.ts";

const surfaces: readonly { readonly setting: "baseUrl" | "verifyUrl" | "cdnUrl" | "mcpUrl" | "appUrl"; readonly paths: RegExp }[] = [
  { setting: "baseUrl", paths: /^\/(?:$|v1\/|ledger\/|audit\/|health$|status$|operator$|docs(?:\/|$)|\.well-known\/|a\/)/ },
  { setting: "verifyUrl", paths: /^\/(?:$|status$|withdraw$|c(?:\/|$)|\.well-known\/|a\/)/ },
  // The page script sends requests to the host that it was loaded from.
  { setting: "cdnUrl", paths: /^\/v1\/(?:svc[^/]*\.js|consent|share\/redeem)$/ },
  { setting: "mcpUrl", paths: /^\/(?:(?:mcp)?$|oauth\/(?:token|register|revoke)$|\.well-known\/oauth-)/ },
  { setting: "appUrl", paths: /^\/(?:$|status$|withdraw$|(?:app|portal|authorize|oauth\/(?:authorize|end)|stop|a|v1)(?:\/|$))/ },
];

const anyPath = /^/;

/** Creates a function that returns the paths of a host. In development, every host serves every path. */
const pathsByHost = (config: Config): ((host: string) => readonly RegExp[]) => {
  if (config.environment === "development") return () => [anyPath];
  const paths = new Map<string, RegExp[]>();
  for (const surface of surfaces) {
    const { host } = new URL(config[surface.setting]);
    paths.set(host, [...(paths.get(host) ?? []), surface.paths]);
  }
  return (host) => paths.get(host) ?? [];
};

/** Returns true if errors are shown as pages: for browsers, except on paths under /v1 and /.well-known. */
const showsErrorPage = (c: Context<AppEnv>): boolean => acceptsHtml(c) && !/^\/(?:v1|\.well-known)\//.test(c.req.path);

const respondNotFound = (c: Context<AppEnv>): Response | Promise<Response> =>
  showsErrorPage(c) ? renderNotFound(c) : failure(c, "not_found");

/** Responds with 405. Browsers get a page if the path supports GET, for example when they submit a form to it. Other responses are JSON. */
const respondMethodNotAllowed = (c: Context<AppEnv>, methods: readonly string[]): Response | Promise<Response> => {
  if (methods.includes("GET") && showsErrorPage(c)) return renderMethodNotAllowed(c, methods);
  c.header("Allow", methods.join(", "));
  return failure(c, "method_not_allowed");
};

/**
 * Responds with 404 if the host is unknown or does not serve the path. People type URLs of the verification host by hand, so that host
 * always responds with a page, unless it is also the API host.
 */
const restrictByHost = (config: Config) => {
  const pathsOf = pathsByHost(config);
  const [verifyHost, apiHost] = [new URL(config.verifyUrl).host, new URL(config.baseUrl).host];
  return createMiddleware<AppEnv>(async (c, next) => {
    const { host, pathname } = new URL(c.req.url);
    if (pathsOf(host).some((paths) => paths.test(pathname))) return next();
    return host === verifyHost && host !== apiHost ? renderNotFound(c) : respondNotFound(c);
  });
};

/** Default security headers. Pages set their own Content-Security-Policy. */
const securityHeaders = secureHeaders({
  overwrite: false,
  strictTransportSecurity: "max-age=31536000; includeSubDomains",
  xContentTypeOptions: true,
  referrerPolicy: "no-referrer",
  crossOriginOpenerPolicy: "same-origin",
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"] },
  permissionsPolicy: { camera: false, geolocation: false, microphone: false, payment: false, usb: false },
  crossOriginResourcePolicy: false, // pages on any site may load the page script, the transparency logs and the public responses
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false, // the frame-ancestors directive already covers this
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Prevents caching of responses whose route does not set Cache-Control. */
const defaultNoStore = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
});

/** Runs each request in a trace. The request's log line provides the name and the attributes of the trace. */
const traceRequest = createMiddleware<AppEnv>((c, next) => c.var.services.trace("request", next));

/** Writes one log line per request, and records refusals for the affected business. */
const logRequest = createMiddleware<AppEnv>(async (c, next) => {
  const { services } = c.var;
  const start = services.clock();
  await next();
  const { refused, caller } = c.var;
  services.log.request({
    request_id: c.var.requestId,
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    ms: services.clock() - start,
    ...(refused !== undefined && { code: refused }),
    ...(caller !== undefined && caller.businessId !== null && { business_id: caller.businessId }),
    ...(caller?.kind === "api_key" && { key_id: caller.id }),
    ...(caller?.kind === "agent_token" && { token_id: caller.id }),
  });
  recordRefusal(c, routePath(c, -1));
});

/** Refuses our own webhook deliveries. Otherwise, an endpoint with a URL of this service could start a delivery loop. */
const rejectOwnDeliveries = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.header("svc-delivery-id") !== undefined) return failure(c, "forbidden");
  await next();
});

/** Generates a request ID. With a length limit of 0, Hono ignores an ID from the caller. */
const assignRequestId = requestId({ limitLength: 0, generator: () => generateId("req_", firstShard, randomBytes) });

/** Responds with 503 `misconfigured` on every route, for a deployment whose settings are incomplete or invalid. */
export const misconfiguredApp = createApi();
misconfiguredApp.use(assignRequestId, securityHeaders, defaultNoStore);
misconfiguredApp.notFound((c) => {
  c.header("Access-Control-Allow-Origin", "*"); // the page script must be able to read the error code
  return failure(c, "misconfigured");
});

export const buildApp = (services: Services) => {
  const { config } = services;
  const app = createApi();
  let document: object | undefined;
  /** Builds the document on first use, because few isolates ever serve it. */
  const getOpenApiDocument = (): object => {
    if (document === undefined) {
      describeWebhooks(app);
      document = openApiDocument(app, new URL(config.baseUrl).origin);
    }
    return document;
  };

  app.use(assignRequestId);
  app.use(async (c, next) => {
    c.set("ip", c.req.header("cf-connecting-ip") ?? "0.0.0.0"); // Cloudflare overwrites any value from the client
    c.set("language", selectLanguage(undefined, c.req.header("accept-language")));
    c.set("services", services);
    await next();
  });
  app.use(traceRequest, logRequest, securityHeaders, defaultNoStore, rejectOwnDeliveries, restrictByHost(config));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => respondMethodNotAllowed(c as Context<AppEnv>, methods),
    }),
  );
  app.use(redirectEncodedFragment); // registered before the routes, because the log shows the handler that matched last as the route
  for (const [corsRule, paths] of corsRules) for (const path of paths) app.use(path, corsRule);
  for (const routes of [
    certificateRoutes,
    signInRoutes,
    sessionRoutes,
    passkeyRoutes,
    agentTokenRoutes,
    shareRoutes,
    consumerRoutes,
    consumerCertificateRoutes,
    removalRoutes,
    webhookRoutes,
    eventRoutes,
    sandboxRoutes,
    accountRoutes,
    domainRoutes,
    keyRoutes,
    memberRoutes,
    portalCertificateRoutes,
    recipientRoutes,
    refusedRequestRoutes,
    auditRoutes,
    integrationRoutes,
    billingRoutes,
    withdrawalRoutes,
    contactCheckRoutes,
    createServiceRoutes(getOpenApiDocument),
    adminRoutes,
  ])
    app.route("/", routes);
  app.route("/", agentServer);
  app.route("/", oauthRoutes);
  if (config.environment === "development") registerFaultRoutes(app);
  registerPageRoutes(app, config, { getOpenApiDocument, exportFile: accountExportToWire });
  registerTransparencyLogRoutes(
    app,
    config,
    services.shards.all().map(([shard]) => shard),
  );
  app.onError(handleError);
  app.notFound(respondNotFound);
  return app;
};
