// The shards in which a business issues certificates, except the shard of its account. Such a shard has a copy of the account and a row in
// `issuers`. Certificates can be issued there only for the account revision in this row. Before the account changes, a hold removes the
// revision from the row. After the change, releasing the hold stores the new revision. Therefore, no certificate is issued after a change
// that forbids it (docs/internals/consistency.md).
import { eq, inArray, isNull, lte, sql, type SQL } from "drizzle-orm";
import { getCurrentShard, type IssuingShard } from "../core/shards/issuing.ts";
import { shardOfId, type BusinessId, type ClientId, type ShardId } from "../core/ids.ts";
import { secondMs, type Instant } from "../core/time.ts";
import { batch, onPrimary, type Database, type Statement } from "./database.ts";
import { findStorageFault, isConstraintViolation, isTriggerError, StorageFault } from "./faults.ts";
import { excluded, insertIf } from "./inserts.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, existsIn, inRandomOrder, jsonList, jsonTable, query } from "./query.ts";
import { businesses, clients, domains, issuers, issuingShards } from "./schema.ts";
import type { Shards } from "./shards.ts";

const holdMs = 30 * secondMs; // a change takes milliseconds, but its process can die without releasing the hold

/**
 * The current time by the database's clock. The clocks of databases differ, so the trigger `businesses_held` leaves a margin of five
 * seconds.
 */
const databaseNow = sql<Instant>`cast(unixepoch('subsec') * 1000 as integer)`;

const { shard, startedAt } = issuingShards;

/** A field for queries on `businesses`: the shards that a business uses in addition to its account's shard. */
export const issuingShardsField: SQL<readonly IssuingShard[]> = jsonRows({ shard, startedAt }, (rows) =>
  query.select({ rows }).from(issuingShards).where(eq(issuingShards.businessId, businesses.id)),
);

/**
 * Like `issuingShardsField`, but selects only the shard IDs, in the order in which the business started to use them. They are sorted in
 * JavaScript, because every request reads this field and SQLite would build a temporary index to sort them.
 */
export const otherShardsField: SQL<readonly ShardId[]> = sql<string>`(${query
  .select({ rows: sql`json_group_array(json_array(${startedAt}, ${shard}))` })
  .from(issuingShards)
  .where(eq(issuingShards.businessId, businesses.id))})`.mapWith((list: string): readonly ShardId[] =>
  (JSON.parse(list) as (readonly [Instant, ShardId])[]).toSorted(([a], [b]) => a - b).map(([, id]) => id),
);

/** Lists the shards that a business uses in addition to its account's shard. `accountDb` is the database that contains the account. */
export const listIssuingShards = (accountDb: Database, businessId: BusinessId): Promise<readonly IssuingShard[]> =>
  onPrimary(accountDb)
    .select({ shard, startedAt })
    .from(issuingShards)
    .where(eq(issuingShards.businessId, businessId))
    .orderBy(startedAt)
    .all();

/** Returns true if a change to an account failed because the account was not held in one of its issuing shards. */
export const isHoldMissing = (error: unknown): boolean =>
  isTriggerError(error, "the issuing shards of an account must be held while it changes");

export const isStartOutdated = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", issuingShards.businessId);

/** A hold on an account in one shard. Until the hold is released, the shard issues no certificates of the business. */
export interface Hold {
  readonly businessId: BusinessId;
  readonly shard: ShardId;
  /**
   * The time at which the hold ends, by the clock of the shard's database. After this, the hold no longer permits a change of the account.
   * The value also identifies the hold, because no two holds of a business in a shard end at the same time.
   */
  readonly until: Instant;
}

/**
 * Holds the account in one shard, so that the shard issues no certificates of the business. Returns null and changes nothing while another
 * change holds the account. Its hold must not be replaced, because that change could still be committed after the new hold is released.
 */
