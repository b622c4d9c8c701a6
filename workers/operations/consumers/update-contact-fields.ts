// Implements PUT /v1/me/fields.
import type { Person } from "../../../core/access/principal.ts";
import { ok, type Result } from "../../../core/result.ts";
import { groupsFromKeys, type ContactFields, type FieldGroup, type ContactKey } from "../../../core/shares/fields.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import { isOutdatedFields } from "../../../storage/contact-fields.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { createTakeShareUpdates, prepareFieldsUpdate } from "./prepare-fields-update.ts";

export interface FieldsUpdate {
  readonly fields: ContactFields;
  readonly changedGroups: readonly FieldGroup[];
  /** The number of events in this transaction. Events in other shards follow in the background. */
  readonly eventsEmitted: number;
}

/**
 * An attempt fails only if another change by the same person is committed during it. Ten simultaneous changes therefore all succeed, even
 * if each round of attempts commits only one.
 */
const maxAttempts = 10;

/**
 * Applies a partial change. Null clears a field. One transaction updates the person's shares in the same shard, writes their events and
 * schedules the remaining shares. Writes nothing if the values are unchanged. Returns `invalid_request` for an invalid value,
 * `unauthorized` if the account no longer exists, and `storage_unavailable` after ten failed attempts.
 */
export const updateContactFields = async (
  services: ConsumerWriteDependencies,
  person: Person,
  change: ReadonlyMap<ContactKey, string | null>,
): Promise<Result<FieldsUpdate, "invalid_request" | "unauthorized" | "storage_unavailable">> => {
  const takeShareUpdates = createTakeShareUpdates(services);
  const attempt = async (): Promise<Result<FieldsUpdate, "invalid_request" | "unauthorized">> => {
    const prepared = await prepareFieldsUpdate(services, person, change, takeShareUpdates);
    if (!prepared.ok) return prepared;
    const { fields, changedKeys, write } = prepared.value;
    if (write === null) return ok({ fields, changedGroups: [], eventsEmitted: 0 });
    const [events] = await commit(services.shards.forId(person.id), services, write.statements, [write.domainEvent]);
    write.continueAfterCommit();
    return ok({ fields, changedGroups: groupsFromKeys(changedKeys), eventsEmitted: (events as D1Result).meta.changes });
  };
  return retryOnConflict([isOutdatedFields], attempt, maxAttempts);
};
