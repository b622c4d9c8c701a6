// A business's certificate list: one page and the exact total, at a cost that does not grow with the number of certificates. A business
// uses only a few combinations of purpose, recipients and origin. A search finds these groups first, reads each group's newest certificates
// from an index, and adds up the groups' counters for the total.
import { and, count, desc, eq, gte, inArray, lt, lte, sql, type SQL } from "drizzle-orm";
import type { SelectedFields } from "drizzle-orm/sqlite-core";
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { CertificateSummary } from "../core/certificates/published-certificate.ts";
import { planTallies } from "../core/certificates/tallies.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { foldPurpose } from "./certificates.ts";
import { hasAddress } from "./certificate-addresses.ts";
import type { Database } from "./database.ts";
import {
  acceptedEntitiesField,
  entitiesField,
  isListed,
  isListedInCertificate,
  rejectedEntitiesField,
  sortWithdrawnEntities,
  withdrawnEntitiesField,
} from "./entity-withdrawals.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { certificateGroups, certificates, certificateTallies, purposes } from "./schema.ts";
import { jsonTable, query } from "./query.ts";
import { withdrawalField } from "./withdrawals.ts";

export interface CertificateFilter {
  readonly status: CertificateStatus | null;
  readonly emailIndex: string | null;
  readonly phoneIndex: string | null;
  /** Text contained in the purpose; case-insensitive. */
  readonly purposePart: string | null;
  readonly originDomain: string | null;
  readonly entity: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

interface CertificateListQuery {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly filter: CertificateFilter;
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
  originDomain: certificates.originDomain,
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

// Uses instr because LIKE rejects patterns over 50 bytes and treats % and _ as wildcards.
const isOwnPurpose = ({ businessId, environment, filter }: CertificateListQuery) =>
  and(
    eq(purposes.businessId, businessId),
    eq(purposes.environment, environment),
    whenSet(filter.purposePart, (part) => sql`instr(${purposes.purposeFolded}, ${foldPurpose(part)}) > 0`),
  );

const isIssuedBetween = ({ from, to }: CertificateFilter) =>
  and(
    whenSet(from, (at) => gte(certificates.issuedAt, at)),
    whenSet(to, (at) => lte(certificates.issuedAt, at)),
  );

const isOwnCertificate = ({ businessId, environment, filter }: CertificateListQuery) =>
  and(
    eq(certificates.businessId, businessId),
    eq(certificates.environment, environment),
    whenSet(filter.status, (status) => eq(certificates.status, status)),
  );

const selectWithPurposes = <Fields extends SelectedFields>(db: Database, fields: Fields) =>
  db.select(fields).from(certificates).innerJoin(purposes, eq(purposes.id, certificates.purposeId));

/** There are few certificates per email address, so the other filters are applied to each of them. */
const searchByAddress = (db: Database, list: CertificateListQuery) => {
  const { filter } = list;
  const matching = and(
    isOwnCertificate(list),
    whenSet(filter.emailIndex, (index) => hasAddress([index], list)),
    whenSet(filter.phoneIndex, (index) => hasAddress([index], list)),
    whenSet(filter.originDomain, (domain) => eq(certificates.originDomain, domain)),
    whenSet(filter.entity, (entity) => isListedInCertificate(entity)),
    isIssuedBetween(filter),
    isOwnPurpose(list),
  );
  return { rows: selectWithPurposes(db, listFields).where(matching), totals: [selectWithPurposes(db, { total: count() }).where(matching)] };
};

/** Without a filter, or with only a status, an index on the business lists the newest certificates. */
const searchByBusiness = (db: Database, list: CertificateListQuery) => ({
  rows: selectWithPurposes(db, listFields).where(isOwnCertificate(list)),
  totals: [
    db
      .select({ total: totalField(purposes, list.filter) })
      .from(purposes)
      .where(isOwnPurpose(list)),
  ],
});

/** Returns the sum of the counters for the requested status. */
const totalField = (row: typeof purposes | typeof certificateGroups | typeof certificateTallies, { status }: CertificateFilter) =>
  sql<number>`coalesce(sum(${status === null ? sql`${row.active} + ${row.revoked}` : row[status]}), 0)`;

const isPurposeOfGroup = eq(purposes.id, certificateGroups.purposeId);

const searchByGroups = (db: Database, list: CertificateListQuery) => {
  const { filter } = list;
  const matching = and(
    isOwnPurpose(list),
    whenSet(filter.originDomain, (domain) => eq(certificateGroups.originDomain, domain)),
    whenSet(filter.entity, (entity) => isListed(sql`${certificateGroups.entityListId}`, entity)),
  );
  const statuses = sql`json_each(${JSON.stringify(filter.status === null ? ["active", "revoked"] : [filter.status])}) s`;
  // Reads the newest page of every matching group and status from its index. The result is the newest page across all of them.
  const newestOfGroup = query
    .select({ ord: certificates.ord })
    .from(certificates)
    .where(and(eq(certificates.groupId, certificateGroups.id), sql`${certificates.status} = s.value`, isIssuedBetween(filter)))
    .orderBy(...newestFirst)
    .limit(list.page * list.perPage);
  const rows = db
    .select(listFields)
    .from(purposes)
    .innerJoin(certificateGroups, isPurposeOfGroup)
    .innerJoin(statuses, sql`true`)
    .innerJoin(certificates, inArray(certificates.ord, newestOfGroup))
    .where(matching);

  const ofGroups = (total: SQL<number>) => db.select({ total }).from(purposes).innerJoin(certificateGroups, isPurposeOfGroup);
  if (filter.from === null && filter.to === null)
    return { rows, totals: [ofGroups(totalField(certificateGroups, filter)).where(matching)] };
  // SQLite does not reorder a cross join. With any other join, it would read a group's counters and certificates before the period is
  // known.
  const periods = planTallies(filter.from, filter.to);
  const whole = jsonTable(periods.wholeSpans);
  const rest = jsonTable(periods.remainders);
  const start = certificateTallies.start;
  const tallies = ofGroups(totalField(certificateTallies, filter))
    .innerJoin(whole.each, sql`true`)
    .crossJoin(certificateTallies)
    .where(
      and(
        matching,
        eq(certificateTallies.groupId, certificateGroups.id),
        eq(certificateTallies.span, whole.cell("span")),
        gte(start, whole.cell("from")),
        lt(start, whole.cell("to")),
      ),
    );
  const edges = ofGroups(count())
    .innerJoin(rest.each, sql`true`)
    .innerJoin(statuses, sql`true`)
    .crossJoin(certificates)
    .where(
      and(
        matching,
        eq(certificates.groupId, certificateGroups.id),
        sql`${certificates.status} = s.value`,
        gte(certificates.issuedAt, rest.cell("from")),
        lt(certificates.issuedAt, rest.cell("to")),
      ),
    );
  return { rows, totals: [tallies, edges] };
};

/** Counts a business's certificates by status, from the counters of its purposes. */
export const countCertificatesByStatus = (
  db: Database,
  { businessId, environment }: Pick<CertificateListQuery, "businessId" | "environment">,
): Lookup<Readonly<Record<CertificateStatus, number>>> => {
  const sumOf = (status: CertificateStatus) => sql<number>`coalesce(sum(${purposes[status]}), 0)`;
  const sums = db
    .select({ active: sumOf("active"), revoked: sumOf("revoked") })
    .from(purposes)
    .where(and(eq(purposes.businessId, businessId), eq(purposes.environment, environment)));
  return createLookup(db, [sums], ([[counts = { active: 0, revoked: 0 }]]) => counts);
};

/** Returns one page of a business's certificates, newest first, and the exact total for the filter. SPEC Certificate API. */
export const listCertificatePage = (
  db: Database,
  list: CertificateListQuery,
): Lookup<{ readonly certificates: readonly CertificateSummary[]; readonly total: number }> => {
  const { status: _, emailIndex, phoneIndex, ...searched } = list.filter;
  const isSearched = Object.values(searched).some((value) => value !== null);
  const search = emailIndex !== null || phoneIndex !== null ? searchByAddress : isSearched ? searchByGroups : searchByBusiness;
  const { rows, totals } = search(db, list);
  const page = rows
    .orderBy(...newestFirst)
    .limit(list.perPage)
    .offset((list.page - 1) * list.perPage);
  return createLookup(db, [page, ...totals], ([listed, ...sums]) => ({
    certificates: listed.map(({ accepted, rejected, entitiesWithdrawn, ...row }) => ({
      ...row,
      entitiesWithdrawn: sortWithdrawnEntities(entitiesWithdrawn),
      answered: accepted === null || rejected === null ? null : { accepted, rejected },
    })),
    total: sums.flat().reduce((sum, { total }) => sum + total, 0),
  }));
};
