// A person whose account lies in another home than the business. Their home learns of the share before it exists, so no list of theirs
// is ever short of one; and afterwards the fields are looked at again, since no batch spans two homes.
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

type IntentServices = ShareWriteDependencies;

/** The share is made, or never will be: what changed in between is sent after it, and a share of somebody who is gone is ended and forgets them. */
export const settleShareIntent = async (
  services: IntentServices,
  consumerId: ConsumerId,
  shareId: ShareId,
  /** Of the fields that the share was made of; null when nobody knows any more. */
  revision: number | null,
): Promise<void> => {
  const own = services.shards.forId(consumerId);
  const there = services.shards.forId(shareId);
  const kept = await findContactFields(own, services.vault, consumerId);
  const found = await findChangeableShare(there, shareId, { consumerId }, services.clock());
  if (found === null) {
    await deleteShareIntent(own, shareId).run();
    return;
  }
  if (kept === null) {
    const chain = await findPersonChain(own, consumerId);
    const erased = chain === null || (await eraseInShard(services, there, { id: consumerId, chain })).isDone;
    if (erased) await deleteShareIntent(own, shareId).run();
    return;
  }
  const isCurrent = kept.revision === revision;
  const fanOut = { consumerId, shard: shardOfId(shareId), changed: contactKeys, revision: kept.revision };
  await batch(own, [deleteShareIntent(own, shareId), ...(isCurrent ? [] : [insertFieldFanout(own, fanOut, services.clock())])]);
  if (isCurrent) return;
  const allowed = withBudget(services, waitUntilBudget);
  services.waitUntil(() => continueFanOuts(allowed, allowed.shards.forId(consumerId)));
};

/** Grants whose process died in between. */
export const settleShareIntents = async (services: IntentServices, own: Database): Promise<void> => {
  for await (const { consumerId, shareId } of claimEach(services, (now) => claimShareIntent(own, now)))
    await runIsolated(services, "share intent", () => settleShareIntent(services, consumerId, shareId, null));
};
