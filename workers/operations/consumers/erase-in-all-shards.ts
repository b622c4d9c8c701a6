import { createAuditedEvent } from "../../../core/domain-events.ts";
import { shardOfId } from "../../../core/ids.ts";
import { eraseConsumer, type AccountErasure } from "../../../storage/account-erasures.ts";
import { commit } from "../../../storage/commit.ts";
import { isOutdatedFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { findPersonChain, listPersonShards, findAddressToErase } from "../../../storage/people.ts";
import { eraseInShard, type EraseServices, type ErasureProgress } from "./erase-in-shard.ts";

/** Every home, and then the account itself. A home that fails leaves the rest to the cron. */
export const eraseInAllShards = async (
  services: EraseServices,
  own: Database,
  { consumerId: id, language }: AccountErasure,
): Promise<ErasureProgress> => {
  const { vault } = services;
  const chain = await findPersonChain(own, id);
  if (chain === null) throw new Error("accounts: nobody has this account");
  const homes = new Set([...(await listPersonShards(own, id)), shardOfId(id)]);
  const erasing = [...homes].map(async (home) => eraseInShard(services, services.shards.get(home), { id, chain }));
  await Promise.allSettled(erasing); // each goes on, whatever becomes of the others
  const parts = await Promise.all(erasing);
  const ended = parts.reduce((sum, part) => sum + part.revokedCount, 0);
  if (parts.some(({ isDone }) => !isDone)) return { revokedCount: ended, isDone: false };
  const now = services.clock();
  const to = await findAddressToErase(own, vault, id);
  const farewell = to === null ? [] : await insertMail(own, vault, { template: "account_deleted", data: { at: now }, to, language, now });
  const act = { type: "account.deleted", entityType: "consumer", entityId: id } as const;
  const deleted = createAuditedEvent({ chain, actor: { kind: "consumer", id } }, act, now);
  try {
    await commit(own, services, [...eraseConsumer(own, id), ...farewell], [deleted]);
  } catch (error) {
    if (!isOutdatedFields(error)) throw error; // another worker was here first
  }
  services.scheduleMail();
  return { revokedCount: ended, isDone: true };
};
