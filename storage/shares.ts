// Reads shares for businesses, for people, and for changes. A share is stored in the business's shard. Its status depends on its stored
// state and on the current time. SPEC Share.
import { and, desc, eq, gt, inArray, isNull, lt, lte, sql, type SQL } from "drizzle-orm";
import type { AddressIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, ConsumerId, ShardId, ShareId } from "../core/ids.ts";
import type { ShareAuditChains } from "../core/shares/grant.ts";
import { getShareStatus, type Share, type ShareStatus } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { firstAnchorField } from "./published-anchors.ts";
import { auditLogOf, isRecorded } from "./audit-entries.ts";
import { hasIndex } from "./address-indexes.ts";
import { batch, type Database, type Found } from "./database.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, jsonList, query } from "./query.ts";
import { shareClockOffsetField, ownerTime } from "./sandbox-clocks.ts";
import { anchors, auditEntries, businesses, disclosures, shareAcknowledgements, shares } from "./schema.ts";

const shareAcknowledgedAtField = sql<Instant | null>`${query
  .select({ at: shareAcknowledgements.acknowledgedAt })
  .from(shareAcknowledgements)
  .where(eq(shareAcknowledgements.shareId, shares.id))}`.as("acknowledged_at");

const shareFields = {
  ord: shares.ord,
  id: shares.id,
  state: shares.state,
  fingerprint: shares.fingerprint,
  businessId: shares.businessId,
  businessName: shares.businessName,
  clientId: shares.clientId,
  environment: shares.environment,
  origin: shares.origin,
  requestEvidence: shares.requestEvidence,
  purpose: shares.purpose,
  scope: shares.scope,
  disclosureHash: shares.disclosureHash,
  createdAt: shares.createdAt,
  expiresAt: shares.expiresAt,
  durationDays: shares.durationDays,
  revokedAt: shares.revokedAt,
  ceaseBy: shares.ceaseBy,
  supersedes: shares.supersedes,
  supersededBy: shares.supersededBy,
  acknowledgedAt: shareAcknowledgedAtField,
  clockOffsetMs: shareClockOffsetField.as("clock_offset_ms"),
};

const selectShares = (db: Database) => db.select(shareFields).from(shares);
type ShareRow = Awaited<ReturnType<ReturnType<typeof selectShares>["all"]>>[number];

const toShare = ({ ord: _, state, businessId, businessName, ...rest }: ShareRow & Pick<Share, "lastDeliveredAt">, now: Instant): Share => ({
  ...rest,
  status: getShareStatus(state, rest.expiresAt, now + rest.clockOffsetMs),
  business: { id: businessId, name: businessName },
});

export interface ShareOwner {
  readonly businessId: BusinessId;
  readonly environment: Environment;
}

const isOwnedShare = ({ businessId, environment }: ShareOwner): SQL =>
  allOf(eq(shares.businessId, businessId), eq(shares.environment, environment));

export interface SharePage {
  readonly shares: readonly Share[];
  readonly hasMore: boolean;
}

const maxUnswept = 500;

/**
 * Builds a condition that is true for the owner's shares whose expiration the sweep has not recorded yet. It uses the database index on the
 * due time. Otherwise, SQLite would read all active shares. If the sweep is far behind, it considers only the 500 shares that have been due
 * for the longest time.
 */
const isUnswept = (owner: ShareOwner, time: ReturnType<typeof ownerTime>): SQL => {
  const due = query
    .select({ ord: shares.ord })
    .from(shares)
    .where(allOf(isOwnedShare(owner), lte(shares.nextDueAt, time)))
    .orderBy(shares.nextDueAt)
    .limit(maxUnswept);
  return allOf(inArray(shares.ord, due), lte(shares.expiresAt, time));
};

/**
 * Returns a page of shares, newest first, starting after the share `startingAfter`. Returns null if that share does not belong to the
 * owner. A list of expired shares includes shares whose expiration the sweep has not recorded yet (`isUnswept`).
 */
