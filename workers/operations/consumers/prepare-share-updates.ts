// What the fields as they are mean for each share: under what it is found, a new copy of its values, and an event for each group in which the
// copy it has is another. By the copy, and not by what somebody changed: of changes that wait or overtake each other, none is left untold.
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import type { EventType } from "../../../core/events/event.ts";
import { groupsFromKeys, getScopedValues, filterKeysInGroup, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { parseContactFields, serializeContactFields } from "../../../storage/contact-fields.ts";
import { eventPayloadContext, type ShareToUpdate, type ShareUpdate } from "../../../storage/share-copies.ts";
import { shareCopyContext } from "../../../storage/share-values.ts";
import type { Stores } from "../dependencies.ts";

const pickFieldsInScope = (fields: ContactFields, scope: readonly ContactKey[]): ContactFields =>
  Object.fromEntries(scope.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])));

const findChangedKeys = (a: ContactFields, b: ContactFields, scope: readonly ContactKey[]): readonly ContactKey[] =>
  scope.filter((key) => a[key]?.value !== b[key]?.value);

/** An event tells all fields of its group that are in scope, as they now are: null where one was cleared. */
const prepareShareUpdate = async ({ vault }: Stores, share: ShareToUpdate, fields: ContactFields): Promise<ShareUpdate> => {
  const { id, businessId, scope } = share;
  const sealer = await vault.withRecordKey(share.keySealed);
  const context = shareCopyContext(id, businessId);
  const groups = groupsFromKeys(findChangedKeys(parseContactFields(await sealer.open(context, share.valuesSealed)), fields, scope));
  const [sealed, events] = await Promise.all([
    sealer.seal(context, serializeContactFields(pickFieldsInScope(fields, scope))),
    Promise.all(
      groups.map(async (group) => {
        const eventId = crypto.randomUUID();
        const data = toCanonicalJson({ ...getScopedValues(fields, filterKeysInGroup(scope, group)) });
        const type: EventType = `consumer.updated.${group}`;
        return { id: eventId, type, dataSealed: await sealer.seal(eventPayloadContext(eventId, id), data) };
      }),
    ),
  ]);
  return { shareId: id, sealed, events };
};

/**
 * One after the other: sealing happens on this thread, so nothing is gained by beginning five hundred at once, and what all of them hold
 * until the last is done costs the collector more than the sealing.
 */
export const prepareShareUpdates = async (
  services: Stores,
  shares: readonly ShareToUpdate[],
  fields: ContactFields,
): Promise<readonly ShareUpdate[]> => {
  const updates: ShareUpdate[] = [];
  for (const share of shares) updates.push(await prepareShareUpdate(services, share, fields));
  return updates;
};
