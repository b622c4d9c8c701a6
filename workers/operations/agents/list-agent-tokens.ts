import type { Session } from "../../../core/access/session.ts";
import type { AgentToken } from "../../../core/agents/agent-token.ts";
import { listLiveTokens, type AgentTokenScope } from "../../../storage/agent-tokens.ts";
import type { ReadDependencies } from "../dependencies.ts";

export const toTokenScope = (session: Session): AgentTokenScope =>
  session.realm === "consumer" ? { principalId: session.userId } : { businessId: session.business.id };

/** The live ones, newest first: a consumer's own, or all of a business. */
export const listAgentTokens = (services: ReadDependencies, session: Session): Promise<readonly AgentToken[]> => {
  return listLiveTokens(services.shards.forId(session.userId), services.vault, toTokenScope(session), services.clock());
};
