// A person whose account lies in another home than the business. Their home learns of the share before it exists, so no list of theirs
// is ever short of one; and afterwards the fields are looked at again, since no batch spans two homes.
import type { Person } from "../../../core/access/principal.ts";
import { homeOfId, type ConsumerId, type ShareId } from "../../../core/ids.ts";
import { contactKeys } from "../../../core/shares/fields.ts";
import { chainOfPerson } from "../../../storage/people.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import { insertFanOut } from "../../../storage/share-copies.ts";
import { claimIntent, deleteIntent, insertIntent, noteHome } from "../../../storage/share-changes.ts";
import { changeableShare } from "../../../storage/shares.ts";
import { failingAlone } from "../../log.ts";
import type { Phones, Runtime, Schedules, Stores } from "../../services.ts";
import { afterAnswerAllowance, claimed, within } from "../allowance.ts";
import { continueFanOuts } from "../consumers/fan-out.ts";
import { eraseInHome } from "../consumers/erase-account.ts";

type IntentServices = Runtime & Stores & Phones & Schedules;

/** Rows for the batch of the grant where both lie in one home; otherwise they are written now, into the person's. */
export const writeIntent = async (
  services: Runtime & Stores,
  db: Database,
  person: Pick<Person, "id">,
  shareId: ShareId,
): Promise<readonly Statement[]> => {
  const home = homeOfId(shareId);
  if (homeOfId(person.id) === home) return [noteHome(db, person.id, home)];
  const own = services.homes.of(person.id);
  await batch(own, [noteHome(own, person.id, home), insertIntent(own, shareId, person.id, services.clock())]);
  return [];
};

/** The share is made, or never will be: what changed in between is sent after it, and a share of somebody who is gone is ended and forgets them. */
export const settleIntent = async (
  services: IntentServices,
  consumerId: ConsumerId,
  shareId: ShareId,
  /** Of the fields that the share was made of; null when nobody knows any more. */
  revision: number | null,
): Promise<void> => {
  const own = services.homes.of(consumerId);
  const there = services.homes.of(shareId);
  const kept = await keptFields(own, services.vault, consumerId);
  const found = await changeableShare(there, shareId, { consumerId }, services.clock());
  if (found === null) {
    await deleteIntent(own, shareId).run();
    return;
  }
  if (kept === null) {
    const chain = await chainOfPerson(own, consumerId);
    const erased = chain === null || (await eraseInHome(services, there, { id: consumerId, chain })).isDone;
    if (erased) await deleteIntent(own, shareId).run();
    return;
  }
  const isCurrent = kept.revision === revision;
  const fanOut = { consumerId, home: homeOfId(shareId), changed: contactKeys, revision: kept.revision };
  await batch(own, [deleteIntent(own, shareId), ...(isCurrent ? [] : [insertFanOut(own, fanOut, services.clock())])]);
  if (isCurrent) return;
  const allowed = within(services, afterAnswerAllowance);
  services.afterAnswer(() => continueFanOuts(allowed, allowed.homes.of(consumerId)));
};

/** Grants whose process died in between. */
export const settleIntents = async (services: IntentServices, own: Database): Promise<void> => {
  for await (const { consumerId, shareId } of claimed(services, (now) => claimIntent(own, now)))
    await failingAlone(services, "share intent", () => settleIntent(services, consumerId, shareId, null));
};
