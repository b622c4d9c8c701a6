// Resolves an OAuth client ID to a registration or a metadata document.
import { parseDocumentUrl, type OAuthClient } from "../../../core/agents/oauth-client.ts";
import { parseRedirectUri } from "../../../core/agents/redirect-uri.ts";
import type { Runtime } from "../dependencies.ts";
import { getClientDocument } from "./client-documents.ts";
import type { AgentDependencies } from "./dependencies.ts";
import { parseRegisteredClient } from "./registered-clients.ts";

const isBlockedClient = ({ config }: Runtime, client: OAuthClient): boolean =>
  [client.host, ...client.redirectUris.map((uri) => parseRedirectUri(uri)?.host ?? null)].some(
    (host) => host !== null && config.oauthBlockedHosts.includes(host),
  );

const isOwnHost = ({ config }: Runtime, { host }: URL): boolean =>
  [config.baseUrl, config.verifyUrl, config.cdnUrl, config.mcpUrl, config.appUrl].some((ownUrl) => new URL(ownUrl).host === host);

/** Returns the client with this ID, or null for unknown clients, our own hosts and blocked hosts. */
export const resolveOAuthClient = async (services: AgentDependencies, id: string): Promise<OAuthClient | null> => {
  const url = parseDocumentUrl(id);
  if (url !== null && isOwnHost(services, url)) return null;
  const client = url === null ? await parseRegisteredClient(services, id) : (await getClientDocument(services, url)).client;
  return client === null || isBlockedClient(services, client) ? null : client;
};
