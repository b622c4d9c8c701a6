// The names that programs know the agent server by, where they sign in. On a developer's machine they follow the name that was asked,
// since a person types localhost or 127.0.0.1 and programs compare.
import { mcpPath } from "../env.ts";
import type { RequestContext } from "./context.ts";
import { isPlainHttp } from "./guards/app-origin.ts";

export interface OAuthUrls {
  /** Who issues tokens: the agent server's origin. */
  readonly issuer: string;
  /** What tokens open: the agent server's address. */
  readonly resource: string;
  /** Where the person is asked: there is their session. */
  readonly authorize: string;
}

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export const getOAuthUrls = (c: RequestContext): OAuthUrls => {
  const { mcpUrl, appUrl } = c.var.services.config;
  const asked = new URL(c.req.url);
  const isLocal = isPlainHttp(c) && loopbackHosts.has(asked.hostname);
  const issuer = isLocal ? asked.origin : new URL(mcpUrl).origin;
  return { issuer, resource: `${issuer}${mcpPath}`, authorize: `${isLocal ? asked.origin : appUrl}/oauth/authorize` };
};
