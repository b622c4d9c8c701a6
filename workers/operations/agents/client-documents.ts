// Loads metadata documents of OAuth clients. Documents are cached per isolate.
import { findKnownClient } from "../../../core/agents/known-clients.ts";
import { clientFromDocument, type ResolvedClient } from "../../../core/agents/oauth-client.ts";
import { firstShard } from "../../../core/ids.ts";
import { secondMs, minuteMs, dayMs } from "../../../core/time.ts";
import type { Database } from "../../../storage/database.ts";
import { findSavedOAuthClient } from "../../../storage/oauth-clients.ts";
import { runIsolated } from "../../log.ts";
import type { Stores } from "../dependencies.ts";
import type { AgentDependencies } from "./dependencies.ts";

const fetchTimeoutMs = 5 * secondMs;
const maxDocumentBytes = 8 * 1_024;
const minCacheMs = 5 * minuteMs;
const maxCacheMs = dayMs;
const failureCacheMs = 30 * secondMs;

/**
 * The maximum number of concurrent fetches from one site. A slow host can block only fetches from its own site, and only until they time
 * out.
 */
const maxFetchesOfSite = 4;
/**
 * The maximum number of concurrent fetches from all sites, which limits this isolate's memory. To use up all of them, an attacker needs 50
 * registered domains (`maxFetches / maxFetchesOfSite`).
 */
const maxFetches = 200;

/**
 * Fetches a document. Returns `unreached` if the host's rate limit is used up, or if the host did not return a document. If the document is
 * invalid, `client` is null.
 */
const fetchClientDocument = async (services: AgentDependencies, url: URL): Promise<ResolvedClient | "unreached"> => {
  const rateLimit = await services.takeApproximately("OAUTH_DOCUMENTS_PER_HOST", url.host);
  if (!rateLimit.isAllowed) return "unreached";
  const result = await services.fetchPage({
    url: url.href,
    userAgent: "Svc-OAuth/1",
    isAllowedHost: (hostname) => hostname === url.hostname,
    ports: [443],
    timeoutMs: fetchTimeoutMs,
    maxBytes: maxDocumentBytes,
    accept: "json",
    maxRedirects: 0,
  });
  const fetchedAt = services.clock();
  if (result.outcome === "unreached" || (result.outcome === "nothing" && result.reason === "status")) return "unreached";
  const noClient = { client: null, fetchedAt, refetchAt: fetchedAt + failureCacheMs };
  if (result.outcome === "nothing") return noClient;
  const cacheMs = Math.min(Math.max((result.page.maxAgeSeconds ?? 0) * secondMs, minCacheMs), maxCacheMs);
  try {
    const client = clientFromDocument(url, JSON.parse(result.page.body));
    return client === null ? noClient : { client, fetchedAt, refetchAt: fetchedAt + cacheMs };
  } catch {
    return noClient; // the document is not JSON
  }
};

/** Returns the first shard's database, which stores the copies of client documents. */
export const getClientCopyDatabase = ({ shards }: Stores): Database => shards.get(firstShard);

/**
 * Fetches a document. If the host did not return it or too many fetches are in progress, uses the saved copy or, if there is none, the
 * built-in list of known clients. Throws if the client is not on this list and the database does not respond.
 */
const loadClientDocument = async (services: AgentDependencies, url: URL): Promise<ResolvedClient> => {
  const { pendingOAuthReads, clock } = services;
  const site = services.getSite(url.hostname);
  const ofSite = [...pendingOAuthReads.values()].filter((pending) => pending === site).length;
  const isAtLimit = ofSite >= maxFetchesOfSite || pendingOAuthReads.size >= maxFetches;
  if (!isAtLimit) pendingOAuthReads.set(url.href, site);
  try {
    const fetched = isAtLimit ? "unreached" : await fetchClientDocument(services, url);
    if (fetched !== "unreached") return fetched;
    const now = clock();
    const known = findKnownClient(url);
    const findSaved = () => findSavedOAuthClient(getClientCopyDatabase(services), url.href, now);
    const saved = await (known === null ? findSaved() : runIsolated(services, "agents", findSaved));
    return { client: saved ?? known, fetchedAt: null, refetchAt: now + failureCacheMs };
  } finally {
    if (!isAtLimit) pendingOAuthReads.delete(url.href);
  }
};

/**
 * Returns the cached document, or fetches it. Concurrent calls share one fetch, which continues even if the caller disconnects. Failures
 * are cached for 30 seconds.
 */
export const getClientDocument = async (services: AgentDependencies, url: URL): Promise<ResolvedClient> => {
  const { oauthClients, clock } = services;
  const cached = oauthClients.get(url.href);
  const current = await cached?.catch(() => undefined);
  if (current !== undefined && clock() < current.refetchAt) return current;
  const pending = oauthClients.get(url.href);
  if (pending !== undefined && pending !== cached) return pending; // while this call waited, another request started a fetch
  const load = loadClientDocument(services, url);
  oauthClients.set(url.href, load);
  // If this caller disconnects, the load must not stop. Otherwise, the promise would stay pending, and every later call would wait for it.
  services.waitUntil(async () => void (await load.catch(() => undefined)));
  return load;
};
