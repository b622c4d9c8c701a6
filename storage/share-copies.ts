// The copies of a person's fields in shares, and the events that notify businesses of changed fields. One batch writes both, so a copy is
// never older than the events. Each copy stores the revision of the person's fields, and only a later revision replaces it.
import { and, eq, gt, inArray, lt, sql, type SQL } from "drizzle-orm";
import { toStoredIndex, type AddressIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { EventType } from "../core/events/event.ts";
import type { ConsumerId, ShareId } from "../core/ids.ts";
import { contactKeys, scopeToBits, type ContactIndexes, type ContactKey } from "../core/shares/fields.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database, Found, Statement } from "./database.ts";
import { excluded } from "./inserts.ts";
import { allOf, jsonTable, jsonList, notExistsIn, query } from "./query.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { eventSequenceOf } from "./public-events.ts";
import { shareTime } from "./sandbox-clocks.ts";
import { changes, fieldFanouts, shares, shareValues } from "./schema.ts";
import { columnContext } from "./vault.ts";

export const maxCopiesPerBatch = 500;

const isOutdatedCopy = (consumerId: ConsumerId, keys: readonly ContactKey[], revision: number | SQL, now: Instant): SQL =>
  allOf(
    eq(shares.consumerId, consumerId),
    eq(shares.state, "active"),
    gt(shares.expiresAt, now),
    sql`${shares.scope} & ${scopeToBits(keys)} <> 0`,
    lt(shareValues.revision, revision),
  );

/** The key of an active share. A CHECK constraint guarantees that it is not null. */
const keySealedField = sql<string>`${shares.keySealed}`.as("key_sealed");

/**
 * Lists active shares that contain one of the fields `keys` and have a copy older than `revision`, oldest share first. Lists at most as
 * many as one batch can update.
 */
export const listOutdatedShares = (
  db: Database,
  consumerId: ConsumerId,
  { keys, revision, now }: { readonly keys: readonly ContactKey[]; readonly revision: number; readonly now: Instant },
) =>
  db
    .select({
      id: shares.id,
      businessId: shares.businessId,
      scope: shares.scope,
      keySealed: keySealedField,
      valuesSealed: shareValues.valuesSealed,
    })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(isOutdatedCopy(consumerId, keys, revision, now))
    .orderBy(shares.ord)
    .limit(maxCopiesPerBatch);

export type ShareToUpdate = Found<typeof listOutdatedShares>[number];

/** The encryption context of an update event's payload, which is sealed with the share's key. */
export const eventPayloadContext = columnContext("event", "data");

/** Lists the sealed keys of the given shares in one shard. Omits shares that are not active. */
export const listActiveShareKeys = (db: Database, ids: readonly ShareId[], now: Instant) =>
  db
    .select({ id: shares.id, keySealed: keySealedField })
    .from(shares)
    .where(allOf(inArray(shares.id, jsonList(ids)), eq(shares.state, "active"), gt(shares.expiresAt, shareTime(now))))
    .all();

export interface ShareUpdate {
  readonly shareId: ShareId;
  /** The new copy, sealed with the share's key. */
  readonly sealed: string;
  readonly events: readonly { readonly id: string; readonly type: EventType; readonly dataSealed: string }[];
}

/**
 * Returns the statements that write the events, the time of the last update, and the copies for shares in one environment. `now` is the
 * time by the clock of these shares. The statements skip shares that have ended, and copies with the same or a later revision. The first
 * statement writes one row for each event.
 */
export const updateShareCopies = (
  db: Database,
  updates: readonly ShareUpdate[],
  { environment, revision, now }: { readonly environment: Environment; readonly revision: number; readonly now: Instant },
): readonly [Statement, Statement, Statement] => {
  const events = jsonTable(updates.flatMap(({ shareId, events: shareEvents }) => shareEvents.map((event) => ({ shareId, ...event }))));
  const copies = jsonTable(updates.map(({ shareId, sealed }) => ({ shareId, sealed })));
  const isOlder = sql`${shareValues.revision} < ${revision}`;
  return [
    db
      .insert(changes, "id", "type", "entityType", "entityId", "at", "sequence", "eventDataSealed")
      .select(
        sql`select ${events.cell("id")}, ${events.cell("type")}, 'share', ${shares.id}, ${now}, ${eventSequenceOf(shares.businessId, environment)}, ${events.cell("dataSealed")} from ${events.each} inner join ${shares} on ${shares.id} = ${events.cell("shareId")} inner join ${shareValues} on ${shareValues.shareId} = ${shares.id} where ${shares.environment} = ${environment} and ${shares.state} = 'active' and ${shares.expiresAt} > ${now} and ${isOlder} order by ${events.order}`,
      ),
    db
      .update(shares)
      .set({ updateSentAt: now })
      .from(copies.each)
      .where(
        sql`${shares.id} = ${copies.cell("shareId")} and ${shares.state} = 'active' and ${shares.expiresAt} > ${now} and exists (select 1 from ${shareValues} where ${shareValues.shareId} = ${shares.id} and ${isOlder})`,
      ),
    db
      .update(shareValues)
      .set({ valuesSealed: copies.cell("sealed"), revision })
      .from(copies.each)
      .where(and(eq(shareValues.shareId, copies.cell("shareId")), isOlder)),
  ];
};

/** Updates the blind indexes in the person's active shares that contain the changed field. Skips shares with a newer copy. */
export const updateShareIndexes = (
  db: Database,
  consumerId: ConsumerId,
  revision: number,
  indexes: { readonly email?: Pick<ContactIndexes, "email" | "isEmailProven">; readonly phone?: AddressIndex | null },
): readonly Statement[] => {
  const isNewest = notExistsIn(shareValues, eq(shareValues.shareId, shares.id), gt(shareValues.revision, revision));
  const holds = (key: ContactKey): SQL =>
    allOf(eq(shares.consumerId, consumerId), eq(shares.state, "active"), sql`${shares.scope} & ${scopeToBits([key])} <> 0`, isNewest);
  return [
    ...(indexes.email === undefined
      ? []
      : [
          db
            .update(shares)
            .set({ emailIndex: indexes.email.email && toStoredIndex(indexes.email.email), emailProven: indexes.email.isEmailProven })
            .where(holds("email")),
        ]),
    ...(indexes.phone === undefined
      ? []
      : [
          db
            .update(shares)
            .set({ phoneIndex: indexes.phone && toStoredIndex(indexes.phone) })
            .where(holds("phone")),
        ]),
  ];
};

export type FieldFanout = Omit<typeof fieldFanouts.$inferSelect, "nextAt">;

/** The fields that were changed by the waiting change or the new change. */
const mergedKeys = sql`(select json_group_array(value) from (select value from json_each(${fieldFanouts.changed}) union select value from json_each(${excluded(fieldFanouts.changed)})))`;

const mergeIntoWaiting = (now: Instant) => ({
  target: [fieldFanouts.consumerId, fieldFanouts.shard],
  set: { changed: mergedKeys as SQL<readonly ContactKey[]>, revision: excluded(fieldFanouts.revision) as SQL<number>, nextAt: now },
});

/** Saves a change that must be sent to another shard. If a change is already waiting for that shard, merges them. */
export const insertFieldFanout = (db: Database, fanOut: FieldFanout, now: Instant) =>
  db
    .insert(fieldFanouts)
    .values({ ...fanOut, nextAt: now })
    .onConflictDoUpdate(mergeIntoWaiting(now));

/**
 * Saves a change for the shard of the person's account if shares there still have older copies. These shares did not fit into the batch,
 * were granted in the meantime, or were omitted because the person has reached the limit on share updates.
 */
export const insertOwnShardFanout = (db: Database, fanOut: FieldFanout, now: Instant) => {
  const { consumerId, shard, changed, revision } = fanOut;
  const left = query
    .select({ id: shares.id })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(isOutdatedCopy(consumerId, changed, revision, now));
  return db
    .insert(fieldFanouts, "consumerId", "shard", "changed", "revision", "nextAt")
    .select(sql`select ${consumerId}, ${shard}, ${JSON.stringify(changed)}, ${revision}, ${now} where exists ${left}`)
    .onConflictDoUpdate(mergeIntoWaiting(now));
};

const leaseMs = minuteMs; // longer than one batch takes

/** Claims the change that has been due for the longest time. The claim lasts for one minute. Returns null if no change is due. */
export const claimFieldFanout = async (db: Database, now: Instant): Promise<FieldFanout | null> => {
  const [row] = await claimDueRows(db, fieldFanouts, { now, leaseMs, max: 1 });
  return row === undefined ? null : { ...row, changed: contactKeys.filter((key) => row.changed.includes(key)) };
};

/** Deletes a completed change, unless another change was merged into it in the meantime. */
export const finishFieldFanout = (db: Database, { consumerId, shard, revision }: FieldFanout) =>
  db
    .delete(fieldFanouts)
    .where(allOf(eq(fieldFanouts.consumerId, consumerId), eq(fieldFanouts.shard, shard), eq(fieldFanouts.revision, revision)));

export const continueFieldFanout = (db: Database, { consumerId, shard }: FieldFanout, at: Instant) =>
  db
    .update(fieldFanouts)
    .set({ nextAt: at })
    .where(allOf(eq(fieldFanouts.consumerId, consumerId), eq(fieldFanouts.shard, shard)));
