// Finds the certificates and shares that contain a person's verified email address, by its blind index. Anyone can create any number of
// certificates about a person, so the cost must not grow with this number. Therefore, queries step from one business to the next along a
// database index, and count only up to a limit.
import { and, desc, eq, gt, inArray, lt, lte, max, min, ne, sql, type SQL } from "drizzle-orm";
import { toStoredIndex, type AddressIndex, type StoredIndex } from "../core/access/address-index.ts";
import type { BusinessId, CertId, ConsumerId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { WithdrawableCertificate } from "../core/withdrawals/withdrawal.ts";
import { businessChainFields } from "./accounts.ts";
import { hasIndex, mapForms } from "./address-indexes.ts";
import { hasAddress, selectNewestOrds } from "./certificate-addresses.ts";
import type { Database, Found } from "./database.ts";
import { originDomainField } from "./entity-withdrawals.ts";
import { excluded } from "./inserts.ts";
import { createLookup } from "./lookups.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { allOf, existsIn, notExistsIn, query, type Condition } from "./query.ts";
import {
  accountWithdrawals,
  businesses,
  certificateAddresses,
  certificateForms,
  certificates,
  consumers,
  purposes,
  shares,
  withdrawals,
} from "./schema.ts";
import { isExistingConsumer } from "./people.ts";
import { isActiveShareNaming } from "./shares.ts";
import type { IndexReader } from "./vault.ts";
import { withdrawableFields } from "./withdrawals.ts";

const { businessId, issuedAt, ord, status } = certificates;
const named = certificateAddresses;
/** Active and revoked certificates are separate ranges of the primary key, so a query for active ones reads no revoked ones. */
const isActiveCertificate = sql`${named.active} = 1`;
const isRevokedCertificate = sql`${named.active} = 0`;

/**
 * Builds a condition for queries on `certificateAddresses`. It is true for live certificates with the address. Sandbox certificates are not
 * real consent.
 */
const isNamingPerson = (addressIndex: AddressIndex | SQL<StoredIndex>): SQL =>
  allOf(hasIndex(named.addressIndex, addressIndex), eq(named.environment, "live"));

/** Calls `build` with the condition of `isNamingPerson` for each form of the index. Use it for queries that must read the rows in order. */
const mapNamingForms = <Result>(addressIndex: AddressIndex | SQL<StoredIndex>, build: (isNaming: SQL) => Result): readonly Result[] =>
  mapForms(addressIndex, (form) => build(allOf(eq(named.addressIndex, form as StoredIndex), eq(named.environment, "live"))));

const isNamedCertificate = eq(ord, named.certOrd);

export const maxCountedRecords = 1_000;

/**
 * Builds a condition for queries on `shares`. It is true for live shares that contain the person's email address but belong to another
 * person's account.
 */
const isOthersShare = (addressIndex: AddressIndex | SQL<StoredIndex>, person: ConsumerId): SQL =>
  allOf(hasIndex(shares.emailIndex, addressIndex), eq(shares.environment, "live"), ne(shares.consumerId, person));

/** Fields that count the shares with business `id` in which other people used the person's email address, up to 1,000. */
const othersShareFields = (addressIndex: AddressIndex | SQL<StoredIndex>, person: ConsumerId, id: SQL | BusinessId) => {
  const counted = (more?: SQL) =>
    sql<number>`(select count(*) from ${query
      .select({ ord: shares.ord })
      .from(shares)
      .where(and(isOthersShare(addressIndex, person), eq(shares.businessId, id), more))
      .limit(maxCountedRecords)
      .as("counted")})`;
  return {
    othersShares: counted().as("others_shares"),
    activeOthersShares: counted(eq(shares.state, "active")).as("active_others_shares"),
  };
};

/** Counts the shares with one business in which other people used the person's email address. Returns null if there are none. */
export const countOthersShares = async (db: Database, addressIndex: AddressIndex, person: ConsumerId, businessId: BusinessId) => {
  const row = await db
    .select({ name: businesses.name, ...othersShareFields(addressIndex, person, businessId) })
    .from(businesses)
    .where(eq(businesses.id, businessId))
    .get();
  return row === undefined || row.othersShares === 0 ? null : row;
};

/**
 * Lists up to `limit` businesses in this shard that have certificates with the person's email address, or shares in which other people used
 * that address. Sorts them by ID. Counts are capped at 1,000.
 */
export const listNamingBusinesses = (
  db: Database,
  { addressIndex, consumerId }: { readonly addressIndex: AddressIndex | SQL<StoredIndex>; readonly consumerId: ConsumerId },
  { after, limit }: { readonly after: string; readonly limit: number },
) => {
  const next = (behind: string | SQL) => {
    const ofCertificates = (isNaming: SQL, status: SQL) =>
      query
        .select({ id: min(named.businessId).as("id") })
        .from(named)
        .where(allOf(isNaming, status, gt(named.businessId, behind as BusinessId)));
    const ranges = mapNamingForms(addressIndex, (isNaming) => [
      sql`select * from ${ofCertificates(isNaming, isActiveCertificate)}`,
      sql`select * from ${ofCertificates(isNaming, isRevokedCertificate)}`,
    ]).flat();
    const ofShares = query
      .select({ id: min(shares.businessId).as("id") })
      .from(shares)
      .where(allOf(isOthersShare(addressIndex, consumerId), gt(shares.businessId, behind as BusinessId)));
    return sql`(select min(id) from (${sql.join(ranges, sql` union all `)} union all select * from ${ofShares}))`;
  };
  const id = sql<BusinessId>`found.id`;
  const counted = (status: SQL) =>
    sql<number>`(select count(*) from ${query
      .select({ ord: named.certOrd })
      .from(named)
      .where(allOf(isNamingPerson(addressIndex), status, eq(named.businessId, id)))
      .limit(maxCountedRecords)
      .as("counted")})`;
  const ofBusiness = mapNamingForms(addressIndex, (isNaming) => allOf(isNaming, eq(named.businessId, id)));
  const last = sql`(select issued_at from ${certificates} where ${ord} = ${selectNewestOrds(ofBusiness, 1)})`;
  const lastShare = query
    .select({ at: max(shares.createdAt) })
    .from(shares)
    .where(allOf(isOthersShare(addressIndex, consumerId), eq(shares.businessId, id)));
  const found = db
    .select({
      id,
      name: businesses.name,
      certificates: counted(sql`${named.active} in (0, 1)`).as("certificates"),
      active: counted(isActiveCertificate).as("active"),
      ...othersShareFields(addressIndex, consumerId, id),
      lastIssuedAt: sql<Instant>`coalesce(${last}, ${lastShare})`.as("last_issued_at"),
    })
    .from(
      sql`(with recursive step(id) as (select ${next(after)} union all select ${next(sql`step.id`)} from step where step.id is not null limit ${limit + 1}) select id from step where id is not null) found`,
    )
    .innerJoin(businesses, eq(businesses.id, id))
    .orderBy(id)
    .limit(limit);
  return createLookup(db, [found], ([rows]) => rows);
};

export type NamingBusiness = Found<typeof listNamingBusinesses>[number];

/** Returns the issuance time of a live certificate. Returns null if the certificate is unknown or does not contain the address. */
export const findNamedAt = async (db: Database, addressIndex: AddressIndex, certId: CertId): Promise<Instant | null> => {
  const row = await db
    .select({ issuedAt })
    .from(certificates)
    .where(allOf(eq(certificates.id, certId), eq(certificates.environment, "live"), hasAddress(addressIndex)))
    .get();
  return row?.issuedAt ?? null;
};

/**
 * Where a page starts: after a certificate in the same shard, or before the issuance time of a certificate in another shard. If
 * `isIncluded` is true, the page can contain certificates issued at exactly that time.
 */
type NamingStart = { readonly startingAfter: CertId | null } | { readonly before: Instant; readonly isIncluded: boolean };

/** Lists one business's certificates in one shard that contain the address, newest first. */
export const listNamingCertificates = (
  db: Database,
  addressIndex: AddressIndex,
  of: BusinessId,
  { limit, ...from }: NamingStart & { readonly limit: number },
) => {
  const startingAfter = "startingAfter" in from ? from.startingAfter : null;
  const isBefore = "before" in from ? (from.isIncluded ? lte : lt)(named.issuedAt, from.before) : undefined;
  const start = query
    .select({ issuedAt, ord })
    .from(certificates)
    .where(
      allOf(
        eq(certificates.id, startingAfter ?? ("" as CertId)),
        eq(businessId, of),
        eq(certificates.environment, "live"),
        hasAddress(addressIndex),
      ),
    );
  const position = startingAfter === null ? undefined : sql`(${named.issuedAt}, ${named.certOrd}) < ${start}`;
  const ofBusiness = mapNamingForms(addressIndex, (isNaming) => and(isNaming, eq(named.businessId, of), isBefore, position) as SQL);
  return db
    .select({
      id: certificates.id,
      businessName: certificateForms.businessName,
      status,
      purpose: purposes.purpose,
      originDomain: originDomainField,
      issuedAt,
      withdrawnAt: withdrawals.withdrawnAt,
      ceaseBy: withdrawals.ceaseBy,
    })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
    .leftJoin(withdrawals, eq(withdrawals.certId, certificates.id))
    .where(inArray(ord, selectNewestOrds(ofBusiness, limit)))
    .orderBy(desc(issuedAt), desc(ord))
    .all();
};

export type NamingCertificate = Found<typeof listNamingCertificates>[number];

/** Counts the business's active certificates with the address, up to 1,000. */
export const countActiveNamingCertificates = async (db: Database, addressIndex: AddressIndex, businessId: BusinessId): Promise<number> => {
  const counted = query
    .select({ ord: named.certOrd })
    .from(named)
    .where(allOf(isNamingPerson(addressIndex), eq(named.businessId, businessId), isActiveCertificate))
    .limit(maxCountedRecords)
    .as("counted");
  return (await db.select({ active: sql<number>`count(*)` }).from(counted).all())[0]?.active as number;
};

/** A withdrawal of consent for all of a person's certificates with one business, or with all businesses (`businessId` is null). */
export interface AccountWithdrawal {
  readonly addressIndex: AddressIndex;
  /** The person's account. Null for a withdrawal by code or link. */
  readonly consumerId: ConsumerId | null;
  readonly businessId: BusinessId | null;
  /** The time of the withdrawal. Later certificates are new consent and stay active. */
  readonly withdrawnAt: Instant;
  /** True if the withdrawal must still be copied to the other shards that it covers. */
  readonly forAllShards?: boolean;
}

/** Lists the next certificates to withdraw, oldest first. All belong to one business. */
export const listNextToWithdraw = (
  db: Database,
  { addressIndex, businessId: business, withdrawnAt }: AccountWithdrawal,
  limit: number,
): Promise<readonly WithdrawableCertificate[]> => {
  const matching = allOf(isNamingPerson(addressIndex), isActiveCertificate, lte(named.issuedAt, withdrawnAt));
  const first = query
    .select({ id: min(named.businessId) })
    .from(named)
    .where(matching);
  return db
    .select({ ...withdrawableFields, chain: businessChainFields })
    .from(named)
    .innerJoin(certificates, isNamedCertificate)
    .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
    .innerJoin(businesses, eq(businesses.id, businessId))
    .where(and(matching, business === null ? sql`${named.businessId} = ${first}` : eq(named.businessId, business)))
    .orderBy(named.issuedAt, named.certOrd)
    .limit(limit)
    .all();
};

const leaseMs = minuteMs; // longer than one batch takes

const toAccountWithdrawalRow = ({ addressIndex, consumerId, businessId: business, withdrawnAt }: AccountWithdrawal) => ({
  addressIndex: toStoredIndex(addressIndex),
  consumerId,
  businessId: business ?? ("" as const),
  withdrawnAt,
});

/**
 * Saves a withdrawal. If the process dies, a job that runs every minute completes the withdrawal. If it is saved again with a later time,
 * it also covers the certificates that were issued in the meantime. An earlier time is ignored. It can occur because clocks differ, or
 * because a job copies an earlier withdrawal from another shard.
 */
export const insertAccountWithdrawal = (db: Database, work: AccountWithdrawal) =>
  db
    .insert(accountWithdrawals)
    .values({ ...toAccountWithdrawalRow(work), forAllShards: work.forAllShards === true, nextAt: work.withdrawnAt + leaseMs })
    .onConflictDoUpdate({
      target: [accountWithdrawals.addressIndex, accountWithdrawals.businessId],
      set: {
        withdrawnAt: sql`max(${accountWithdrawals.withdrawnAt}, ${excluded(accountWithdrawals.withdrawnAt)})`,
        nextAt: sql`max(${accountWithdrawals.nextAt}, ${excluded(accountWithdrawals.nextAt)})`,
        forAllShards: sql`max(${accountWithdrawals.forAllShards}, ${excluded(accountWithdrawals.forAllShards)})`,
        consumerId: sql`coalesce(${excluded(accountWithdrawals.consumerId)}, ${accountWithdrawals.consumerId})`,
      },
    });

/** A withdrawal that the person requests in their account. */
type OwnWithdrawal = AccountWithdrawal & { readonly consumerId: ConsumerId };

/** Within this time, a withdrawal counts as a repetition of an unfinished one. After that, the person may have given new consent. */
const repetitionWindowMs = 10 * minuteMs;

/** Builds a condition that is true if no recent unfinished withdrawal in this shard covers everything that `work` covers. */
const isNotCovered = ({ addressIndex, businessId: business, withdrawnAt }: AccountWithdrawal): SQL =>
  notExistsIn(
    accountWithdrawals,
    hasIndex(accountWithdrawals.addressIndex, addressIndex),
    inArray(accountWithdrawals.businessId, business === null ? [""] : ["", business]),
    gt(accountWithdrawals.withdrawnAt, withdrawnAt - repetitionWindowMs),
  );

/**
 * Builds a condition that is true if `work` covers an active certificate in this shard, or an active share that another person made with
 * the address. The person's own shares do not count, because a separate email is sent for each of them.
 */
const hasConsentToWithdraw = ({ addressIndex, consumerId, businessId: business, withdrawnAt }: OwnWithdrawal): SQL => {
  const certificate = and(
    isNamingPerson(addressIndex),
    isActiveCertificate,
    business === null ? undefined : eq(named.businessId, business),
    lte(named.issuedAt, withdrawnAt),
  ) as SQL;
  const share = and(
    isActiveShareNaming(addressIndex),
    business === null ? undefined : eq(shares.businessId, business),
    ne(shares.consumerId, consumerId),
    lte(shares.createdAt, withdrawnAt),
    gt(shares.expiresAt, withdrawnAt),
  ) as SQL;
  return sql`(${existsIn(named, certificate)} or ${existsIn(shares, share)})`;
};

/** Returns true if this shard has consent to withdraw and no recent unfinished withdrawal covers it yet. */
export const hasUncoveredConsent = async (db: Database, work: OwnWithdrawal): Promise<boolean> => {
  const [row] = await db
    .select({ has: sql<number>`${allOf(isNotCovered(work), hasConsentToWithdraw(work))}` })
    .from(sql`(select 1)`)
    .all();
  return row?.has === 1;
};

/**
 * Builds a condition for the email that confirms a withdrawal. Use it in the batch that saves the withdrawal in the person's shard. The
 * condition is false if the request only repeats a recent unfinished withdrawal, if there is no consent to withdraw, or if the account no
 * longer exists. `hasElsewhere` is true if there is consent to withdraw in another shard.
 */
export const isConfirmable = (work: OwnWithdrawal, hasElsewhere: boolean): Condition =>
  allOf(
    isNotCovered(work),
    existsIn(consumers, isExistingConsumer(work.consumerId)),
    ...(hasElsewhere ? [] : [hasConsentToWithdraw(work)]),
  );

/**
 * Claims the unfinished withdrawal that has been due for the longest time. The claim lasts for one minute. Returns null if no withdrawal is
 * due.
 */
export const claimAccountWithdrawal = async (db: Database, vault: IndexReader, now: Instant): Promise<AccountWithdrawal | null> => {
  const [row] = await claimDueRows(db, accountWithdrawals, { now, leaseMs, max: 1 });
  return row === undefined
    ? null
    : { ...row, addressIndex: vault.readIndex(row.addressIndex), businessId: row.businessId === "" ? null : row.businessId };
};

/** Matches the row of a withdrawal, even if the withdrawal was repeated after the row was read. */
const isWithdrawalRow = (work: AccountWithdrawal): SQL =>
  allOf(
    hasIndex(accountWithdrawals.addressIndex, work.addressIndex),
    eq(accountWithdrawals.businessId, toAccountWithdrawalRow(work).businessId),
  );

/** Matches the row of a withdrawal, unless the withdrawal was repeated after the row was read. */
const isSameWithdrawal = (work: AccountWithdrawal): SQL =>
  allOf(isWithdrawalRow(work), eq(accountWithdrawals.withdrawnAt, work.withdrawnAt));

export const markWithdrawalSpread = (db: Database, work: AccountWithdrawal) =>
  db.update(accountWithdrawals).set({ forAllShards: false }).where(isSameWithdrawal(work));

/** Deletes a completed withdrawal, unless it was repeated in the meantime or must still be copied to other shards. */
export const finishAccountWithdrawal = (db: Database, work: AccountWithdrawal) =>
  db.delete(accountWithdrawals).where(allOf(isSameWithdrawal(work), eq(accountWithdrawals.forAllShards, false)));

/** Postpones a withdrawal, unless it was repeated in the meantime. */
export const postponeAccountWithdrawal = (db: Database, work: AccountWithdrawal, at: Instant) =>
  db.update(accountWithdrawals).set({ nextAt: at }).where(isSameWithdrawal(work));

/**
 * Selects the row of a withdrawal, which exists until the withdrawal is completed. If the withdrawal was repeated in the meantime, the row
 * has the later time.
 */
export const selectUnfinishedWithdrawal = (db: Database, work: AccountWithdrawal) =>
  db.select({ withdrawnAt: accountWithdrawals.withdrawnAt }).from(accountWithdrawals).where(isWithdrawalRow(work));
