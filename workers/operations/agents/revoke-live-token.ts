// Revokes an agent token without a session, for a link in an email or a revocation request (RFC 7009).
import type { Actor } from "../../../core/actor.ts";
import { createTokenEvent } from "../../../core/agents/agent-token.ts";
import { findTokenHolder, markTokenRevoked } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";

/**
 * Revokes a token immediately and records it. `by` is who ended it: its owner, the program that holds it, or the service. Does nothing for
 * unknown and ended tokens.
 */
export const revokeLiveToken = async (
  services: WriteDependencies,
  db: Database,
  selector: { readonly id: string } | { readonly tokenHash: string },
  by: "owner" | "agent" | "service",
): Promise<void> => {
  const now = services.clock();
  const found = await findTokenHolder(db, selector, now);
  if (found === null) return;
  const actors = { owner: found.holder.actor, agent: { kind: "agent", id: found.id }, service: { kind: "system" } } satisfies Record<
    typeof by,
    Actor
  >;
  const revoker = { ...found.holder, actor: actors[by] };
  const domainEvent = createTokenEvent(revoker, { type: "agent_token.revoked", id: found.id, at: now });
  await commit(db, services, [markTokenRevoked(db, found.id, now)], [domainEvent], hasPreviousChange());
};
