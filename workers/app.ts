// Every surface on one app, and which host may answer which path. In production each host serves its own paths and
// refuses the others; locally one origin serves them all.
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { routePath } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import { firstHome, newId } from "../core/ids.ts";
import { access } from "./api/access/routes.ts";
import { agents } from "./api/agents/routes.ts";
import { admin } from "./api/admin/routes.ts";
import { audit } from "./api/audit/routes.ts";
import { billing } from "./api/billing/routes.ts";
import { certificates } from "./api/certificates/routes.ts";
import { exportToWire } from "./api/consumers/export.ts";
import { account } from "./api/consumers/routes.ts";
import { naming } from "./api/naming/routes.ts";
import { removals } from "./api/removals/routes.ts";
import { contact } from "./api/contact/routes.ts";
import { events } from "./api/events/routes.ts";
import { describeWebhooks } from "./api/events/webhooks.ts";
import { integration } from "./api/integration/routes.ts";
import { mountLogs } from "./api/logs/routes.ts";
import { oauth } from "./api/oauth/routes.ts";
import { passkeys } from "./api/passkeys/routes.ts";
import { accounts } from "./api/portal/account-routes.ts";
import { portalCertificates } from "./api/portal/certificate-routes.ts";
import { domains } from "./api/portal/domain-routes.ts";
import { keys } from "./api/portal/key-routes.ts";
import { members } from "./api/portal/member-routes.ts";
import { requests } from "./api/portal/request-routes.ts";
import { serviceRoutes } from "./api/service/routes.ts";
import { sessions } from "./api/sessions/routes.ts";
import { sandbox } from "./api/sandbox/routes.ts";
import { sharing } from "./api/shares/routes.ts";
import { webhooks } from "./api/webhooks/routes.ts";
import { withdrawals } from "./api/withdrawals/routes.ts";
import type { Config } from "./env.ts";
import type { Api } from "./http/context.ts";
import { readers } from "./http/cross-origin.ts";
import { failure } from "./http/envelope.ts";
import { onFault } from "./http/faults.ts";
import { noteRefusal } from "./http/refused-requests.ts";
import { newApi, openApiDocument } from "./http/openapi.ts";
import { isPerson, unknownAddress } from "./pages/home/first-page.ts";
import { agentServer } from "./mcp/app.ts";
import { mountPages } from "./pages/mount.ts";
import { pageLanguage } from "./pages/shared/language.ts";
import { randomBytes, type Services } from "./services.ts";

const surfaces: readonly { readonly setting: "baseUrl" | "verifyUrl" | "cdnUrl" | "mcpUrl" | "appUrl"; readonly paths: RegExp }[] = [
  { setting: "baseUrl", paths: /^\/(?:$|v1\/|ledger\/|audit\/|health$|docs(?:\/|$)|\.well-known\/|a\/)/ },
  { setting: "verifyUrl", paths: /^\/(?:$|withdraw$|c(?:\/|$)|\.well-known\/|a\/)/ },
  { setting: "cdnUrl", paths: /^\/v1\/(?:svc[^/]*\.js|consent|share\/redeem)$/ }, // the script asks where it was loaded from
  { setting: "mcpUrl", paths: /^\/(?:(?:mcp)?$|oauth\/(?:token|register|revoke)$|\.well-known\/oauth-)/ },
  { setting: "appUrl", paths: /^\/(?:$|withdraw$|(?:app|portal|authorize|oauth\/(?:authorize|end)|stop|a|v1)(?:\/|$))/ },
];

const everyPath = /^/;

/** Which paths each host serves. Development answers everything under any name of the machine. */
const pathsByHost = (config: Config): ((host: string) => readonly RegExp[]) => {
  if (config.environment === "development") return () => [everyPath];
  const paths = new Map<string, RegExp[]>();
  for (const surface of surfaces) {
    const { host } = new URL(config[surface.setting]);
    paths.set(host, [...(paths.get(host) ?? []), surface.paths]);
  }
  return (host) => paths.get(host) ?? [];
};

