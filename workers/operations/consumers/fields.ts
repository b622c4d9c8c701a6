// The contact fields a person keeps. A change is one batch with what follows from it in the person's home: the copies of their shares,
// the events that tell the businesses, the audit entry. Other homes, and shares beyond one batch, follow from a row of that batch.
import type { Person } from "../../../core/access/principal.ts";
import { factOf } from "../../../core/facts.ts";
import { homeOfId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { changeFields, groupsOf, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import { fieldsToChange, isOutdatedFields, keptFields, updateFields } from "../../../storage/contact-fields.ts";
import { insertFanOut, insertOwnFanOut, updateIndexes, updateShares } from "../../../storage/share-copies.ts";
import type { Phones, Runtime, Schedules, Stores } from "../../services.ts";
import { afterAnswerAllowance, within } from "../allowance.ts";
import { continueFanOuts } from "./fan-out.ts";
import { contactIndexes, shareUpdates } from "./share-updates.ts";

/** Refuses `unauthorized` for a person who is gone. */
export const readFields = async (services: Stores, person: Person): Promise<Result<ContactFields, "unauthorized">> => {
  const kept = await keptFields(services.homes.of(person.id), services.vault, person.id);
  return kept === null ? refuse("unauthorized") : ok(kept.fields);
};

export interface FieldsPreview {
  readonly before: ContactFields;
  readonly after: ContactFields;
  readonly changed: readonly ContactKey[];
}

/** What a change would do, without doing it. Refuses as the change would. */
export const previewFields = async (
  services: Runtime & Stores & Phones,
  person: Person,
  change: ReadonlyMap<ContactKey, string | null>,
): Promise<Result<FieldsPreview, "invalid_request" | "unauthorized">> => {
  const before = await readFields(services, person);
  if (!before.ok) return before;
  const decided = changeFields(before.value, change, services.clock(), services.toE164);
  return decided.ok ? ok({ before: before.value, after: decided.value.fields, changed: decided.value.changed }) : decided;
};

export interface FieldsChange {
  readonly fields: ContactFields;
  readonly changedGroups: readonly FieldGroup[];
  /** Written before the answer; what other homes are told follows. */
  readonly eventsEmitted: number;
}

const maxReadings = 5; // each is another change of the same person's in between

/**
 * Applies a partial change: null clears a field. The same values again change nothing and tell nobody. Refuses a value that is none of
 * its kind, and `unauthorized` for a person who is gone.
 */
export const changeContactFields = async (
  services: Runtime & Stores & Phones & Schedules,
  person: Person,
  change: ReadonlyMap<ContactKey, string | null>,
): Promise<Result<FieldsChange, "invalid_request" | "unauthorized" | "storage_unavailable">> => {
  const { vault } = services;
  const db = services.homes.of(person.id);
  const attempt = async (): Promise<Result<FieldsChange, "invalid_request" | "unauthorized">> => {
    const now = services.clock();
    const kept = await fieldsToChange(db, vault, person.id, [...change.keys()], now);
    if (kept === null) return refuse("unauthorized");
    const decided = changeFields(kept.fields, change, now, services.toE164);
    if (!decided.ok) return decided;
    const { fields, changed } = decided.value;
    if (changed.length === 0) return ok({ fields, changedGroups: [], eventsEmitted: 0 });
    const revision = kept.revision + 1;
    const shares = kept.shares.filter(({ scope }) => changed.some((key) => scope.includes(key)));
    const indexes = await contactIndexes(services, fields);
    const fanOut = { consumerId: person.id, changed, revision };
    const [updated, updates] = await Promise.all([
      updateFields(db, vault, person.id, { fields, revision: kept.revision }),
      shareUpdates(services, shares, fields),
    ]);
    const rows = [
      ...updateShares(db, updates, { environment: "live", revision, now }),
      ...updated,
      ...updateIndexes(db, person.id, revision, {
        ...(changed.includes("email") && { email: indexes.email }),
        ...((changed.includes("phone") || changed.includes("country")) && { phone: indexes.phone }),
      }),
      insertOwnFanOut(db, { ...fanOut, home: homeOfId(person.id) }, now),
      ...kept.otherHomes.map((home) => insertFanOut(db, { ...fanOut, home }, now)),
    ] as const;
    const payload = { groups: [...groupsOf(changed)] };
    const act = { type: "fields.updated", entityType: "consumer", entityId: person.id, payload } as const;
    const [events] = await commit(db, services, rows, [factOf(person, act, now)]);
    for (const businessId of new Set(shares.map((share) => share.businessId))) services.scheduleEvents(businessId, "live");
    const allowed = within(services, afterAnswerAllowance);
    services.afterAnswer(() => continueFanOuts(allowed, allowed.homes.of(person.id)));
    return ok({ fields, changedGroups: groupsOf(changed), eventsEmitted: (events as D1Result).meta.changes });
  };
  return retrying([isOutdatedFields], attempt, maxReadings);
};
