// Authenticates an agent token by looking up its SHA-256 in the shard whose code the token contains. Every failure looks the same.
import { authorizeRead } from "../../../core/access/entitlement.ts";
import type { Agent } from "../../../core/agents/agent-token.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { findAgentByTokenHash } from "../../../storage/agent-tokens.ts";
import type { KnownKeyCache } from "../access/dependencies.ts";
import type { AgentDependencies } from "./dependencies.ts";

/** Returns whether the text cannot be a token, so that no lookup is needed. */
export const isMalformedAgentToken = (text: string): boolean => !hasSecretShape(text, "pat_");

/** Returns whether the token was valid when this isolate last checked it. Lookups of other tokens count against the caller's IP address. */
export const isKnownAgentToken = (services: KnownKeyCache, token: string): boolean =>
  services.knownKeyHashes.get(sha256Hex(token)) === true;

/** Returns null for a malformed, unknown, expired or revoked token, for a deleted person, and for a business without read access. */
export const authenticateAgentToken = async (services: AgentDependencies, token: string): Promise<Agent | null> => {
  if (isMalformedAgentToken(token)) return null;
  const tokenHash = sha256Hex(token);
  const agent = await findAgentByTokenHash(services.shards.forId(token), tokenHash, services.clock());
  if (agent === null || (agent.realm === "business" && !authorizeRead(agent.business.status).ok)) {
    services.knownKeyHashes.delete(tokenHash);
    return null;
  }
  services.knownKeyHashes.set(tokenHash, true);
  return agent;
};
