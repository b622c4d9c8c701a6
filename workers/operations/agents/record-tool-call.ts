// Records tool calls in the audit chain of the token's account, except for calls whose operation has already recorded the change. Entries
// contain the names of arguments, but never their values.
import type { Agent } from "../../../core/agents/agent-token.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { recordTokenUse } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import type { WriteDependencies } from "../dependencies.ts";

export interface ToolCallRecord {
  /**
   * The tool's name, or `unknown` if there is no such tool. An unknown name is text from the caller, which must not be stored in the audit
   * chain.
   */
  readonly tool: string;
  readonly outcome: "done" | "refused" | "failed";
  /** The names of the arguments that the tool defines. Other names are left out. */
  readonly argumentNames: readonly string[];
}

/** Commits the entry. If this throws, the caller must not return the tool's result. */
export const recordToolCall = async (
  services: WriteDependencies,
  agent: Agent,
  { tool, outcome, argumentNames }: ToolCallRecord,
): Promise<void> => {
  const { tokenId, ownerId, chain } = agent;
  const db = services.shards.forId(ownerId);
  const now = services.clock();
  const payload = { tool, outcome, arguments: argumentNames };
  const action = { type: "agent.called", entityType: "agent_token", entityId: tokenId, payload } as const;
  await commit(db, services, recordTokenUse(db, agent, now), [
    createAuditedEvent({ chain, actor: { kind: "agent", id: tokenId } }, action, now),
  ]);
};
