// Every call of a tool stands in the audit chain of whoever's records the token opens: by the token's id, with the names of the
// arguments and never their values.
import type { Agent } from "../../../core/agents/agent-token.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { recordTokenUse } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import type { WriteDependencies } from "../dependencies.ts";

export interface ToolCallRecord {
  /** `unknown` for a name that is none: what was sent is not kept. */
  readonly tool: string;
  readonly outcome: "done" | "refused" | "failed";
  /** Those the tool knows. */
  readonly argumentNames: readonly string[];
}

/** Throws when it cannot be entered: then nothing of the call may be told. */
export const recordToolCall = async (
  services: WriteDependencies,
  agent: Agent,
  { tool, outcome, argumentNames }: ToolCallRecord,
): Promise<void> => {
  const { tokenId, ownerId, chain } = agent;
  const db = services.shards.forId(ownerId);
  const now = services.clock();
  const payload = { tool, outcome, arguments: argumentNames };
  const act = { type: "agent.called", entityType: "agent_token", entityId: tokenId, payload } as const;
  await commit(db, services, recordTokenUse(db, agent, now), [
    createAuditedEvent({ chain, actor: { kind: "agent", id: tokenId } }, act, now),
  ]);
};
