// Erases a person's data: first their shares in every shard, and then the account.
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { shardOfId } from "../../../core/ids.ts";
import { eraseConsumer, type AccountErasure } from "../../../storage/account-erasures.ts";
import { commit } from "../../../storage/commit.ts";
import { isOutdatedFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { findPersonChain, listPersonShards, findAddressToErase } from "../../../storage/people.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { eraseInShard, type ErasureProgress } from "./erase-in-shard.ts";

/**
 * Erases the account last, so that an interrupted erasure can be continued. If a shard is unavailable, erases the data in the other shards
 * and then throws. `isDone` is false if the work budget ran out.
 */
export const eraseInAllShards = async (
  services: WriteDependencies,
  personDb: Database,
  { consumerId: id, language }: AccountErasure,
): Promise<ErasureProgress> => {
  const { vault } = services;
  const chain = await findPersonChain(personDb, id);
  if (chain === null) throw new Error("accounts: the account to erase is missing");
  const shardIds = new Set([...(await listPersonShards(personDb, id)), shardOfId(id)]);
  const erasing = [...shardIds].map(async (shard) => eraseInShard(services, services.shards.get(shard), { id, chain }));
  await Promise.allSettled(erasing); // let the other shards finish even if one of them fails
  const parts = await Promise.all(erasing);
  const revokedCount = parts.reduce((sum, part) => sum + part.revokedCount, 0);
  if (parts.some(({ isDone }) => !isDone)) return { revokedCount, isDone: false };
  const now = services.clock();
  const address = await findAddressToErase(personDb, vault, id);
  if (address === null) return { revokedCount, isDone: true }; // another process has already erased the account
  const { email: to, emailIndex } = address;
  const mail = await insertMail(personDb, vault, { template: "account_deleted", data: { at: now }, to, language, now });
  const action = { type: "account.deleted", entityType: "consumer", entityId: id } as const;
  const deleted = createAuditedEvent({ chain, actor: { kind: "consumer", id } }, action, now);
  try {
    await commit(personDb, services, [...eraseConsumer(personDb, id, emailIndex), ...mail], [deleted]);
  } catch (error) {
    if (!isOutdatedFields(error)) throw error; // otherwise, another process has already erased the account
  }
  services.scheduleMail();
  return { revokedCount, isDone: true };
};
