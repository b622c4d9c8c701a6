import { findKnownClient } from "../../../core/agents/known-clients.ts";
import { clientFromDocument, type ResolvedClient } from "../../../core/agents/oauth-client.ts";
import { firstShard } from "../../../core/ids.ts";
import { secondMs, minuteMs, dayMs } from "../../../core/time.ts";
import type { Database } from "../../../storage/database.ts";
import { findSavedOAuthClient } from "../../../storage/oauth-clients.ts";
import type { Stores } from "../dependencies.ts";
import type { AgentDependencies } from "./dependencies.ts";

const fetchTimeoutMs = 5 * secondMs;

const maxDocumentBytes = 8 * 1_024;

const minCacheMs = 5 * minuteMs;

const maxCacheMs = dayMs;

const failureCacheMs = 30 * secondMs;

const maxConcurrentFetches = 4;

// at once, so that documents that drip hold up nothing else here

/** `unreached`: its host did not say. What it said wrongly is an answer. */
const fetchClientDocument = async (services: AgentDependencies, url: URL): Promise<ResolvedClient | "unreached"> => {
  const counted = await services.takeByAddress("OAUTH_DOCUMENTS_PER_HOST", url.host);
  if (!counted.isAllowed) return "unreached";
  const answer = await services.fetchPage({
    url: url.href,
    userAgent: "Svc-OAuth/1",
    isAllowedHost: (hostname) => hostname === url.hostname,
    ports: [443],
    timeoutMs: fetchTimeoutMs,
    maxBytes: maxDocumentBytes,
    accept: "json",
    maxRedirects: 0,
  });
  const readAt = services.clock();
  if (answer.outcome === "unreached" || (answer.outcome === "nothing" && answer.reason === "status")) return "unreached";
  const none = { client: null, fetchedAt: readAt, refetchAt: readAt + failureCacheMs };
  if (answer.outcome === "nothing") return none;
  const keptMs = Math.min(Math.max((answer.page.maxAgeSeconds ?? 0) * secondMs, minCacheMs), maxCacheMs);
  try {
    const client = clientFromDocument(url, JSON.parse(answer.page.body));
    return client === null ? none : { client, fetchedAt: readAt, refetchAt: readAt + keptMs };
  } catch {
    return none; // no JSON
  }
};

export type ClientLookupServices = AgentDependencies;

export const getClientCopyDatabase = ({ shards }: Stores): Database => shards.get(firstShard);

/** From its address; else as it was in the last days, or as it is known to everybody. */
const loadClientDocument = async (services: ClientLookupServices, url: URL): Promise<ResolvedClient> => {
  const { pendingOAuthReads, clock } = services;
  const isTooMany = pendingOAuthReads.size >= maxConcurrentFetches;
  if (!isTooMany) pendingOAuthReads.add(url.href);
  try {
    const read = isTooMany ? "unreached" : await fetchClientDocument(services, url);
    if (read !== "unreached") return read;
    const now = clock();
    const client = (await findSavedOAuthClient(getClientCopyDatabase(services), url.href, now)) ?? findKnownClient(url);
    return { client, fetchedAt: null, refetchAt: now + failureCacheMs };
  } finally {
    if (!isTooMany) pendingOAuthReads.delete(url.href);
  }
};

/** A question that is under way is not asked again; a failure is asked again soon. */
export const getClientDocument = async (services: ClientLookupServices, url: URL): Promise<ResolvedClient> => {
  const { oauthClients, clock } = services;
  const remembered = oauthClients.get(url.href);
  const known = await remembered?.catch(() => undefined);
  if (known !== undefined && clock() < known.refetchAt) return known;
  const begun = oauthClients.get(url.href);
  if (begun !== undefined && begun !== remembered) return begun; // by another request, meanwhile
  const reading = loadClientDocument(services, url);
  oauthClients.set(url.href, reading);
  return reading;
};
