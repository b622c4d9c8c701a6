// Authenticates an agent token by its SHA-256 hash. The token contains the ID of the shard that stores the hash.
import { authorizeRead } from "../../../core/access/entitlement.ts";
import type { Agent } from "../../../core/agents/agent-token.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { findAgentByTokenHash } from "../../../storage/agent-tokens.ts";
import type { AgentDependencies } from "./dependencies.ts";

/** Returns true if the text does not have the form of an agent token. */
export const isMalformedAgentToken = (text: string): boolean => !hasSecretShape(text, "pat_");

/**
 * Returns the agent that the token belongs to. Returns null for a malformed, unknown, expired or revoked token, for a deleted person, and
 * for a business without read access.
 */
export const authenticateAgentToken = async (services: AgentDependencies, token: string): Promise<Agent | null> => {
  if (isMalformedAgentToken(token)) return null;
  const agent = await findAgentByTokenHash(services.shards.forId(token), sha256Hex(token), services.clock());
  return agent === null || (agent.realm === "business" && !authorizeRead(agent.business.status).ok) ? null : agent;
};
