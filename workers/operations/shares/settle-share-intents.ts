// Settles grants by people whose account and share are in different shards. A transaction cannot span two shards, so the contact fields may
// have changed, or the account may have been erased, while the share was being written.
import { shardOfId, type ConsumerId, type ShareId } from "../../../core/ids.ts";
import { contactKeys } from "../../../core/shares/fields.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { findPersonChain } from "../../../storage/people.ts";
import { deleteShareIntent, claimShareIntent } from "../../../storage/share-changes.ts";
import { insertFieldFanout } from "../../../storage/share-copies.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import { runIsolated } from "../../log.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import { continueFanOuts } from "../consumers/continue-fan-outs.ts";
import { eraseInShard } from "../consumers/erase-in-shard.ts";
import { withBudget, waitUntilBudget, claimEach } from "../work-budget.ts";

/**
 * Deletes the intent after the grant has finished or failed. If the fields have changed in the meantime, schedules an update of the share's
 * copy. If the account no longer exists, revokes the share and erases the person's data from the share's shard. Repeating the call does no
 * harm.
 */
export const settleShareIntent = async (
  services: ShareWriteDependencies,
  consumerId: ConsumerId,
  shareId: ShareId,
  /** The revision of the contact fields in the share. If null (unknown), always schedules the update. */
  revision: number | null,
): Promise<void> => {
  const personDb = services.shards.forId(consumerId);
  const shareDb = services.shards.forId(shareId);
  const stored = await findContactFields(personDb, services.vault, consumerId);
  const found = await findChangeableShare(shareDb, shareId, { consumerId }, services.clock());
  if (found === null) {
    await deleteShareIntent(personDb, shareId).run();
    return;
  }
  if (stored === null) {
    const chain = await findPersonChain(personDb, consumerId);
    const erased = chain === null || (await eraseInShard(services, shareDb, { id: consumerId, chain })).isDone;
    if (erased) await deleteShareIntent(personDb, shareId).run();
    return;
  }
  const isCurrent = stored.revision === revision;
  const fanOut = { consumerId, shard: shardOfId(shareId), changed: contactKeys, revision: stored.revision };
  await batch(personDb, [
    deleteShareIntent(personDb, shareId),
    ...(isCurrent ? [] : [insertFieldFanout(personDb, fanOut, services.clock())]),
  ]);
  if (isCurrent) return;
  const budgeted = withBudget(services, waitUntilBudget);
  services.waitUntil(() => continueFanOuts(budgeted, budgeted.shards.forId(consumerId)));
};

/** Background job: settles the intents of interrupted grants in this shard, within the work budget. */
export const settleShareIntents = async (services: ShareWriteDependencies, personDb: Database): Promise<void> => {
  for await (const { consumerId, shareId } of claimEach(services, (now) => claimShareIntent(personDb, now)))
    await runIsolated(services, "share intent", () => settleShareIntent(services, consumerId, shareId, null));
};
