// Prepares a change to a person's contact fields: the statements and the audit entry to commit, and the work after the commit. The change
// is committed alone or together with a decision on the consent sheet.
import type { Person } from "../../../core/access/principal.ts";
import { createAuditedEvent, type DomainEvent } from "../../../core/domain-events.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { applyFieldChanges, groupsFromKeys, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import type { Statement } from "../../../storage/database.ts";
import { findFieldsForUpdate, updateStoredFields } from "../../../storage/contact-fields.ts";
import { updateShareCopies, updateShareIndexes, insertOwnShardFanout, insertFieldFanout } from "../../../storage/share-copies.ts";
import type { ContactFieldDependencies } from "./dependencies.ts";
import type { Counters, Schedules } from "../dependencies.ts";
import { withBudget, waitUntilBudget } from "../work-budget.ts";
import { computeContactIndexes } from "./compute-contact-indexes.ts";
import { continueFanOuts } from "./continue-fan-outs.ts";
import { loadEmailIndex } from "./load-email-index.ts";
import { prepareShareUpdates } from "./prepare-share-updates.ts";

/** A change to contact fields that is ready to be committed in the person's shard. */
export interface FieldsWrite {
  /** The statements that write the change. The first one writes the events, one row for each. */
  readonly statements: readonly [Statement, ...Statement[]];
  readonly domainEvent: DomainEvent;
  /** Schedules the delivery of the events and the update of the remaining shares. Call it after the commit. */
  readonly continueAfterCommit: () => void;
}

export interface PreparedFieldsUpdate {
  readonly fields: ContactFields;
  /** The revision of the fields after the change. */
  readonly revision: number;
  readonly changedKeys: readonly ContactKey[];
  /** The change to commit; null if the values are unchanged. */
  readonly write: FieldsWrite | null;
}

/** Counts `count` share updates toward the person's limit. Returns whether the limit allows them. */
export type TakeShareUpdates = (person: Person, count: number) => Promise<boolean>;

/**
 * Returns a function for all attempts of one change. The first call counts the updates. Later calls are retries of the same change, so they
 * count nothing and return the first result.
 */
export const createTakeShareUpdates = (services: Pick<Counters, "takeExactly">): TakeShareUpdates => {
  let isAllowed: Promise<boolean> | undefined;
  return (person, count) => (isAllowed ??= services.takeExactly("SHARE_UPDATES", person.id, count).then((state) => state.isAllowed));
};

/**
 * Prepares a partial change. Null clears a field. Writes nothing to the database, but counts the share updates toward the person's limit.
 * Committing `write` fails if the fields have changed in the meantime (`isOutdatedFields`). Returns `invalid_request` for an invalid value,
 * and `unauthorized` if the account no longer exists.
 */
export const prepareFieldsUpdate = async (
  services: ContactFieldDependencies & Schedules,
  person: Person,
  change: ReadonlyMap<ContactKey, string | null>,
  takeShareUpdates: TakeShareUpdates,
): Promise<Result<PreparedFieldsUpdate, "invalid_request" | "unauthorized">> => {
  const { vault } = services;
  const db = services.shards.forId(person.id);
  const now = services.clock();
  const stored = await findFieldsForUpdate(db, vault, person.id, [...change.keys()], now);
  if (stored === null) return refuse("unauthorized");
  const decided = applyFieldChanges(stored.fields, change, now, services.toE164);
  if (!decided.ok) return decided;
  const { fields, changedKeys } = decided.value;
  if (changedKeys.length === 0) return ok({ fields, revision: stored.revision, changedKeys, write: null });
  const revision = stored.revision + 1;
  const affected = stored.shares.filter(({ scope }) => changedKeys.some((key) => scope.includes(key)));
  const isAllowed = affected.length === 0 || (await takeShareUpdates(person, affected.length));
  const shares = isAllowed ? affected : []; // if the person has reached the limit, the fan-out updates the shares later
  const indexes = await computeContactIndexes(services, fields, await loadEmailIndex(services, person));
  const fanOut = { consumerId: person.id, changed: changedKeys, revision };
  const [updated, updates] = await Promise.all([
    updateStoredFields(db, vault, person.id, { fields, revision: stored.revision }),
    prepareShareUpdates(services, shares, fields),
  ]);
  const statements = [
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
  const domainEvent = createAuditedEvent(person, { type: "fields.updated", entityType: "consumer", entityId: person.id, payload }, now);
  const continueAfterCommit = (): void => {
    for (const businessId of new Set(shares.map((share) => share.businessId))) services.scheduleEvents(businessId, "live");
    const budgeted = withBudget(services, waitUntilBudget);
    services.waitUntil(() => continueFanOuts(budgeted, budgeted.shards.forId(person.id)));
  };
  return ok({ fields, revision, changedKeys, write: { statements, domainEvent, continueAfterCommit } });
};
