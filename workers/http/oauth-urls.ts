// The URLs of the OAuth authorization server for the agent server. In development they follow the requested host, because clients
// compare URLs exactly and developers use both localhost and 127.0.0.1.
import { mcpPath } from "../env.ts";
import type { RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

export interface OAuthUrls {
  /** Issuer of tokens: the origin of the agent server. */
  readonly issuer: string;
  /** Resource that tokens are valid for: the URL of the agent server. */
  readonly resource: string;
  /** Authorization page, on the app's host because the session cookie is there. */
  readonly authorize: string;
}

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export const getOAuthUrls = (c: RequestContext): OAuthUrls => {
  const { mcpUrl, appUrl } = c.var.services.config;
  const url = new URL(c.req.url);
  const isLocal = isPlainHttp(c) && loopbackHosts.has(url.hostname);
  const issuer = isLocal ? url.origin : new URL(mcpUrl).origin;
  return { issuer, resource: `${issuer}${mcpPath}`, authorize: `${isLocal ? url.origin : appUrl}/oauth/authorize` };
};