export const listSharesByOwner = async (
  db: Database,
  owner: ShareOwner,
  page: { readonly status: ShareStatus | null; readonly limit: number; readonly startingAfter: ShareId | null },
  now: Instant,
): Promise<SharePage | null> => {
  const { status, limit, startingAfter } = page;
  const start = query
    .select({ ord: shares.ord })
    .from(shares)
    .where(allOf(eq(shares.id, startingAfter ?? ("" as ShareId)), isOwnedShare(owner)));
  const behind = startingAfter === null ? undefined : lt(shares.ord, sql`(${start})`);
  const time = ownerTime(owner, now);
  const selectPage = (more: SQL | undefined) =>
    selectShares(db)
      .where(and(isOwnedShare(owner), behind, more))
      .orderBy(desc(shares.ord))
      .limit(limit + 1);
  const overdue = selectShares(db)
    .where(and(isUnswept(owner, time), behind))
    .orderBy(desc(shares.ord))
    .limit(limit + 1);
  const state = status === null ? undefined : eq(shares.state, status);
  const first = db
    .select({ ord: shares.ord })
    .from(shares)
    .where(eq(shares.ord, sql`(${start})`));
  const read = selectPage(status === "active" ? and(state, gt(shares.expiresAt, time)) : state);
  const { found, rows, unswept = [] } = await batch(db, { found: first, rows: read, ...(status === "expired" && { unswept: overdue }) });
  if (startingAfter !== null && found.length === 0) return null;
  const merged = [...rows, ...unswept].sort((a, b) => b.ord - a.ord);
  return { shares: merged.slice(0, limit).map((row) => toShare(row, now)), hasMore: merged.length > limit };
};

/** Counts the owner's shares by status. `all` is the number of all shares. Each number is at most `max`. */
export const countSharesByStatus = async (
  db: Database,
  owner: ShareOwner,
  now: Instant,
  max: number,
): Promise<Readonly<Record<ShareStatus | "all", number>>> => {
  const time = ownerTime(owner, now);
  const countWhere = (condition: SQL): SQL<number> =>
    sql<number>`(select count(*) from ${query.select({ ord: shares.ord }).from(shares).where(condition).limit(max)})`;
  const inState = (state: ShareStatus): SQL => allOf(isOwnedShare(owner), eq(shares.state, state));
  const [counts] = await db
    .select({
      all: countWhere(isOwnedShare(owner)),
      active: countWhere(allOf(inState("active"), gt(shares.expiresAt, time))),
      revoked: countWhere(inState("revoked")),
      expired: sql<number>`min(${max}, ${countWhere(inState("expired"))} + ${countWhere(isUnswept(owner, time))})`,
      ceased: countWhere(inState("ceased")),
      superseded: countWhere(inState("superseded")),
    })
    .from(sql`(select 1)`)
    .all();
  return counts as NonNullable<typeof counts>;
};

const shareChainFields = { business: businessChainFields, person: { tag: shares.consumerChain, auditLog: auditLogOf(shares.consumerId) } };

interface ShareChainRow extends Pick<ShareAuditChains, "business"> {
  readonly person: { readonly tag: string | null; readonly auditLog: ShardId | null };
}

const toShareChains = ({ business, person: { tag, auditLog } }: ShareChainRow): ShareAuditChains => ({
  business,
  person: tag === null || auditLog === null ? null : { tag, auditLog },
});

/**
 * Finds a share with the data for a change. `access` identifies the caller: the business, the person, or the holder of an emailed link.
 * Returns null if the share is unknown, or does not belong to the business or person. In the result, the person's chain is null for a test
 * person or an erased account.
 */
export const findChangeableShare = async (
  db: Database,
  id: ShareId,
  access: ShareOwner | { readonly consumerId: ConsumerId } | "link",
  now: Instant,
) => {
  const isAccessible =
    access === "link" ? undefined : "consumerId" in access ? eq(shares.consumerId, access.consumerId) : isOwnedShare(access);
  const { consumerId, emailProven, language } = shares;
  const row = await db
    .select({ share: shareFields, ...shareChainFields, consumerId, emailProven, language, disclosureText: disclosures.text })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
    .where(and(eq(shares.id, id), isAccessible))
    .get();
  if (row === undefined) return null;
  const { share, business, person, ...rest } = row;
  return { ...rest, share: toShare(share, now), chains: toShareChains({ business, person }) };
};

