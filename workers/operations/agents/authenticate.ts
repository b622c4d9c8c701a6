// Whose assistant is calling. A token is found by its SHA-256 in the home it names; whatever is wrong with it, the answer is the same.
import { mayRead } from "../../../core/access/entitlement.ts";
import type { Agent } from "../../../core/agents/token.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { agentByToken } from "../../../storage/agents.ts";
import type { Memories, Runtime, Stores } from "../../services.ts";

/** Whether nobody can have such a token, so that no store is asked to refuse it. */
export const isNoToken = (text: string): boolean => !hasSecretShape(text, "pat_");

/** Whether this isolate has found the token right before: look-ups of others are counted against the caller's address. */
export const isKnownToken = (services: Memories, token: string): boolean => services.knownKeys.get(sha256Hex(token)) === true;

/** Null for a token that is malformed, unknown, ended or revoked, whose person is gone, or whose business may not read. */
export const agentOf = async (services: Runtime & Stores & Memories, token: string): Promise<Agent | null> => {
  if (isNoToken(token)) return null;
  const tokenHash = sha256Hex(token);
  const agent = await agentByToken(services.homes.of(token), tokenHash, services.clock());
  if (agent === null || (agent.realm === "business" && !mayRead(agent.business.status).ok)) {
    services.knownKeys.delete(tokenHash);
    return null;
  }
  services.knownKeys.set(tokenHash, true);
  return agent;
};
