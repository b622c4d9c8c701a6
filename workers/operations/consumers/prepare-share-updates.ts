// Prepares new copies of changed contact fields for shares, with one event per changed group of fields. Compares the current fields with
// the share's copy, so no change is missed even if several changes are pending or out of order.
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

/**
 * Prepares the update of one share. An event contains the current values of all fields in its group that the share includes. Cleared fields
 * are null.
 */
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
 * Prepares one share at a time. Encryption runs on this thread, so preparing 500 shares in parallel would gain nothing. It would also cause
 * garbage collection that takes longer than the encryption itself.
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
