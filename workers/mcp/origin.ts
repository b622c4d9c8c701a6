// Checks the Origin header, which browsers send with every POST. The check stops third-party pages that use a stolen token, or that try to
// reach a local server through DNS rebinding. Other clients send no Origin and are allowed.
import type { RequestContext } from "../http/context.ts";
import { loopbackHosts } from "../http/oauth-urls.ts";

const isLoopbackOrigin = (origin: string): boolean => {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  return url !== null && url.origin === origin && loopbackHosts.has(url.hostname);
};

/**
 * Production allows our own origins and requests without an Origin header. Development also allows loopback origins, but accepts requests
 * only to a loopback host or the agent server's host.
 */
export const isAllowedOrigin = (c: RequestContext): boolean => {
  const { environment, mcpUrl, appUrl } = c.var.services.config;
  const origin = c.req.header("origin");
  const ownOrigins = [mcpUrl, appUrl].map((url) => new URL(url).origin);
  if (environment !== "development") return origin === undefined || ownOrigins.includes(origin);
  const { hostname, host } = new URL(c.req.url);
  if (!loopbackHosts.has(hostname) && host !== new URL(mcpUrl).host) return false;
  return origin === undefined || ownOrigins.includes(origin) || isLoopbackOrigin(origin);
};
