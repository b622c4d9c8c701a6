// Every surface on one app, and which host may answer which path. In production each host serves its own paths and
// refuses the others; locally one origin serves them all.
import type { Context, MiddlewareHandler } from "hono";
import { Hono } from "hono";
import { routePath } from "hono/route";
import { firstHome, newId } from "../core/ids.ts";
import { AreaRouter } from "./area-router.ts";
import { mountAudit } from "./api/audit.ts";
import { mountCertificates } from "./api/certificates.ts";
import { mountAuth } from "./api/auth.ts";
import { onFault, onUnknown } from "./api/faults.ts";
import type { Api } from "./api/context.ts";
import { failure } from "./api/envelope.ts";
import { mountEvents } from "./api/events.ts";
import { mountContact } from "./api/contact.ts";
import { complete } from "./api/headers.ts";
import { mountHealth } from "./api/health.ts";
import { mountWithdrawals } from "./api/withdrawals.ts";
import { mountLogs } from "./api/logs.ts";
import type { Config } from "./env.ts";
import { mountWebhooks } from "./api/webhooks.ts";
import { mountPages } from "./pages/mount.ts";
import { noSuchPage } from "./pages/notices.tsx";
import { openSchedulers } from "./background/schedulers.ts";
import type { AfterAnswer, Platform } from "./services.ts";

const surfaces: readonly { readonly setting: "baseUrl" | "verifyUrl" | "cdnUrl" | "mcpUrl" | "appUrl"; readonly paths: RegExp }[] = [
  { setting: "baseUrl", paths: /^\/(?:v1\/|ledger\/|audit\/|health$|docs(?:\/|$)|\.well-known\/|a\/)/ },
  { setting: "verifyUrl", paths: /^\/(?:c\/|\.well-known\/|a\/)/ },
  { setting: "cdnUrl", paths: /^\/v1\/svc[^/]*\.js$/ },
  { setting: "mcpUrl", paths: /^\/(?:mcp)?$/ },
  { setting: "appUrl", paths: /^\/(?:app|portal|authorize|a|v1)(?:\/|$)/ },
];

/** True when this host serves this path. A host that is none of ours serves nothing. */
const servesPath = (config: Config, host: string, path: string): boolean =>
  surfaces.some(({ setting, paths }) => new URL(config[setting]).host === host && paths.test(path));

/** True for the host that people type off a certificate: what it does not know, it says as a page. */
const answersPeople = (config: Config, host: string): boolean =>
  new URL(config.verifyUrl).host === host && new URL(config.baseUrl).host !== host;

export const securityHeaders: Readonly<Record<string, string>> = {
  "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Every answer carries its request id and the security headers; every request leaves one line in the log. */
const framed: MiddlewareHandler<Api> = async (c, next) => {
  const services = c.get("services");
  const start = services.clock();
  await next();
  complete(c);
  const [refused, principal, session] = [c.get("refused"), c.get("principal"), c.get("session")]; // c.var builds an object each time
  services.log.request({
    request_id: c.get("requestId"),
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    ms: services.clock() - start,
    ...(refused !== undefined && { code: refused }),
    ...(principal !== undefined && { business_id: principal.business.id, key_id: principal.keyId }),
    ...(session?.realm === "business" && { business_id: session.business.id }),
  });
};

/** Cloudflare sets this header and overwrites what a client sends; no other header names the caller. */
const callerAddress = (c: Context): string => c.req.header("cf-connecting-ip") ?? "0.0.0.0";

export const buildApp = (platform: Platform): Hono<Api> => {
  const app = new Hono<Api>({ router: new AreaRouter() });
  const scheduleBehind = openSchedulers(platform);
  const servesEverything = platform.config.environment === "development";
  app.use(async (c, next) => {
    const execution = c.executionCtx;
    const requestId = newId("req_", firstHome, platform.random);
    c.set("requestId", requestId);
    c.set("headers", { ...securityHeaders, "X-Request-Id": requestId });
    c.set("ip", callerAddress(c));
    const afterAnswer: AfterAnswer = (work) => execution.waitUntil(work());
    c.set("services", { ...platform, platform, afterAnswer, ...scheduleBehind(afterAnswer) });
    await next();
  });
  app.use(framed);
  app.use(async (c, next) => {
    // A delivery of ours that came back to us under some name: taken as a request, it could make the next one.
    if (c.req.header("svc-delivery-id") !== undefined) return failure(c, "forbidden");
    return next();
  });
  if (!servesEverything) {
    app.use(async (c, next) => {
      const url = new URL(c.req.url);
      if (servesPath(platform.config, url.host, url.pathname)) return next();
      return answersPeople(platform.config, url.host) ? noSuchPage(c) : failure(c, "not_found");
    });
  }
  mountHealth(app);
  mountCertificates(app);
  mountAuth(app);
  mountWebhooks(app);
  mountEvents(app);
  mountAudit(app);
  mountWithdrawals(app);
  mountContact(app);
  mountPages(app, platform.config);
  mountLogs(app, platform.config);
  app.onError(onFault);
  app.notFound(onUnknown(app));
  return app;
};
