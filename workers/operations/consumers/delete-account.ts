import type { Person } from "../../../core/access/principal.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { beginAccountErasure } from "../../../storage/account-erasures.ts";
import { eraseInAllShards } from "./erase-in-all-shards.ts";
import type { EraseServices } from "./erase-in-shard.ts";

export interface AccountDeletion {
  /** By this call. */
  readonly sharesRevoked: number;
}

/** Refuses `unauthorized` for an account that is gone. Throws where a home does not answer; the rest then follows by itself. */
export const deleteAccount = async (
  services: EraseServices,
  { id }: Person,
  language: MailLanguage,
): Promise<Result<AccountDeletion, "unauthorized">> => {
  const own = services.shards.forId(id);
  if (!(await beginAccountErasure(own, { consumerId: id, language }, services.clock()))) return refuse("unauthorized");
  const { revokedCount } = await eraseInAllShards(services, own, { consumerId: id, language });
  return ok({ sharesRevoked: revokedCount });
};