export type ChangeableShare = Found<typeof findChangeableShare>;

const grantAnchorField = firstAnchorField(
  allOf(eq(anchors.entityId, shares.id), inArray(anchors.event, ["share.created", "share.renewed"])),
).as("anchor");

/**
 * The type of the audit entries for reads of a share's values. A business can read the values any number of times, so a history contains
 * only the newest 200 of these entries.
 */
const readType = "consumer.current_read";
const maxHistoryReads = 200;

/**
 * Matches a share's history entries in one chain: the newest 200 reads and all other entries. Includes the renewal of the share, which is
 * an entry about the new share.
 */
const isInHistory = (id: ShareId, chainTag: SQL): SQL => {
  const { ord, entityId, type, chain } = auditEntries;
  const isInChain = eq(chain, chainTag);
  const successor = query.select({ id: shares.supersededBy }).from(shares).where(eq(shares.id, id));
  const select = (entity: ShareId | SQL, ofType: SQL) =>
    query
      .select({ ord })
      .from(auditEntries)
      .where(allOf(eq(entityId, entity), ofType, isInChain));
  const entries = [
    select(id, lt(type, readType)),
    select(id, gt(type, readType)),
    select(id, eq(type, readType)).orderBy(desc(ord)).limit(maxHistoryReads),
    select(sql`(${successor})`, eq(type, "share.renewed")),
  ].map((part) => sql`select * from ${part}`);
  return allOf(inArray(ord, sql`(${sql.join(entries, sql` union all `)})`), isInChain);
};

/**
 * Returns everything that a business can read about its share except the shared values, in one round trip. The history consists of entries
 * in the business's chain (`isInHistory`), oldest first. Returns null if the share does not belong to the business.
 */
export const findShareDetail = async (db: Database, id: ShareId, owner: ShareOwner, now: Instant) => {
  const { at, type } = auditEntries;
  const isDrained = isRecorded.mapWith(Boolean).as("is_drained");
  const { reasonSealed } = shares;
  const chain = sql`${query.select({ tag: businesses.auditChain }).from(businesses).where(eq(businesses.id, owner.businessId))}`;
  const { rows, history } = await batch(db, {
    rows: db
      .select({ share: shareFields, disclosureText: disclosures.text, anchor: grantAnchorField, chain: businessChainFields, reasonSealed })
      .from(shares)
      .innerJoin(businesses, eq(businesses.id, shares.businessId))
      .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
      .where(allOf(eq(shares.id, id), isOwnedShare(owner))),
    history: db
      .select({ at, type, entryId: auditEntries.id, isDrained })
      .from(auditEntries)
      .where(isInHistory(id, chain))
      .orderBy(auditEntries.ord),
  });
  const [row] = rows;
  return row === undefined ? null : { ...row, share: toShare(row.share, now), history };
};

/** Lists the shares with these IDs, in no particular order. */
export const listSharesByIds = async (db: Database, ids: readonly ShareId[], now: Instant): Promise<readonly Share[]> =>
  (await selectShares(db).where(inArray(shares.id, jsonList(ids)))).map((row) => toShare(row, now));

/** Lists shares in a business's sandbox that are recorded as active, oldest first. Some of them may have expired. */
export const listActiveTestShareIds = async (db: Database, businessId: BusinessId, max: number): Promise<readonly ShareId[]> => {
  const rows = await db
    .select({ id: shares.id })
    .from(shares)
    .where(allOf(isOwnedShare({ businessId, environment: "sandbox" }), eq(shares.state, "active")))
    .orderBy(shares.ord)
    .limit(max);
  return rows.map(({ id }) => id);
};

const ownChain = query.select({ tag: businesses.auditChain }).from(businesses).where(eq(businesses.id, shares.businessId));
/** Selects the time of the newest entry of a type about the share in the business's chain, with one index lookup. */
const selectLastEntry = (type: "share.redeemed" | "consumer.current_read") =>
  query
    .select({ at: auditEntries.at })
    .from(auditEntries)
    .where(allOf(eq(auditEntries.entityId, shares.id), eq(auditEntries.type, type), eq(auditEntries.chain, sql`(${ownChain})`)))
    .orderBy(desc(auditEntries.ord))
    .limit(1);

