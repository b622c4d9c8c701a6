// What the fields as they are mean for each share: under what it is found, a new copy of its values, and an event for each group in which the
// copy it has is another. By the copy, and not by what somebody changed: of changes that wait or overtake each other, none is left untold.
import { canonicalJson } from "../../../core/canonical-json.ts";
import { comparableSubject } from "../../../core/certificates/matching.ts";
import type { EventType } from "../../../core/events/event.ts";
import { defaultCountry, groupsOf, inGroup, valuesIn, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { fieldsOfText, fieldsText } from "../../../storage/contact-fields.ts";
import { payloadContext, type ShareToUpdate, type ShareUpdate } from "../../../storage/share-copies.ts";
import { copyContext } from "../../../storage/share-values.ts";
import type { Phones, Stores } from "../../services.ts";

/** When a business asks about an address or a number: as certificates are, by what the values compare as. */
export const contactIndexes = async ({ vault, toE164 }: Stores & Phones, fields: ContactFields) => {
  const values = new Map(Object.entries(fields).map(([key, { value }]) => [key, value]));
  const { email, phone } = comparableSubject(values, values.get("country") ?? defaultCountry, toE164);
  const [emailIndex, phoneIndex] = await Promise.all([
    email === null ? null : vault.blindIndex("email", email),
    phone === null ? null : vault.blindIndex("phone", phone),
  ]);
  return { email: emailIndex, phone: phoneIndex };
};

const within = (fields: ContactFields, scope: readonly ContactKey[]): ContactFields =>
  Object.fromEntries(scope.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])));

const differ = (a: ContactFields, b: ContactFields, scope: readonly ContactKey[]): readonly ContactKey[] =>
  scope.filter((key) => a[key]?.value !== b[key]?.value);

/** An event tells all fields of its group that are in scope, as they now are: null where one was cleared. */
const shareUpdate = async ({ vault }: Stores, share: ShareToUpdate, fields: ContactFields): Promise<ShareUpdate> => {
  const { id, businessId, scope } = share;
  const sealer = await vault.under(share.keySealed);
  const context = copyContext(id, businessId);
  const groups = groupsOf(differ(fieldsOfText(await sealer.open(context, share.valuesSealed)), fields, scope));
  const [sealed, events] = await Promise.all([
    sealer.seal(context, fieldsText(within(fields, scope))),
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

/**
 * One after the other: sealing happens on this thread, so nothing is gained by beginning five hundred at once, and what all of them hold
 * until the last is done costs the collector more than the sealing.
 */
export const shareUpdates = async (
  services: Stores,
  shares: readonly ShareToUpdate[],
  fields: ContactFields,
): Promise<readonly ShareUpdate[]> => {
  const updates: ShareUpdate[] = [];
  for (const share of shares) updates.push(await shareUpdate(services, share, fields));
  return updates;
};
