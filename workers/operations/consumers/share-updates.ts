// What a change of fields means for each share: a new copy of its values, and an event for each group that changed within its scope.
import { canonicalJson } from "../../../core/canonical-json.ts";
import type { EventType } from "../../../core/events/event.ts";
import { groupsOf, inGroup, valuesIn, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { fieldsText } from "../../../storage/contact-fields.ts";
import { payloadContext, type ShareToUpdate, type ShareUpdate } from "../../../storage/share-copies.ts";
import { copyContext } from "../../../storage/shares.ts";
import type { Stores } from "../../services.ts";

const within = (fields: ContactFields, scope: readonly ContactKey[]): ContactFields =>
  Object.fromEntries(scope.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])));

/** An event tells all fields of its group that are in scope, as they now are: null where one was cleared. */
const shareUpdate = async (
  { vault }: Stores,
  share: ShareToUpdate,
  fields: ContactFields,
  changed: readonly ContactKey[],
): Promise<ShareUpdate> => {
  const { id, businessId, scope } = share;
  const sealer = await vault.under(share.keySealed);
  const groups = groupsOf(changed.filter((key) => scope.includes(key)));
  const [sealed, events] = await Promise.all([
    sealer.seal(copyContext(id, businessId), fieldsText(within(fields, scope))),
    Promise.all(
      groups.map(async (group) => {
        const eventId = crypto.randomUUID();
        const data = canonicalJson({ ...valuesIn(fields, inGroup(scope, group)) });
        const type: EventType = `consumer.updated.${group}`;
        return { id: eventId, type, dataSealed: await sealer.seal(payloadContext(eventId, id), data) };
      }),
    ),
  ]);
  return { shareId: id, sealed, events };
};

export const shareUpdates = (
  services: Stores,
  shares: readonly ShareToUpdate[],
  fields: ContactFields,
  changed: readonly ContactKey[],
): Promise<readonly ShareUpdate[]> => Promise.all(shares.map((share) => shareUpdate(services, share, fields, changed)));
