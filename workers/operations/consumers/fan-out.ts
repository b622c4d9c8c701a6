// A change of fields goes on to where its batch did not reach: other homes, and shares beyond one batch. What waits is brought to the
// fields as they now are, so several changes that waited are told as one.
import { batch, type Database } from "../../../storage/database.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import {
  claimFanOut,
  continueFanOut,
  finishFanOut,
  maxCopies,
  outdatedShares,
  updateIndexes,
  updateShares,
  type FanOut,
} from "../../../storage/share-copies.ts";
import { failingAlone } from "../../log.ts";
import type { Phones, Runtime, Schedules, Stores } from "../../services.ts";
import { claimed } from "../allowance.ts";
import { contactIndexes, shareUpdates } from "./share-updates.ts";

type FanOutServices = Runtime & Stores & Phones & Pick<Schedules, "scheduleEvents">;

/** One batch of it; finished with the last share. */
const fanOutOnce = async (services: FanOutServices, own: Database, waiting: FanOut): Promise<void> => {
  const { consumerId, home, changed } = waiting;
  const now = services.clock();
  const there = services.homes.of(`con_${home}`);
  const kept = there === null ? null : await keptFields(own, services.vault, consumerId);
  if (there === null || kept === null) {
    await finishFanOut(own, waiting).run();
    return;
  }
  const { fields, revision } = kept;
  const rows = await outdatedShares(there, consumerId, { keys: changed, revision, now });
  const [updates, indexes] = await Promise.all([shareUpdates(services, rows, fields), contactIndexes(services, fields)]);
  await batch(there, [
    ...updateShares(there, updates, { environment: "live", revision, now }),
    ...updateIndexes(there, consumerId, revision, indexes),
  ]);
  await (rows.length < maxCopies ? finishFanOut(own, waiting) : continueFanOut(own, waiting, now)).run();
  for (const businessId of new Set(rows.map((row) => row.businessId))) services.scheduleEvents(businessId, "live");
};

/** What waits in a home, until nothing is due or the allowance is used up. A home that does not answer is asked again a minute later. */
export const continueFanOuts = async (services: FanOutServices, own: Database): Promise<void> => {
  for await (const waiting of claimed(services, (now) => claimFanOut(own, now)))
    await failingAlone(services, "field fan-out", () => fanOutOnce(services, own, waiting));
};
