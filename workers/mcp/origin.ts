// Which pages may call. A browser names the page it runs for, so a page of somebody else's cannot use a token that it has got hold
// of, nor reach a server on this machine under a name of its own (DNS rebinding). Other clients send no Origin.
import type { RequestContext } from "../http/context.ts";

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

const isLoopbackOrigin = (origin: string): boolean => {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  return url !== null && url.origin === origin && loopbackHosts.has(url.hostname);
};

export const isAllowedOrigin = (c: RequestContext): boolean => {
  const { environment, mcpUrl, appUrl } = c.var.services.config;
  const origin = c.req.header("origin");
  const own = [mcpUrl, appUrl].map((url) => new URL(url).origin);
  if (environment !== "development") return origin === undefined || own.includes(origin);
  const { hostname, host } = new URL(c.req.url);
  if (!loopbackHosts.has(hostname) && host !== new URL(mcpUrl).host) return false;
  return origin === undefined || own.includes(origin) || isLoopbackOrigin(origin);
};
