// A change of fields goes on to where its batch did not reach: other homes, and shares beyond one batch. What waits is brought to the
// fields as they now are, so several changes that waited are told as one.
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
import { prepareShareUpdates } from "./prepare-share-updates.ts";

type FanOutServices = ContactFieldDependencies & Pick<Schedules, "scheduleEvents">;

/** One batch of it; finished with the last share. */
const fanOutBatch = async (services: FanOutServices, own: Database, waiting: FieldFanout): Promise<void> => {
  const { consumerId, shard, changed } = waiting;
  const now = services.clock();
  const there = services.shards.forId(`con_${shard}`);
  const kept = there === null ? null : await findContactFields(own, services.vault, consumerId);
  if (there === null || kept === null) {
    await finishFieldFanout(own, waiting).run();
    return;
  }
  const { fields, revision } = kept;
  const rows = await listOutdatedShares(there, consumerId, { keys: changed, revision, now });
  const [updates, indexes] = await Promise.all([prepareShareUpdates(services, rows, fields), computeContactIndexes(services, fields)]);
  await batch(there, [
    ...updateShareCopies(there, updates, { environment: "live", revision, now }),
    ...updateShareIndexes(there, consumerId, revision, indexes),
  ]);
  await (rows.length < maxCopiesPerBatch ? finishFieldFanout(own, waiting) : continueFieldFanout(own, waiting, now)).run();
  for (const businessId of new Set(rows.map((row) => row.businessId))) services.scheduleEvents(businessId, "live");
};

/** What waits in a home, until nothing is due or the allowance is used up. A home that does not answer is asked again a minute later. */
export const continueFanOuts = async (services: FanOutServices, own: Database): Promise<void> => {
  for await (const waiting of claimEach(services, (now) => claimFieldFanout(own, now)))
    await runIsolated(services, "field fan-out", () => fanOutBatch(services, own, waiting));
};
