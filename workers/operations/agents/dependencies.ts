// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { ResolvedClient } from "../../../core/agents/oauth-client.ts";
import type { Counters, PageFetcher, ReadDependencies } from "../dependencies.ts";

export interface OAuthClientCache {
  /** Parsed documents by URL. */
  readonly oauthClients: BoundedMap<string, Promise<ResolvedClient>>;
  /** The registrable domains of the documents that are being fetched now, by URL. */
  readonly pendingOAuthReads: Map<string, string>;
}

export interface AgentDependencies extends ReadDependencies, Counters, OAuthClientCache, PageFetcher {}