/** The fields of a share for the person, with the time when the business last received values. */
const personShareFields = {
  ...shareFields,
  lastDeliveredAt:
    sql<Instant | null>`nullif(max(coalesce(${shares.updateSentAt}, 0), coalesce(${selectLastEntry("share.redeemed")}, 0), coalesce(${selectLastEntry("consumer.current_read")}, 0)), 0)`.as(
      "last_delivered_at",
    ),
};

const maxPersonShares = 500;

/**
 * Lists up to 500 of a person's shares in this shard: active shares first, then the others, each newest first. If a business is given,
 * lists only the shares with that business.
 */
export const listSharesByPerson = (
  db: Database,
  consumerId: ConsumerId,
  now: Instant,
  businessId: BusinessId | null = null,
): Lookup<SharePage> => {
  const isPersons = eq(shares.consumerId, consumerId);
  const isOwn = businessId === null ? isPersons : allOf(isPersons, eq(shares.businessId, businessId));
  const page = (condition: SQL) =>
    db
      .select(personShareFields)
      .from(shares)
      .where(condition)
      .orderBy(desc(shares.ord))
      .limit(maxPersonShares + 1);
  const active = page(allOf(isOwn, eq(shares.state, "active"), gt(shares.expiresAt, now)));
  return createLookup(db, [active, page(isOwn)], ([current, newest]) => {
    const isCurrent = new Set(current.map(({ ord }) => ord));
    const rows = [...current, ...newest.filter(({ ord }) => !isCurrent.has(ord))];
    return { shares: rows.slice(0, maxPersonShares).map((row) => toShare(row, now)), hasMore: rows.length > maxPersonShares };
  });
};

/** Lists a person's shares in the state `active`, oldest first, with their audit chains. Some of them may have expired. */
export const listUnendedShares = async (
  db: Database,
  consumerId: ConsumerId,
  now: Instant,
  max: number,
): Promise<readonly Pick<ChangeableShare, "share" | "chains">[]> => {
  const rows = await db
    .select({ share: shareFields, ...shareChainFields })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .where(allOf(eq(shares.consumerId, consumerId), eq(shares.state, "active")))
    .orderBy(shares.ord)
    .limit(max);
  return rows.map(({ share, ...chains }) => ({ share: toShare(share, now), chains: toShareChains(chains) }));
};

/**
 * Returns everything that a person can read about a share, in one round trip. The history consists of entries in the person's chain
 * (`isInHistory`), oldest first. Returns null if the share does not belong to the person.
 */
export const findPersonShare = async (db: Database, id: ShareId, consumerId: ConsumerId, now: Instant) => {
  const isOwn = allOf(eq(shares.id, id), eq(shares.consumerId, consumerId));
  const chain = sql`${query.select({ tag: shares.consumerChain }).from(shares).where(isOwn)}`;
  const { rows, history } = await batch(db, {
    rows: db
      .select({
        share: personShareFields,
        disclosureText: disclosures.text,
        anchor: grantAnchorField,
        reasonSealed: shares.reasonSealed,
        updateSentAt: shares.updateSentAt,
        acknowledgementSealed: shareAcknowledgements.detailsSealed,
        contact: businesses.contactEmail,
      })
      .from(shares)
      .innerJoin(businesses, eq(businesses.id, shares.businessId))
      .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
      .leftJoin(shareAcknowledgements, eq(shareAcknowledgements.shareId, shares.id))
      .where(isOwn),
    history: db
      .select({ at: auditEntries.at, type: auditEntries.type })
      .from(auditEntries)
      .where(isInHistory(id, chain))
      .orderBy(auditEntries.ord),
  });
  const [row] = rows;
  return row === undefined ? null : { ...row, share: toShare(row.share, now), history };
};

/** A person and, optionally, one business. If the person has no account, only shares that contain the verified email address are found. */
interface NamedPerson {
  readonly addressIndex: AddressIndex;
  readonly consumerId: ConsumerId | null;
  readonly businessId: BusinessId | null;
}

