// Background job: copies changed contact fields to the shares that were not updated when the fields were saved. These shares are in other
// shards, did not fit into the batch, or exceeded the person's hourly limit on updates. Copies the current fields, so several pending
// changes of a field cause only one event per share.
import { batch, type Database } from "../../../storage/database.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import {
  claimFieldFanout,
  continueFieldFanout,
  finishFieldFanout,
  maxCopiesPerBatch,
  listOutdatedShares,
  updateShareIndexes,
  updateShareCopies,
  type FieldFanout,
} from "../../../storage/share-copies.ts";
import { runIsolated } from "../../log.ts";
import type { Schedules } from "../dependencies.ts";
import type { ContactFieldDependencies } from "./dependencies.ts";
import { claimEach } from "../work-budget.ts";
import { computeContactIndexes } from "./compute-contact-indexes.ts";
import { loadEmailIndex } from "./load-email-index.ts";
import { prepareShareUpdates } from "./prepare-share-updates.ts";

type FanOutServices = ContactFieldDependencies & Pick<Schedules, "scheduleEvents">;

/**
 * Updates one batch of shares. Deletes the outbox row after the last batch, or if the account no longer exists. If the batch would exceed
 * the person's limit on updates, postpones it.
 */
const fanOutBatch = async (services: FanOutServices, personDb: Database, fanOut: FieldFanout): Promise<void> => {
  const { consumerId, shard, changed } = fanOut;
  const now = services.clock();
  const shareDb = services.shards.forId(`con_${shard}`);
  const stored = await findContactFields(personDb, services.vault, consumerId);
  if (stored === null) {
    await finishFieldFanout(personDb, fanOut).run();
    return;
  }
  const { fields, revision } = stored;
  const found = await listOutdatedShares(shareDb, consumerId, { keys: changed, revision, now });
  const outdated = found.slice(0, services.config.limits.SHARE_UPDATES.count); // a batch larger than the limit would never be allowed
  const limit = outdated.length === 0 ? null : await services.takeExactly("SHARE_UPDATES", consumerId, outdated.length);
  if (limit?.isAllowed === false) {
    await continueFieldFanout(personDb, fanOut, now + limit.resetMs).run();
    return;
  }
  const ownIndex = await loadEmailIndex(services, { id: consumerId });
  const [updates, indexes] = await Promise.all([
    prepareShareUpdates(services, outdated, fields),
    computeContactIndexes(services, fields, ownIndex),
  ]);
  await batch(shareDb, [
    ...updateShareCopies(shareDb, updates, { environment: "live", revision, now }),
    ...updateShareIndexes(shareDb, consumerId, revision, { email: indexes, phone: indexes.phone }),
  ]);
  await (outdated.length === found.length && found.length < maxCopiesPerBatch
    ? finishFieldFanout(personDb, fanOut)
    : continueFieldFanout(personDb, fanOut, now)
  ).run();
  for (const businessId of new Set(outdated.map((share) => share.businessId))) services.scheduleEvents(businessId, "live");
};

/**
 * Applies the pending changes of people in this shard, within the work budget. Changes for an unavailable shard are retried a minute later.
 */
export const continueFanOuts = async (services: FanOutServices, personDb: Database): Promise<void> => {
  for await (const fanOut of claimEach(services, (now) => claimFieldFanout(personDb, now)))
    await runIsolated(services, "field fan-out", () => fanOutBatch(services, personDb, fanOut));
};
