// The copies of a person's fields that their shares hold, and the events that tell each business of a change: written together, so that
// a copy is never behind the feed. A copy carries the revision of the fields it was made of; only older ones are replaced.
import { and, eq, gt, inArray, lt, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { EventType } from "../core/events/event.ts";
import type { ConsumerId, ShareId } from "../core/ids.ts";
import { contactKeys, scopeBits, type ContactKey } from "../core/shares/fields.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { Database, Found, Statement } from "./database.ts";
import { excluded } from "./inserts.ts";
import { allOf, eachOf, listed, noneIn, query } from "./query.ts";
import { claimDue } from "./outboxes/claim.ts";
import { outboxOf } from "./outboxes/events.ts";
import { timeOfShare } from "./sandbox-clocks.ts";
import { fieldFanouts, shares, shareValues } from "./schema.ts";
import { contextIn } from "./vault.ts";

/** The most shares that one batch brings up to date. */
export const maxCopies = 500;

const isOutdated = (consumerId: ConsumerId, keys: readonly ContactKey[], revision: number | SQL, now: Instant): SQL =>
  allOf(
    eq(shares.consumerId, consumerId),
    eq(shares.state, "active"),
    gt(shares.expiresAt, now),
    sql`${shares.scope} & ${scopeBits(keys)} <> 0`,
    lt(shareValues.revision, revision),
  );

/** Of active shares: a CHECK gives each of them its key. */
const keySealed = sql<string>`${shares.keySealed}`.as("key_sealed");

/** Active shares whose scope holds one of the keys, and whose copy is older than the revision; oldest first. The copy is what its business knows. */
export const outdatedShares = (
  db: Database,
  consumerId: ConsumerId,
  { keys, revision, now }: { readonly keys: readonly ContactKey[]; readonly revision: number; readonly now: Instant },
) =>
  db
    .select({ id: shares.id, businessId: shares.businessId, scope: shares.scope, keySealed, valuesSealed: shareValues.valuesSealed })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(isOutdated(consumerId, keys, revision, now))
    .orderBy(shares.ord)
    .limit(maxCopies);

export type ShareToUpdate = Found<typeof outdatedShares>[number];

/** Where the payload of an event that tells of an update is sealed, under the key of its share. */
export const payloadContext = contextIn("event", "data");

/** The keys of those that are active, of shares of one home. */
export const activeKeys = (db: Database, ids: readonly ShareId[], now: Instant) =>
  db
    .select({ id: shares.id, keySealed })
    .from(shares)
    .where(allOf(inArray(shares.id, listed(ids)), eq(shares.state, "active"), gt(shares.expiresAt, timeOfShare(now))))
    .all();

export interface ShareUpdate {
  readonly shareId: ShareId;
  /** The new copy, sealed. */
  readonly sealed: string;
  readonly events: readonly { readonly id: string; readonly type: EventType; readonly dataSealed: string }[];
}

/**
 * The events, when they were written, and the copies, of shares of one environment; `now` is by their clock. A share that is over by
 * now, or whose copy is as new, gets none of it. The first result counts the events.
 */
export const updateShares = (
  db: Database,
  updates: readonly ShareUpdate[],
  { environment, revision, now }: { readonly environment: Environment; readonly revision: number; readonly now: Instant },
): readonly [Statement, Statement, Statement] => {
  const events = eachOf(updates.flatMap(({ shareId, events: of }) => of.map((event) => ({ shareId, ...event }))));
  const copies = eachOf(updates.map(({ shareId, sealed }) => ({ shareId, sealed })));
  const isOlder = sql`${shareValues.revision} < ${revision}`;
  return [
    db
      .insert(outboxOf(environment), "eventId", "businessId", "type", "shareId", "dataSealed", "createdAt")
      .select(
        sql`select ${events.cell("id")}, ${shares.businessId}, ${events.cell("type")}, ${shares.id}, ${events.cell("dataSealed")}, ${now} from ${events.each} inner join ${shares} on ${shares.id} = ${events.cell("shareId")} inner join ${shareValues} on ${shareValues.shareId} = ${shares.id} where ${shares.environment} = ${environment} and ${shares.state} = 'active' and ${shares.expiresAt} > ${now} and ${isOlder} order by ${events.order}`,
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

/**
 * Under what the person's active shares are found from now on: those that hold the address, and those that hold the number. A share
 * whose copy is newer keeps what a change of a later revision gave it.
 */
export const updateIndexes = (
  db: Database,
  consumerId: ConsumerId,
  revision: number,
  indexes: { readonly email?: string | null; readonly phone?: string | null },
): readonly Statement[] => {
  const isNewest = noneIn(shareValues, eq(shareValues.shareId, shares.id), gt(shareValues.revision, revision));
  const holds = (key: ContactKey): SQL =>
    allOf(eq(shares.consumerId, consumerId), eq(shares.state, "active"), sql`${shares.scope} & ${scopeBits([key])} <> 0`, isNewest);
  return [
    ...(indexes.email === undefined ? [] : [db.update(shares).set({ emailIndex: indexes.email }).where(holds("email"))]),
    ...(indexes.phone === undefined ? [] : [db.update(shares).set({ phoneIndex: indexes.phone }).where(holds("phone"))]),
  ];
};

export type FanOut = Omit<typeof fieldFanouts.$inferSelect, "nextAt">;

/** What another change left is united with this one: the keys of both, at the newer revision. */
const united = sql`(select json_group_array(value) from (select value from json_each(${fieldFanouts.changed}) union select value from json_each(${excluded(fieldFanouts.changed)})))`;

const onWaiting = (now: Instant) => ({
  target: [fieldFanouts.consumerId, fieldFanouts.home],
  set: { changed: united as SQL<readonly ContactKey[]>, revision: excluded(fieldFanouts.revision) as SQL<number>, nextAt: now },
});

/** A change on its way to another home of the person's. */
export const insertFanOut = (db: Database, fanOut: FanOut, now: Instant) =>
  db
    .insert(fieldFanouts)
    .values({ ...fanOut, nextAt: now })
    .onConflictDoUpdate(onWaiting(now));

/** Likewise to the own home, where shares are left whose copy is older: beyond those of one batch, and granted in between. */
export const insertOwnFanOut = (db: Database, fanOut: FanOut, now: Instant) => {
  const { consumerId, home, changed, revision } = fanOut;
  const left = query
    .select({ id: shares.id })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(isOutdated(consumerId, changed, revision, now));
  return db
    .insert(fieldFanouts, "consumerId", "home", "changed", "revision", "nextAt")
    .select(sql`select ${consumerId}, ${home}, ${JSON.stringify(changed)}, ${revision}, ${now} where exists ${left}`)
    .onConflictDoUpdate(onWaiting(now));
};

const leaseMs = minuteMs; // more than a batch takes

export const claimFanOut = async (db: Database, now: Instant): Promise<FanOut | null> => {
  const [row] = await claimDue(db, fieldFanouts, { now, leaseMs, max: 1 });
  return row === undefined ? null : { ...row, changed: contactKeys.filter((key) => row.changed.includes(key)) };
};

/** Done, unless another change joined it meanwhile. */
export const finishFanOut = (db: Database, { consumerId, home, revision }: FanOut) =>
  db
    .delete(fieldFanouts)
    .where(allOf(eq(fieldFanouts.consumerId, consumerId), eq(fieldFanouts.home, home), eq(fieldFanouts.revision, revision)));

/** The rest is due at once. */
export const continueFanOut = (db: Database, { consumerId, home }: FanOut, now: Instant) =>
  db
    .update(fieldFanouts)
    .set({ nextAt: now })
    .where(allOf(eq(fieldFanouts.consumerId, consumerId), eq(fieldFanouts.home, home)));