/**
 * Builds a condition that is true for active live shares that contain the email address. It contains the condition of the partial index
 * `shares_named`, so that SQLite uses this index.
 */
export const isActiveShareNaming = (addressIndex: AddressIndex): SQL =>
  allOf(hasIndex(shares.emailIndex, addressIndex), sql`${shares.state} = 'active'`, sql`${shares.environment} = 'live'`);

const isOfBusiness = (businessId: BusinessId | null) => (businessId === null ? undefined : eq(shares.businessId, businessId));

/**
 * Returns true if a live share contains the email address or belongs to the account. If a business is given, considers only shares with
 * that business.
 */
export const hasShareNaming = async (db: Database, { addressIndex, consumerId, businessId }: NamedPerson): Promise<boolean> => {
  const [named, own] = await batch(db, [
    db
      .select({ id: shares.id })
      .from(shares)
      .where(and(hasIndex(shares.emailIndex, addressIndex), eq(shares.environment, "live"), isOfBusiness(businessId)))
      .limit(1),
    db
      .select({ id: shares.id })
      .from(shares)
      .where(and(eq(shares.consumerId, consumerId ?? ("" as ConsumerId)), isOfBusiness(businessId)))
      .limit(1),
  ]);
  return named.length + own.length > 0;
};

/**
 * Lists the active live shares that a withdrawal ends: shares that contain the email address, including those of other people, and shares
 * of the account. Omits shares that were made after the withdrawal.
 */
export const listSharesToEnd = async (
  db: Database,
  { addressIndex, consumerId, businessId, withdrawnAt }: NamedPerson & { readonly withdrawnAt: Instant },
  now: Instant,
  max: number,
): Promise<readonly ShareId[]> => {
  const isOlder = and(lte(shares.createdAt, withdrawnAt), gt(shares.expiresAt, now), isOfBusiness(businessId));
  const select = (condition: SQL) =>
    db.select({ id: shares.id }).from(shares).where(and(condition, isOlder)).orderBy(shares.ord).limit(max);
  const [named, own] = await batch(db, [
    select(isActiveShareNaming(addressIndex)),
    select(allOf(eq(shares.consumerId, consumerId ?? ("" as ConsumerId)), eq(shares.state, "active"), eq(shares.environment, "live"))),
  ]);
  return [...new Set([...named, ...own].map(({ id }) => id))].slice(0, max);
};

const exportPageSize = 200;

/** Lists all of a person's shares in this shard, oldest first, with the sealed values at the time of each grant. */
export const listSharesForExport = async (db: Database, consumerId: ConsumerId, now: Instant) => {
  const { subjectHash, subjectSealed } = shares;
  const { country } = businesses;
  const page = (after: number) =>
    db
      .select({ share: personShareFields, disclosureText: disclosures.text, subjectHash, subjectSealed, country, anchor: grantAnchorField })
      .from(shares)
      .innerJoin(businesses, eq(businesses.id, shares.businessId))
      .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
      .where(allOf(eq(shares.consumerId, consumerId), gt(shares.ord, after)))
      .orderBy(shares.ord)
      .limit(exportPageSize)
      .all();
  const found = await page(0);
  for (let size = found.length; size === exportPageSize; ) {
    const next = await page(found.at(-1)?.share.ord as number);
    found.push(...next);
    size = next.length;
  }
  return found.map(({ share, ...rest }) => ({ ...rest, share: toShare(share, now) }));
};

export type ExportedShare = Found<typeof listSharesForExport>[number];

/** Lists up to 20 of a person's active shares with a business, newest first. */
export const listActiveSharesByBusiness = async (
  db: Database,
  consumerId: ConsumerId,
  businessId: BusinessId,
  now: Instant,
): Promise<readonly Share[]> => {
  const rows = await selectShares(db)
    .where(
      allOf(
        eq(shares.consumerId, consumerId),
        eq(shares.state, "active"),
        eq(shares.businessId, businessId),
        gt(shares.expiresAt, now),
        isNull(shares.supersededBy),
      ),
    )
    .orderBy(desc(shares.ord))
    .limit(20);
  return rows.map((row) => toShare(row, now));
};
