// The URLs of the agent server's OAuth authorization server. In development, they contain the host of the request, because developers use
// both localhost and 127.0.0.1, and clients compare URLs exactly.
import { mcpPath } from "../env.ts";
import type { RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

export interface OAuthUrls {
  /** Token issuer: the agent server's origin. */
  readonly issuer: string;
  /** The agent server's URL. Tokens are valid only for this resource. */
  readonly resource: string;
  /** The authorization page. It is on the app's host, where the session cookie is. */
  readonly authorize: string;
}

export const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export const getOAuthUrls = (c: RequestContext): OAuthUrls => {
  const { mcpUrl, appUrl } = c.var.services.config;
  const url = new URL(c.req.url);
  const isLocal = isPlainHttp(c) && loopbackHosts.has(url.hostname);
  const issuer = isLocal ? url.origin : new URL(mcpUrl).origin;
  return { issuer, resource: `${issuer}${mcpPath}`, authorize: `${isLocal ? url.origin : appUrl}/oauth/authorize` };
};
