// Implements DELETE /v1/business/portal/keys/{key_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findApiKey, markApiKeyRevoked, isApiKeyRevokedAt } from "../../../storage/api-keys.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

/** Revokes an API key immediately. Revoking it again changes nothing and succeeds. Can return `not_found`. */
export const revokeApiKey = async (services: WriteDependencies, member: MemberSession, id: string): Promise<Result<true, "not_found">> => {
  const db = getBusinessDatabase(services, member);
  const found = await findApiKey(db, member.business.id, id);
  if (found === null) return refuse("not_found");
  if (found.revokedAt !== null) return ok(true);
  const at = services.clock();
  const action = { type: "api_key.revoked", entityType: "api_key", entityId: id } as const;
  await commitWithAudit(services, member, [markApiKeyRevoked(db, member.business.id, id, at)], action, {
    at,
    onlyIf: isApiKeyRevokedAt(id, at),
  });
  return ok(true);
};
