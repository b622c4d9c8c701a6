// Whose assistant is calling. A token is found by its SHA-256 in the home it names; whatever is wrong with it, the answer is the same.
import { authorizeRead } from "../../../core/access/entitlement.ts";
import type { Agent } from "../../../core/agents/agent-token.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { findAgentByTokenHash } from "../../../storage/agent-tokens.ts";
import type { KnownKeyCache } from "../access/dependencies.ts";
import type { AgentDependencies } from "./dependencies.ts";

/** Whether nobody can have such a token, so that no store is asked to refuse it. */
export const isMalformedAgentToken = (text: string): boolean => !hasSecretShape(text, "pat_");

/** Whether this isolate has found the token right before: look-ups of others are counted against the caller's address. */
export const isKnownAgentToken = (services: KnownKeyCache, token: string): boolean =>
  services.knownKeyHashes.get(sha256Hex(token)) === true;

/** Null for a token that is malformed, unknown, ended or revoked, whose person is gone, or whose business may not read. */
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
