// Implements DELETE /v1/me.
import type { Person } from "../../../core/access/principal.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { beginAccountErasure } from "../../../storage/account-erasures.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { eraseInAllShards } from "./erase-in-all-shards.ts";

export interface AccountDeletion {
  /** The number of shares that this call revoked. */
  readonly sharesRevoked: number;
}

/**
 * Revokes all shares and erases the account in every shard. Returns `unauthorized` if the account no longer exists. Throws if a shard is
 * unavailable. In that case, the background job finishes the erasure.
 */
export const deleteAccount = async (
  services: WriteDependencies,
  { id }: Person,
  language: Language,
): Promise<Result<AccountDeletion, "unauthorized">> => {
  const personDb = services.shards.forId(id);
  if (!(await beginAccountErasure(personDb, { consumerId: id, language }, services.clock()))) return refuse("unauthorized");
  const { revokedCount } = await eraseInAllShards(services, personDb, { consumerId: id, language });
  return ok({ sharesRevoked: revokedCount });
};
