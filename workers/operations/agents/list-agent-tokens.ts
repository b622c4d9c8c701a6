// Lists the agent tokens of the signed-in person or business.
import type { Session } from "../../../core/access/session.ts";
import type { AgentToken } from "../../../core/agents/agent-token.ts";
import { listLiveTokens, type AgentTokenScope } from "../../../storage/agent-tokens.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Selects whose tokens to list: a consumer's own tokens, or those of everyone in the member's business. */
export const toTokenScope = (session: Session): AgentTokenScope =>
  session.realm === "consumer" ? { principalId: session.userId } : { businessId: session.business.id };

/** Lists active tokens, newest first. */
export const listAgentTokens = (services: ReadDependencies, session: Session): Promise<readonly AgentToken[]> =>
  listLiveTokens(services.shards.forId(session.userId), services.vault, toTokenScope(session), services.clock());