export const tryHoldAccount = async (shards: Shards, businessId: BusinessId, inShard: ShardId): Promise<Hold | null> => {
  const { revision, heldUntil } = issuers;
  const row = await shards
    .get(inShard)
    .insert(issuers, "businessId", "revision", "heldUntil")
    .select(sql`select ${businessId}, null, ${databaseNow} + ${holdMs} where true`)
    .onConflictDoUpdate({
      target: issuers.businessId,
      set: { revision: null, heldUntil: sql`max(${heldUntil} + 1, ${excluded(heldUntil)})` },
      setWhere: sql`${revision} is not null or ${heldUntil} <= ${databaseNow}`,
    })
    .returning({ until: heldUntil })
    .get();
  return row === undefined ? null : { businessId, shard: inShard, until: row.until };
};

const waitMs = 100;
const maxWaits = 10; // enough, because a change takes only a few round trips

/** Like `tryHoldAccount`, but waits while another change holds the account. Throws a fault of kind `outage` after about a second. */
const holdAccount = async (shards: Shards, businessId: BusinessId, inShard: ShardId): Promise<Hold> => {
  for (let waits = 0; ; waits += 1) {
    const hold = await tryHoldAccount(shards, businessId, inShard);
    if (hold !== null) return hold;
    if (waits === maxWaits) throw new StorageFault("outage", "ACCOUNT_HELD");
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
};

/** The statements that permit a change to an account (`before`) and end the permission (`after`), for the batch that makes the change. */
interface Permission {
  readonly before: readonly Statement[];
  readonly after: readonly Statement[];
}

const permitChange = (accountDb: Database, holds: readonly Hold[]): Permission => {
  const update = ({ businessId, shard: inShard }: Hold, heldUntil: Instant): Statement =>
    accountDb
      .update(issuingShards)
      .set({ heldUntil })
      .where(allOf(eq(issuingShards.businessId, businessId), eq(shard, inShard)));
  return { before: holds.map((hold) => update(hold, hold.until)), after: holds.map((hold) => update(hold, 0)) };
};

/** Loads the account data for the copy in a shard. Returns null if the business does not issue certificates in that shard. */
const loadAccount = async (accountDb: Database, businessId: BusinessId, inShard: ShardId) => {
  const isVerified = allOf(eq(domains.businessId, businessId), eq(domains.status, "verified"));
  const primary = onPrimary(accountDb);
  const [[business], verified, all, started] = await primary.batch([
    primary.select().from(businesses).where(eq(businesses.id, businessId)),
    primary.select().from(domains).where(isVerified),
    primary.select().from(clients).where(eq(clients.businessId, businessId)),
    primary
      .select({ shard })
      .from(issuingShards)
      .where(allOf(eq(issuingShards.businessId, businessId), eq(shard, inShard))),
  ]);
  return business === undefined || started.length === 0 ? null : { business, domains: verified, clients: all };
};

/**
 * Ends a hold. Copies the current account into the shard and stores the account's revision, so that the shard can issue certificates again.
 * If the business does not issue certificates in the shard, only deletes the hold. Does nothing if a newer hold has replaced this one.
 */
const releaseHold = async (shards: Shards, { businessId, shard: inShard, until }: Hold): Promise<void> => {
  const account = await loadAccount(shards.forId(businessId), businessId, inShard);
  const db = shards.get(inShard);
  const isHold = allOf(eq(issuers.businessId, businessId), eq(issuers.heldUntil, until), isNull(issuers.revision));
  if (account === null) {
    await db.delete(issuers).where(isHold).run();
    return;
  }
  const onlyIf = existsIn(issuers, isHold);
  const { business } = account;
  const verified = jsonTable(account.domains);
  const all = jsonTable(account.clients.map((client) => ({ ...client, requireOrigin: Number(client.requireOrigin) })));
  await batch(db, [
    insertIf(db, businesses, business, onlyIf).onConflictDoUpdate({ target: businesses.id, set: business }),
    db.delete(domains).where(allOf(eq(domains.businessId, businessId), onlyIf)),
    db
      .insert(domains, "id", "businessId", "domain", "status", "method", "verifiedAt", "createdAt")
      .select(
        sql`select ${verified.cell("id")}, ${businessId}, ${verified.cell("domain")}, 'verified', ${verified.cell("method")}, ${verified.cell("verifiedAt")}, ${verified.cell("createdAt")} from ${verified.each} where ${onlyIf}`,
      ),
    db
      .insert(clients, "id", "businessId", "environment", "name", "createdAt", "dailySubmissionLimit", "dailyByteLimit", "requireOrigin")
      .select(
        sql`select ${all.cell("id")}, ${businessId}, ${all.cell("environment")}, ${all.cell("name")}, ${all.cell("createdAt")}, ${all.cell("dailySubmissionLimit")}, ${all.cell("dailyByteLimit")}, ${all.cell("requireOrigin")} from ${all.each} where ${onlyIf}`,
      )
      .onConflictDoUpdate({
        target: clients.id,
        set: {
          name: excluded(clients.name),
          dailySubmissionLimit: excluded(clients.dailySubmissionLimit),
          dailyByteLimit: excluded(clients.dailyByteLimit),
        },
      }),
    db.update(issuers).set({ revision: business.revision }).where(isHold),
  ]);
};

/**
 * Releases holds. Never rejects. If a release fails, the hold expires, and then the next submission or a job updates the shard's copy of
 * the account.
 */
const releaseHolds = async (shards: Shards, holds: readonly Hold[]): Promise<void> => {
  await Promise.allSettled(holds.map((hold) => releaseHold(shards, hold)));
};

/**
 * Runs a change, and then releases its holds. If the account's database does not respond, the change could still be committed. The holds
 * are then kept until they expire. After that, the trigger `businesses_held` refuses the change.
 */
const runAndRelease = async <T>(shards: Shards, holds: readonly Hold[], run: () => Promise<T>): Promise<T> => {
  let isUnknown = false;
  try {
    return await run();
  } catch (error) {
    isUnknown = findStorageFault(error)?.kind === "outage";
    throw error;
  } finally {
    if (!isUnknown) await releaseHolds(shards, holds);
  }
};

/** Holds each account in its shards. If a hold fails, releases the others and throws. */
const holdAccounts = async (shards: Shards, held: readonly Omit<Hold, "until">[]): Promise<readonly Hold[]> => {
  const holds: Hold[] = [];
  try {
    for (const { businessId, shard: inShard } of held) holds.push(await holdAccount(shards, businessId, inShard));
  } catch (error) {
    await releaseHolds(shards, holds);
    throw error;
  }
  return holds;
};

/** All changes hold shards in this order, so that two changes never wait for each other. */
const sortShards = (all: readonly { readonly shard: ShardId }[]): readonly ShardId[] => [...new Set(all.map((each) => each.shard))].sort();

const maxAttempts = 3; // a retry with holds fails only if the business has just started to use one more shard

/**
 * Repeats a change that failed with `isHoldMissing`, while holding the accounts whose audit chain is in `chainTags`. `run` must put the
 * permission's `before` at the start of its batch, and `after` at the end. Throws and changes nothing if an account cannot be held.
 */
export const runWhileHeld = async <T>(
  shards: Shards,
  accountDb: Database,
  chainTags: readonly string[],
  run: (permission: Permission) => Promise<T>,
): Promise<T> => {
  const changed = await accountDb
    .select({ id: businesses.id })
    .from(businesses)
    .where(inArray(businesses.auditChain, jsonList(chainTags)))
    .orderBy(businesses.id);
  for (let attempt = 1; ; attempt += 1) {
    const held: Omit<Hold, "until">[] = [];
    for (const { id: businessId } of changed)
      for (const each of sortShards(await listIssuingShards(accountDb, businessId))) held.push({ businessId, shard: each });
    const holds = await holdAccounts(shards, held);
    try {
      return await runAndRelease(shards, holds, () => run(permitChange(accountDb, holds)));
    } catch (error) {
      if (!isHoldMissing(error) || attempt === maxAttempts) throw error;
    }
  }
};

/**
 * Sets the shard in which the business issues its next certificates. After this call, the other shards issue no more certificates for it.
 * Throws if the account no longer has the given revision (`isStartOutdated`).
 */
export const startIssuing = async (
  shards: Shards,
  account: { readonly id: BusinessId; readonly revision: number; readonly issuingShards: readonly IssuingShard[] },
  next: ShardId,
  now: Instant,
): Promise<void> => {
  const { id, revision } = account;
  if (next === shardOfId(id) || next === getCurrentShard(account)) throw new Error("issuing shards: this shard is not another one");
  const accountDb = shards.forId(id);
  const all = sortShards([...account.issuingShards, { shard: next }]);
  const holds = await holdAccounts(
    shards,
    all.map((each) => ({ businessId: id, shard: each })),
  );
  const until = holds.find((hold) => hold.shard === next)?.until ?? 0;
  const { before, after } = permitChange(accountDb, holds);
  const unchanged = query
    .select({ id: businesses.id })
    .from(businesses)
    .where(allOf(eq(businesses.id, id), eq(businesses.revision, revision)));
  const last = query
    .select({ at: sql`max(${startedAt}) + 1` })
    .from(issuingShards)
    .where(eq(issuingShards.businessId, id));
  const start = accountDb
    .insert(issuingShards, "businessId", "shard", "startedAt", "heldUntil")
    .select(sql`select ${unchanged}, ${next}, max(${now}, coalesce(${last}, 0)), ${until} where true`)
    .onConflictDoUpdate({
      target: [issuingShards.businessId, shard],
      set: { startedAt: excluded(startedAt), heldUntil: excluded(issuingShards.heldUntil) },
    });
  await runAndRelease(shards, holds, () => batch(accountDb, [...before, start, ...after]));
};

/**
 * States whether a shard can issue certificates for an account at a given revision:
 * - `ready`: it can.
 * - `held`: the account is being changed.
 * - `outdated`: the shard's copy of the account must be updated first.
 */
export type IssuerState = "ready" | "held" | "outdated";

export const getIssuerState = async (
  db: Database,
  { businessId, clientId, revision }: { readonly businessId: BusinessId; readonly clientId: ClientId; readonly revision: number },
): Promise<IssuerState> => {
  const row = await onPrimary(db)
    .select({
      revision: issuers.revision,
      isExpired: sql`${issuers.heldUntil} <= ${databaseNow}`.mapWith(Boolean),
      hasClient: existsIn(clients, eq(clients.id, clientId)).mapWith(Boolean),
    })
    .from(issuers)
    .where(eq(issuers.businessId, businessId))
    .get();
  if (row === undefined) return "outdated";
  if (row.revision === null) return row.isExpired ? "outdated" : "held";
  return row.revision === revision && row.hasClient ? "ready" : "outdated";
};

/** Updates a shard's copy of the account. Returns false and changes nothing while another change holds the account. */
export const renewIssuer = async (shards: Shards, businessId: BusinessId, inShard: ShardId): Promise<boolean> => {
  const hold = await tryHoldAccount(shards, businessId, inShard);
  if (hold !== null) await releaseHold(shards, hold);
  return hold !== null;
};

/** Lists up to `max` businesses whose hold in this shard has expired without being released, in random order. */
export const listExpiredHolds = async (db: Database, max: number): Promise<readonly BusinessId[]> => {
  const rows = await db
    .select({ businessId: issuers.businessId })
    .from(issuers)
    .where(allOf(isNull(issuers.revision), lte(issuers.heldUntil, databaseNow)))
    .orderBy(inRandomOrder)
    .limit(max);
  return rows.map(({ businessId }) => businessId);
};

/**
 * Selects the business ID for a certificate in a shard that is not the account's. The ID is NULL if the shard cannot issue certificates for
 * the revision.
 */
export const selectIssuer = (businessId: SQL | BusinessId, revision: SQL | number): SQL<BusinessId> =>
  sql`${query
    .select({ id: issuers.businessId })
    .from(issuers)
    .where(allOf(sql`${issuers.businessId} = ${businessId}`, sql`${issuers.revision} = ${revision}`))}`;
