// PUT /v1/me/fields.
import type { Person } from "../../../core/access/principal.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { applyFieldChanges, groupsFromKeys, type ContactFields, type FieldGroup, type ContactKey } from "../../../core/shares/fields.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import { findFieldsForUpdate, updateStoredFields, isOutdatedFields } from "../../../storage/contact-fields.ts";
import { updateShareCopies, updateShareIndexes, insertOwnShardFanout, insertFieldFanout } from "../../../storage/share-copies.ts";
import type { ConsumerWriteDependencies } from "./dependencies.ts";
import { withBudget, waitUntilBudget } from "../work-budget.ts";
import { computeContactIndexes } from "./compute-contact-indexes.ts";
import { continueFanOuts } from "./continue-fan-outs.ts";
import { loadEmailIndex } from "./load-email-index.ts";
import { prepareShareUpdates } from "./prepare-share-updates.ts";

export interface FieldsUpdate {
  readonly fields: ContactFields;
  readonly changedGroups: readonly FieldGroup[];
  /** Events written in this transaction. Events in other shards follow in the background. */
  readonly eventsEmitted: number;
}

const maxAttempts = 5; // an attempt can fail only because of other changes by the same person

/**
 * Applies a partial change; null clears a field. One transaction updates the person's shares in the same shard, writes their events and
 * schedules the remaining shares. Writes nothing if the values are unchanged. Returns `invalid_request` for an invalid value,
 * `unauthorized` if the account no longer exists, and `storage_unavailable` after five failed attempts.
 */
export const updateContactFields = async (
  services: ConsumerWriteDependencies,
  person: Person,
  change: ReadonlyMap<ContactKey, string | null>,
): Promise<Result<FieldsUpdate, "invalid_request" | "unauthorized" | "storage_unavailable">> => {
  const { vault } = services;
  const db = services.shards.forId(person.id);
  const attempt = async (): Promise<Result<FieldsUpdate, "invalid_request" | "unauthorized">> => {
    const now = services.clock();
    const stored = await findFieldsForUpdate(db, vault, person.id, [...change.keys()], now);
    if (stored === null) return refuse("unauthorized");
    const decided = applyFieldChanges(stored.fields, change, now, services.toE164);
    if (!decided.ok) return decided;
    const { fields, changedKeys } = decided.value;
    if (changedKeys.length === 0) return ok({ fields, changedGroups: [], eventsEmitted: 0 });
    const revision = stored.revision + 1;
    const shares = stored.shares.filter(({ scope }) => changedKeys.some((key) => scope.includes(key)));
    const indexes = await computeContactIndexes(services, fields, await loadEmailIndex(services, person));
    const fanOut = { consumerId: person.id, changed: changedKeys, revision };
    const [updated, updates] = await Promise.all([
      updateStoredFields(db, vault, person.id, { fields, revision: stored.revision }),
      prepareShareUpdates(services, shares, fields),
    ]);
    const rows = [
      ...updateShareCopies(db, updates, { environment: "live", revision, now }),
      ...updated,
      ...updateShareIndexes(db, person.id, revision, {
        ...(changedKeys.includes("email") && { email: indexes }),
        ...((changedKeys.includes("phone") || changedKeys.includes("country")) && { phone: indexes.phone }),
      }),
      insertOwnShardFanout(db, { ...fanOut, shard: shardOfId(person.id) }, now),
      ...stored.otherShards.map((shard) => insertFieldFanout(db, { ...fanOut, shard }, now)),
    ] as const;
    const payload = { groups: [...groupsFromKeys(changedKeys)] };
    const action = { type: "fields.updated", entityType: "consumer", entityId: person.id, payload } as const;
    const [events] = await commit(db, services, rows, [createAuditedEvent(person, action, now)]);
    for (const businessId of new Set(shares.map((share) => share.businessId))) services.scheduleEvents(businessId, "live");
    const budgeted = withBudget(services, waitUntilBudget);
    services.waitUntil(() => continueFanOuts(budgeted, budgeted.shards.forId(person.id)));
    return ok({ fields, changedGroups: groupsFromKeys(changedKeys), eventsEmitted: (events as D1Result).meta.changes });
  };
  return retryOnConflict([isOutdatedFields], attempt, maxAttempts);
};
