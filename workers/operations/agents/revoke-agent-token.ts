// Revokes an agent token for its holder or an owner of the business.
import type { Session } from "../../../core/access/session.ts";
import { createTokenEvent, tokenOwnerFromSession } from "../../../core/agents/agent-token.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findTokenPrincipalId, markTokenRevoked } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { toTokenScope } from "./list-agent-tokens.ts";

/**
 * Revokes a token immediately. Returns `not_found` for unknown and ended tokens and for tokens of other accounts. Returns `owner_required`
 * if a member who is not an owner tries to revoke a colleague's token.
 */
export const revokeAgentToken = async (
  services: WriteDependencies,
  session: Session,
  id: string,
): Promise<Result<true, "not_found" | "owner_required">> => {
  const db = services.shards.forId(session.userId);
  const now = services.clock();
  const principalId = await findTokenPrincipalId(db, toTokenScope(session), id, now);
  if (principalId === null) return refuse("not_found");
  if (principalId !== session.userId && session.realm === "business" && session.role !== "owner") return refuse("owner_required");
  const domainEvent = createTokenEvent(tokenOwnerFromSession(session), { type: "agent_token.revoked", id, at: now });
  await commit(db, services, [markTokenRevoked(db, id, now)], [domainEvent], hasPreviousChange());
  return ok(true);
};
