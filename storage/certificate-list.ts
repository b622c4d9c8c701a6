// The list of a business's certificates: one page and the exact total, at a cost that does not grow with the number of
// certificates. What can be searched by is few combinations of purpose, recipients and origin. A search first finds these groups,
// then takes the newest certificates of each from its index; totals come from the groups' counters.
import { and, count, desc, eq, gte, inArray, lt, lte, sql, type SQL } from "drizzle-orm";
import type { SelectedFields } from "drizzle-orm/sqlite-core";
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { ListedCertificate } from "../core/certificates/published.ts";
import { talliedPeriods } from "../core/certificates/tallies.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { foldedPurpose } from "./certificates.ts";
import type { Database } from "./database.ts";
import { entitiesField, inOrder, withdrawnEntitiesField } from "./entity-withdrawals.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { certificateGroups, certificates, certificateTallies, entityLists, purposes } from "./schema.ts";
import { eachOf, listHolds, query } from "./query.ts";
import { withdrawalField } from "./withdrawals.ts";

export interface ListFilter {
  readonly status: CertificateStatus | null;
  readonly emailIndex: string | null;
  readonly phoneIndex: string | null;
  /** Part of the purpose, in any case. */
  readonly purposePart: string | null;
  readonly originDomain: string | null;
  readonly entity: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

interface Asked {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly filter: ListFilter;
  readonly page: number;
  readonly perPage: number;
}

const given = <T, R>(value: T | null, condition: (value: T) => R): R | undefined => (value === null ? undefined : condition(value));

const fields = {
  id: certificates.id,
  status: certificates.status,
  fingerprint: certificates.fingerprint,
  issuedAt: certificates.issuedAt,
  purpose: purposes.purpose,
  originDomain: certificates.originDomain,
  entities: entitiesField,
  accepted: certificates.entitiesAccepted,
  rejected: certificates.entitiesRejected,
  subjectMasked: certificates.subjectMasked,
  subjectErasedAt: certificates.subjectErasedAt,
  viewCount: certificates.viewCount,
  environment: certificates.environment,
  withdrawal: withdrawalField,
  entitiesWithdrawn: withdrawnEntitiesField,
};

const newestFirst = [desc(certificates.issuedAt), desc(certificates.ord)];

// instr, not LIKE: LIKE refuses patterns over 50 bytes and would give % and _ a meaning
const ownPurposes = ({ businessId, environment, filter }: Asked) =>
  and(
    eq(purposes.businessId, businessId),
    eq(purposes.environment, environment),
    given(filter.purposePart, (part) => sql`instr(${purposes.purposeFolded}, ${foldedPurpose(part)}) > 0`),
  );

const issuedBetween = ({ from, to }: ListFilter) =>
  and(
    given(from, (at) => gte(certificates.issuedAt, at)),
    given(to, (at) => lte(certificates.issuedAt, at)),
  );

const own = ({ businessId, environment, filter }: Asked) =>
  and(
    eq(certificates.businessId, businessId),
    eq(certificates.environment, environment),
    given(filter.status, (status) => eq(certificates.status, status)),
  );

const withPurposes = <Fields extends SelectedFields>(db: Database, fields: Fields) =>
  db.select(fields).from(certificates).innerJoin(purposes, eq(purposes.id, certificates.purposeId));

/** The certificates of an address are few, so the other filters are asked of each. */
const byAddress = (db: Database, asked: Asked) => {
  const { filter } = asked;
  const matching = and(
    own(asked),
    given(filter.emailIndex, (index) => eq(certificates.emailIndex, index)),
    given(filter.phoneIndex, (index) => eq(certificates.phoneIndex, index)),
    given(filter.originDomain, (domain) => eq(certificates.originDomain, domain)),
    given(filter.entity, (entity) => listHolds(entitiesField, entity)),
    issuedBetween(filter),
    ownPurposes(asked),
  );
  return { rows: withPurposes(db, fields).where(matching), totals: [withPurposes(db, { total: count() }).where(matching)] };
};

/** Without a filter but the status the newest stand in an index of the business. */
const ofBusiness = (db: Database, asked: Asked) => ({
  rows: withPurposes(db, fields).where(own(asked)),
  totals: [
    db
      .select({ total: totalOf(purposes, asked.filter) })
      .from(purposes)
      .where(ownPurposes(asked)),
  ],
});

/** Of rows with counters, the certificates with the status that is asked for. */
const totalOf = (row: typeof purposes | typeof certificateGroups | typeof certificateTallies, { status }: ListFilter) =>
  sql<number>`coalesce(sum(${status === null ? sql`${row.active} + ${row.revoked}` : row[status]}), 0)`;

const purposeOfGroup = eq(purposes.id, certificateGroups.purposeId);
const listOfGroup = eq(entityLists.id, certificateGroups.entityListId);

const byGroups = (db: Database, asked: Asked) => {
  const { filter } = asked;
  const matching = and(
    ownPurposes(asked),
    given(filter.originDomain, (domain) => eq(certificateGroups.originDomain, domain)),
    given(filter.entity, (entity) => listHolds(entityLists.entities, entity)),
  );
  const statuses = sql`json_each(${JSON.stringify(filter.status === null ? ["active", "revoked"] : [filter.status])}) s`;
  // The newest page of every matching group and status, from its index; the answer is the newest page of all of these.
  const newestOfGroup = query
    .select({ ord: certificates.ord })
    .from(certificates)
    .where(and(eq(certificates.groupId, certificateGroups.id), sql`${certificates.status} = s.value`, issuedBetween(filter)))
    .orderBy(...newestFirst)
    .limit(asked.page * asked.perPage);
  const rows = db
    .select(fields)
    .from(purposes)
    .innerJoin(certificateGroups, purposeOfGroup)
    .innerJoin(entityLists, listOfGroup)
    .innerJoin(statuses, sql`true`)
    .innerJoin(certificates, inArray(certificates.ord, newestOfGroup))
    .where(matching);

  const ofGroups = (total: SQL<number>) =>
    db.select({ total }).from(purposes).innerJoin(certificateGroups, purposeOfGroup).innerJoin(entityLists, listOfGroup);
  if (filter.from === null && filter.to === null) return { rows, totals: [ofGroups(totalOf(certificateGroups, filter)).where(matching)] };
  // A cross join is done last: SQLite would else walk a group's counters and certificates before it knows the period.
  const periods = talliedPeriods(filter.from, filter.to);
  const whole = eachOf(periods.whole);
  const rest = eachOf(periods.rest);
  const start = certificateTallies.start;
  const tallies = ofGroups(totalOf(certificateTallies, filter))
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

/** Newest first. */
export const certificatePage = (
  db: Database,
  asked: Asked,
): Lookup<{ readonly certificates: readonly ListedCertificate[]; readonly total: number }> => {
  const { status: _, emailIndex, phoneIndex, ...searched } = asked.filter;
  const isSearched = Object.values(searched).some((value) => value !== null);
  const walk = emailIndex !== null || phoneIndex !== null ? byAddress : isSearched ? byGroups : ofBusiness;
  const { rows, totals } = walk(db, asked);
  const page = rows
    .orderBy(...newestFirst)
    .limit(asked.perPage)
    .offset((asked.page - 1) * asked.perPage);
  return lookup(db, [page, ...totals], ([listed, ...sums]) => ({
    certificates: listed.map(({ accepted, rejected, entitiesWithdrawn, ...row }) => ({
      ...row,
      entitiesWithdrawn: inOrder(entitiesWithdrawn),
      answered: accepted === null || rejected === null ? null : { accepted, rejected },
    })),
    total: sums.flat().reduce((sum, { total }) => sum + total, 0),
  }));
};
