// A business's certificate list: one page and the total. The cost does not grow with the number of certificates. A group is a combination
// of purpose, recipients and origin, and a business normally uses only a few. A search by purpose, domain, recipient or period first finds
// the matching groups. For the page, it merges their newest certificates. For the total, it adds up their counters and the certificates
// that the counters do not include yet. Anyone can submit a form with a new combination, so only a limited number of groups have counters
// (issuances.ts). For groups without counters, a search reads only the newest 1,000 certificates. `isTruncated` says whether the result is
// incomplete.
import { and, asc, count, desc, eq, exists, gte, inArray, lt, lte, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { listStoredForms, type AddressIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { CertificateSummary } from "../core/certificates/published-certificate.ts";
import { maxListedCertificates as maxListed } from "../core/certificates/list-depth.ts";
import type { CertificatePosition, ListExtent, ListRange } from "../core/certificates/shard-pages.ts";
import { planTallies } from "../core/certificates/tallies.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { hasAddress, selectNewestOrds } from "./certificate-addresses.ts";
import { certificatesByOrd, isNewToCounters } from "./certificate-counters.ts";
import { foldPurpose } from "./issuances.ts";
import type { Database } from "./database.ts";
import {
  acceptedEntitiesField,
  entitiesField,
  isListed,
  isListedInCertificate,
  originDomainField,
  rejectedEntitiesField,
  sortWithdrawnEntities,
  withdrawnEntitiesField,
} from "./entity-withdrawals.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { certificateAddresses, certificateGroups, certificates, certificateTallies, certificateTotals, purposes } from "./schema.ts";
import { allOf, jsonList, jsonTable, query } from "./query.ts";
import { withdrawalField } from "./withdrawals.ts";

export interface CertificateFilter {
  readonly status: CertificateStatus | null;
  readonly emailIndex: AddressIndex | null;
  readonly phoneIndex: AddressIndex | null;
  /** The purpose must contain this text. Case is ignored. */
  readonly purposePart: string | null;
  readonly originDomain: string | null;
  readonly entity: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** A business's certificates in one environment that match a filter. */
interface CertificateList {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly filter: CertificateFilter;
}

export interface CertificateListQuery extends CertificateList {
  readonly page: number;
  readonly perPage: number;
}

const whenSet = <T, R>(value: T | null, condition: (value: T) => R): R | undefined => (value === null ? undefined : condition(value));

const listFields = {
  id: certificates.id,
  status: certificates.status,
  fingerprint: certificates.fingerprint,
  issuedAt: certificates.issuedAt,
  purpose: purposes.purpose,
  originDomain: originDomainField,
  entities: entitiesField,
  accepted: acceptedEntitiesField,
  rejected: rejectedEntitiesField,
  subjectMasked: certificates.subjectMasked,
  subjectErasedAt: certificates.subjectErasedAt,
  viewCount: certificates.viewCount,
  environment: certificates.environment,
  withdrawal: withdrawalField,
  entitiesWithdrawn: withdrawnEntitiesField,
};

const newestFirst = [desc(certificates.issuedAt), desc(certificates.ord)];

// Uses `instr`, because D1 rejects LIKE patterns over 50 bytes, and LIKE treats % and _ as wildcards.
const isWantedPurpose = ({ purposePart }: CertificateFilter) =>
  whenSet(purposePart, (part) => sql`instr(${purposes.purposeFolded}, ${foldPurpose(part)}) > 0`);

const isIssuedBetween = ({ from, to }: CertificateFilter) =>
  and(
    whenSet(from, (at) => gte(certificates.issuedAt, at)),
    whenSet(to, (at) => lte(certificates.issuedAt, at)),
  );

const isOwnCertificate = ({ businessId, environment }: Omit<CertificateList, "filter">) =>
  allOf(eq(certificates.businessId, businessId), eq(certificates.environment, environment));

const isWantedStatus = ({ status }: CertificateFilter) => whenSet(status, (wanted) => eq(certificates.status, wanted));

/** All filters except the email address and the phone number. */
const isWanted = ({ filter }: CertificateList) =>
  and(
    isWantedStatus(filter),
    isIssuedBetween(filter),
    isWantedPurpose(filter),
    whenSet(filter.originDomain, (domain) => eq(originDomainField, domain)),
    whenSet(filter.entity, (entity) => isListedInCertificate(entity)),
  );

/**
 * The maximum number of certificates that a search by address reads, newest first. In other searches, the limit applies only to
 * certificates in groups without counters.
 */
const maxJudged = 1_000;
/**
 * To compute the total for a period, a search adds up at most `maxCounters` counters. In hours that are only partly in the period, it
 * counts up to `maxPartial` certificates individually. If a limit is exceeded, the total is a lower bound.
 */
const maxCounters = 20_000;
const maxPartial = 5_000;

/** Returns the position and length of a page. Only the first `maxListed` certificates can be listed. */
export const getPageRange = ({ page, perPage }: Pick<CertificateListQuery, "page" | "perPage">): ListRange => {
  const start = Math.min((page - 1) * perPage, maxListed);
  return { start, length: Math.min(perPage, maxListed - start) };
};

interface Search {
  /** Selects the `ord` of the certificates in a range of the list. */
  readonly selectOrds: (range: ListRange) => SQL;
  readonly totals: readonly SQL<number>[];
  /** Conditions that are true if a limit was exceeded, so that some matches may be missing. */
  readonly omissions: readonly SQL[];
}

/** Searches the newest certificates with the first address. If a second address is given, a certificate must have both. */
const searchByAddress = (list: CertificateList, [index, second]: readonly [AddressIndex, ...AddressIndex[]]): Search => {
  const { addressIndex, businessId, environment } = certificateAddresses;
  const isOfAddress = listStoredForms(index).map((form) =>
    allOf(eq(addressIndex, form), eq(businessId, list.businessId), eq(environment, list.environment)),
  );
  const other = second === undefined ? undefined : hasAddress(second);
  const matching = (newest: SQLWrapper) => sql`from ${newest}
    cross join ${certificates} on ${certificates.ord} = newest.cert_ord
    inner join ${purposes} on ${purposes.id} = ${certificates.purposeId}
    where ${and(sql`true`, isWanted(list), other)}`;
  const newest = selectNewestOrds(isOfAddress, maxJudged);
  return {
    selectOrds: ({ start, length }) =>
      sql`(select ${certificates.ord} ${matching(sql`${newest} newest`)} order by ${certificates.issuedAt} desc, ${certificates.ord} desc limit ${length} offset ${start})`,
    totals: [sql<number>`(select count(*) ${matching(sql`${newest} newest`)})`],
    omissions: [sql`exists ${selectNewestOrds(isOfAddress, 1, maxJudged)}`],
  };
};

/** Handles lists that have no filter or only a status filter. Reads the certificates in order from the database index on the business. */
const searchByBusiness = (list: CertificateList): Search => {
  const newest = ({ start, length }: ListRange) =>
    query
      .select({ ord: certificates.ord })
      .from(certificates)
      .where(and(isOwnCertificate(list), isWantedStatus(list.filter)))
      .orderBy(...newestFirst)
      .limit(length)
      .offset(start);
  const total = query
    .select({ total: totalField(certificateTotals, list.filter) })
    .from(certificateTotals)
    .where(isOwnTotal(list));
  return { selectOrds: (range) => sql`${newest(range)}`, totals: [sql<number>`${total}`, countNew(list)], omissions: [] };
};

/** Counts the matching certificates that the counters do not include yet. */
const countNew = (list: CertificateList, more?: SQL): SQL<number> =>
  sql<number>`(select count(*) from ${certificatesByOrd} cross join ${purposes} on ${purposes.id} = ${certificates.purposeId}
    where ${and(isNewToCounters, isOwnCertificate(list), isWanted(list), more)})`;

const isOwnTotal = ({ businessId, environment }: Omit<CertificateList, "filter">) =>
  allOf(eq(certificateTotals.businessId, businessId), eq(certificateTotals.environment, environment));

const totalField = (row: typeof certificateTotals | typeof certificateGroups | typeof certificateTallies, { status }: CertificateFilter) =>
  sql<number>`coalesce(sum(${status === null ? sql`${row.active} + ${row.revoked}` : row[status]}), 0)`;

/** Selects the groups that can contain matching certificates, and the statuses to search for. */
const selectWantedGroups = ({ businessId, environment, filter }: CertificateList) => ({
  groups: sql`${certificateGroups} inner join ${purposes} on ${purposes.id} = ${certificateGroups.purposeId}`,
  statuses: sql`json_each(${JSON.stringify(filter.status === null ? ["active", "revoked"] : [filter.status])}) s`,
  isWantedGroup: allOf(
    eq(certificateGroups.businessId, businessId),
    eq(certificateGroups.environment, environment),
    sql`${and(
      sql`${certificateGroups.counted} = 1`,
      isWantedPurpose(filter),
      whenSet(filter.originDomain, (domain) => eq(certificateGroups.originDomain, domain)),
      whenSet(filter.entity, (entity) => isListed(sql`${certificateGroups.entityListId}`, entity)),
    )}`,
  ),
});

/**
 * Counts the matching certificates in the groups. For a period, adds up the counters of the hours and days that are completely in the
 * period, and counts the certificates in the rest of the period.
 */
const countInGroups = (
  list: CertificateList,
  { groups, statuses, isWantedGroup }: ReturnType<typeof selectWantedGroups>,
): Omit<Search, "selectOrds"> => {
  const { filter } = list;
  const hasCounters = sql`${certificates.counted} = 1`;
  if (filter.from === null && filter.to === null) {
    const total = sql<number>`(select ${totalField(certificateGroups, filter)} from ${groups} where ${isWantedGroup})`;
    return { totals: [total, countNew(list, hasCounters)], omissions: [] };
  }
  // Cross joins, because SQLite does not reorder them. With other joins, SQLite would read all counters and certificates of a group before
  // checking the period.
  const periods = planTallies(filter.from, filter.to);
  const wholeSpans = jsonTable(periods.wholeSpans);
  const partial = jsonTable(periods.remainders);
  const { groupId, span, start: since } = certificateTallies;
  const tallies = (limit: SQL) => sql`select ${certificateTallies.active}, ${certificateTallies.revoked}
    from ${groups} cross join ${wholeSpans.each} cross join ${certificateTallies}
    where ${isWantedGroup} and ${groupId} = ${certificateGroups.id} and ${span} = ${wholeSpans.cell("span")}
      and ${gte(since, wholeSpans.cell("from"))} and ${lt(since, wholeSpans.cell("to"))} ${limit}`;
  const edges = (limit: SQL) => sql`select 1 from ${groups} cross join ${partial.each} cross join ${statuses} cross join ${certificates}
    where ${isWantedGroup} and ${certificates.groupId} = ${certificateGroups.id} and ${certificates.status} = s.value
      and ${gte(certificates.issuedAt, partial.cell("from"))} and ${lt(certificates.issuedAt, partial.cell("to"))} ${limit}`;
  const sum = sql<number>`(select ${totalField(certificateTallies, filter)} from (${tallies(sql`limit ${maxCounters}`)}) ${certificateTallies})`;
  const counted = sql<number>`(select count(*) from (${edges(sql`limit ${maxPartial}`)}))`;
  const omitted = [tallies(sql`limit 1 offset ${maxCounters}`), edges(sql`limit 1 offset ${maxPartial}`)].map(
    (more) => sql`exists (${more})`,
  );
  const inWholeSpans = sql`exists (select 1 from ${wholeSpans.each} where ${and(gte(certificates.issuedAt, wholeSpans.cell("from")), lt(certificates.issuedAt, wholeSpans.cell("to")))})`;
  const added = countNew(list, sql`${hasCounters} and ${inWholeSpans}`);
  return { totals: [sum, added, counted], omissions: omitted };
};

/** Searches the groups and, separately, the certificates in groups without counters. */
const searchByGroups = (list: CertificateList): Search => {
  const { filter } = list;
  const wanted = selectWantedGroups(list);
  const { groups, statuses, isWantedGroup } = wanted;

  // Merges the certificates of the groups, newest first. Each step of the recursion takes the newest certificate from the queue and adds
  // the next older one of the same group and status. The query therefore reads one certificate per group and status, and then one per
  // certificate in the list. A step does not need to check the end of the period, because it adds only older certificates. With that check,
  // SQLite would not start its index search at the previous certificate.
  const newestOf = (group: SQL, status: SQL, position = isIssuedBetween(filter)) =>
    sql`(select ${certificates.ord} from ${certificates} where ${and(sql`${certificates.groupId} = ${group}`, sql`${certificates.status} = ${status}`, position)} order by ${certificates.issuedAt} desc, ${certificates.ord} desc limit 1)`;
  const behind = and(
    sql`(${certificates.issuedAt}, ${certificates.ord}) < (m.issued_at, m.ord)`,
    whenSet(filter.from, (at) => gte(certificates.issuedAt, at)),
  );
  const columns = sql`${certificates.ord}, ${certificates.issuedAt}, ${certificates.groupId}, ${certificates.status}`;
  const merged = ({ start, length }: ListRange) => sql`merged(ord, issued_at, group_id, status) as (
    select ${columns} from ${groups} cross join ${statuses} cross join ${certificates}
      on ${certificates.ord} = ${newestOf(sql`${certificateGroups.id}`, sql`s.value`)} where ${isWantedGroup}
    union all
    select ${columns} from merged m cross join ${certificates}
      on ${certificates.ord} = ${newestOf(sql`m.group_id`, sql`m.status`, behind)}
    order by 2 desc, 1 desc limit ${start + length})`;
  const isUncounted = allOf(isOwnCertificate(list), sql`${and(sql`${certificates.counted} = 0`, isIssuedBetween(filter))}`);
  const uncounted = () =>
    query
      .select({ ord: certificates.ord })
      .from(certificates)
      .where(isUncounted)
      .orderBy(...newestFirst);
  const wantedUncounted = sql`from (${uncounted().limit(maxJudged)}) newest cross join ${certificates} on ${certificates.ord} = newest.ord
    inner join ${purposes} on ${purposes.id} = ${certificates.purposeId} where ${and(sql`true`, isWanted(list))}`;
  const selectOrds = (range: ListRange) => sql`(with recursive ${merged(range)} select ord from (
    select ord, issued_at from merged union all select ${certificates.ord}, ${certificates.issuedAt} ${wantedUncounted})
    order by issued_at desc, ord desc limit ${range.length} offset ${range.start})`;
  const inGroups = countInGroups(list, wanted);
  return {
    selectOrds,
    totals: [...inGroups.totals, sql<number>`(select count(*) ${wantedUncounted})`],
    omissions: [exists(uncounted().limit(1).offset(maxJudged)), ...inGroups.omissions],
  };
};

const maxListedDomains = 100;

/**
 * Lists up to 100 hosts of a domain on which a business's certificates were issued, in alphabetical order. Omits hosts that occur only in
 * groups without counters.
 */
export const listOriginDomains = async (
  db: Database,
  { businessId, environment, domain }: Pick<CertificateListQuery, "businessId" | "environment"> & { readonly domain: string },
): Promise<readonly string[]> => {
  const { originDomain } = certificateGroups;
  const suffix = `.${domain}`;
  const rows = await db
    .selectDistinct({ originDomain })
    .from(certificateGroups)
    .where(
      allOf(
        eq(certificateGroups.businessId, businessId),
        eq(certificateGroups.environment, environment),
        sql`${certificateGroups.counted} = 1`,
        sql`(${originDomain} = ${domain} or substr(${originDomain}, -length(${suffix})) = ${suffix})`,
      ),
    )
    .orderBy(originDomain)
    .limit(maxListedDomains);
  return rows.map((row) => row.originDomain);
};

/** Counts a business's certificates by status. */
export const countCertificatesByStatus = (
  db: Database,
  scope: Pick<CertificateListQuery, "businessId" | "environment">,
): Lookup<Readonly<Record<CertificateStatus, number>>> => {
  const { active, revoked } = certificateTotals;
  const totals = db.select({ active, revoked }).from(certificateTotals).where(isOwnTotal(scope));
  const added = db
    .select({ status: sql<CertificateStatus>`${certificates.status}`.as("status"), count: count().as("count") })
    .from(certificatesByOrd)
    .where(allOf(isNewToCounters, isOwnCertificate(scope)))
    .groupBy(certificates.status);
  return createLookup(db, [totals, added], ([[counted = { active: 0, revoked: 0 }], rows]) => {
    const countOf = (status: CertificateStatus): number => counted[status] + (rows.find((row) => row.status === status)?.count ?? 0);
    return { active: countOf("active"), revoked: countOf("revoked") };
  });
};

export interface CertificatePage {
  readonly certificates: readonly CertificateSummary[];
  /** The number of matching certificates on all pages. If `isTruncated` is true, this is a lower bound. */
  readonly total: number;
  /** True if more than `total` certificates may match, or if the pages cannot show all matches. */
  readonly isTruncated: boolean;
}

const searchCertificates = (list: CertificateList): Search => {
  const { status: _, emailIndex, phoneIndex, ...searched } = list.filter;
  const isSearched = Object.values(searched).some((value) => value !== null);
  const [address, ...others] = [emailIndex, phoneIndex].filter((index) => index !== null);
  if (address !== undefined) return searchByAddress(list, [address, ...others]);
  return isSearched ? searchByGroups(list) : searchByBusiness(list);
};

const sumFields = ({ totals, omissions }: Search) => ({
  total: sql<number>`${sql.join([...totals], sql` + `)}`.as("total"),
  isTruncated: sql`(${sql.join([sql`false`, ...omissions], sql` or `)})`.mapWith(Boolean).as("is_truncated"),
});
const oneRow = sql`(select 1)`;

const selectListed = (db: Database, condition: SQL) =>
  db
    .select(listFields)
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .where(condition)
    .orderBy(...newestFirst);

const toSummary = ({
  accepted,
  rejected,
  entitiesWithdrawn,
  ...row
}: Awaited<ReturnType<ReturnType<typeof selectListed>["all"]>>[number]): CertificateSummary => ({
  ...row,
  entitiesWithdrawn: sortWithdrawnEntities(entitiesWithdrawn),
  answered: accepted === null || rejected === null ? null : { accepted, rejected },
});

/** Returns one page of a business's certificates in one shard, newest first, and the total for the filter. SPEC Certificate API. */
export const listCertificatePage = (db: Database, list: CertificateListQuery): Lookup<CertificatePage> => {
  const search = searchCertificates(list);
  const listed = selectListed(db, inArray(certificates.ord, search.selectOrds(getPageRange(list))));
  return createLookup(db, [listed, db.select(sumFields(search)).from(oneRow)], ([rows, [sum]]) => {
    const total = sum?.total ?? 0;
    return { certificates: rows.map(toSummary), total, isTruncated: sum?.isTruncated === true || total > maxListed };
  });
};

/**
 * Returns the total for the filter in one shard. Also returns the issuance times of the business's newest and oldest certificates in this
 * shard, regardless of the filter.
 */
export const findListExtent = (db: Database, list: CertificateList): Lookup<ListExtent> => {
  const endOfList = (order: typeof asc): SQL<Instant | null> =>
    sql`${query
      .select({ at: certificates.issuedAt })
      .from(certificates)
      .where(isOwnCertificate(list))
      .orderBy(order(certificates.issuedAt))
      .limit(1)}`;
  const extent = db
    .select({ ...sumFields(searchCertificates(list)), newestAt: endOfList(desc).as("newest_at"), oldestAt: endOfList(asc).as("oldest_at") })
    .from(oneRow);
  return createLookup(db, [extent], ([[found]]) => found ?? { total: 0, isTruncated: false, newestAt: null, oldestAt: null });
};

/** Returns a range of the list's certificates in one shard. */
export const listCertificateRange = (db: Database, list: CertificateList, range: ListRange): Lookup<readonly CertificateSummary[]> => {
  const listed = selectListed(db, inArray(certificates.ord, searchCertificates(list).selectOrds(range)));
  return createLookup(db, [listed], ([rows]) => rows.map(toSummary));
};

/** Like `listCertificateRange`, but returns only the ID and the issuance time of each certificate. */
export const listCertificatePositions = async (
  db: Database,
  list: CertificateList,
  range: ListRange,
): Promise<readonly CertificatePosition[]> => {
  const { id, issuedAt } = certificates;
  return db
    .select({ id, issuedAt })
    .from(certificates)
    .where(inArray(certificates.ord, searchCertificates(list).selectOrds(range)))
    .orderBy(...newestFirst);
};

/** Returns the summaries of these certificates, in no particular order. */
export const listCertificatesByIds = async (db: Database, ids: readonly CertId[]): Promise<readonly CertificateSummary[]> =>
  (await selectListed(db, inArray(certificates.id, jsonList(ids))).all()).map(toSummary);

/** Adds up the totals of several shards. */
export const sumExtents = (extents: readonly ListExtent[]): Omit<CertificatePage, "certificates"> => {
  const total = extents.reduce((sum, extent) => sum + extent.total, 0);
  return { total, isTruncated: extents.some(({ isTruncated }) => isTruncated) || total > maxListed };
};