/** Nothing is under this address: a page where a person asks, JSON for programs, under /v1 and at well-known names. */
const unknown = (c: Context<Api>): Response | Promise<Response> =>
  isPerson(c) && !/^\/(?:v1|\.well-known)\//.test(c.req.path) ? unknownAddress(c) : failure(c, "not_found");

/** A host that is none of ours serves nothing. The host that people type off a certificate says so as a page. */
const servedByHost = (config: Config) => {
  const pathsOf = pathsByHost(config);
  const [peoplesHost, apiHost] = [new URL(config.verifyUrl).host, new URL(config.baseUrl).host];
  return createMiddleware<Api>(async (c, next) => {
    const { host, pathname } = new URL(c.req.url);
    if (pathsOf(host).some((paths) => paths.test(pathname))) return next();
    return host === peoplesHost && host !== apiHost ? unknownAddress(c) : unknown(c);
  });
};

/** Of every answer; a page brings the policy of its own. */
const securityHeaders = secureHeaders({
  overwrite: false,
  strictTransportSecurity: "max-age=31536000; includeSubDomains",
  xContentTypeOptions: true,
  referrerPolicy: "no-referrer",
  crossOriginOpenerPolicy: "same-origin",
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"] },
  permissionsPolicy: { camera: false, geolocation: false, microphone: false, payment: false, usb: false },
  crossOriginResourcePolicy: false, // the script, the logs and the public answers are for every page
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false, // frame-ancestors says it
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Nothing is kept by anybody in between, unless its route says so. */
const notStored = createMiddleware<Api>(async (c, next) => {
  await next();
  if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
});

/** Every request leaves one line in the log. */
const logged = createMiddleware<Api>(async (c, next) => {
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
  noteRefusal(c, routePath(c, -1));
});

/** Cloudflare sets this header and overwrites what a client sends; no other header names the caller. */
const callerAddress = (c: Context): string => c.req.header("cf-connecting-ip") ?? "0.0.0.0";

/** A delivery of ours that came back to us under some name: taken as a request, it could make the next one. */
const noDeliveries = createMiddleware<Api>(async (c, next) => {
  if (c.req.header("svc-delivery-id") !== undefined) return failure(c, "forbidden");
  await next();
});

/** Ours, whatever the caller sends. */
const ownRequestId = requestId({ limitLength: 0, generator: () => newId("req_", firstHome, randomBytes) });

/** A deployment that is not fit to run says so on every route and does nothing else. */
export const unfitApp = newApi();
unfitApp.use(ownRequestId, securityHeaders, notStored);
unfitApp.notFound((c) => {
  c.header("Access-Control-Allow-Origin", "*"); // a page's script is to read what is wrong
  return failure(c, "misconfigured");
});

export const buildApp = (services: Services) => {
  const { config } = services;
  const app = newApi();
  let document: object | undefined;
  /** Written when somebody first asks for it: few isolates are ever asked. */
  const describe = (): object => {
    if (document === undefined) {
      describeWebhooks(app);
      document = openApiDocument(app, new URL(config.baseUrl).origin);
    }
    return document;
  };

  app.use(ownRequestId);
  app.use(async (c, next) => {
    c.set("ip", callerAddress(c));
    c.set("language", pageLanguage(undefined, c.req.header("accept-language")));
    c.set("services", services);
    await next();
  });
  app.use(logged, securityHeaders, notStored, noDeliveries, servedByHost(config));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => {
        c.header("Allow", methods.join(", "));
        return failure(c as Context<Api>, "method_not_allowed");
      },
    }),
  );
  for (const [mayRead, paths] of readers) for (const path of paths) app.use(path, mayRead);
  const people = [sessions, passkeys, agents, sharing, account, naming, removals];
  const business = [accounts, domains, keys, members, portalCertificates, requests, audit, integration, billing];
  const ours = [serviceRoutes(describe), admin];
  for (const words of [certificates, access, ...people, webhooks, events, sandbox, ...business, withdrawals, contact, ...ours])
    app.route("/", words);
  app.route("/", agentServer);
  app.route("/", oauth);
  mountPages(app, config, { describe, exportFile: exportToWire });
  mountLogs(app, config);
  app.onError(onFault);
  app.notFound(unknown);
  return app;
};
