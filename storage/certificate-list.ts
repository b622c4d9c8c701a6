// The list of a business's certificates: one page and the exact total, at a cost that does not grow with the number of
// certificates. Totals come from the counters kept per purpose, and a search by purpose first finds the purposes (few,
// and they repeat) and then takes the newest certificates of each from its index.
import { and, count, desc, eq, gte, inArray, lte, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { ListedCertificate } from "../core/certificates/published.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { foldedPurpose } from "./certificates.ts";
import { batch, type Database } from "./database.ts";
import { inOrder, withdrawnEntitiesField } from "./entity-withdrawals.ts";
import { certificates, purposes } from "./schema.ts";
import { query } from "./query.ts";
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

const given = <T, R>(value: T | null, condition: (value: T) => R): R | undefined => (value === null ? undefined : condition(value));

/** Everything but the purpose: that one decides which index is walked. Undefined where nothing but the status is asked. */
const narrowedBy = (filter: ListFilter) =>
  and(
    given(filter.emailIndex, (index) => eq(certificates.emailIndex, index)),
    given(filter.phoneIndex, (index) => eq(certificates.phoneIndex, index)),
    given(filter.originDomain, (domain) => eq(certificates.originDomain, domain)),
    given(filter.entity, (entity) => sql`exists (select 1 from json_each(${certificates.entities}) where value = ${entity})`),
    given(filter.from, (from) => gte(certificates.issuedAt, from)),
    given(filter.to, (to) => lte(certificates.issuedAt, to)),
  );

const fields = {
  id: certificates.id,
  status: certificates.status,
  fingerprint: certificates.fingerprint,
  issuedAt: certificates.issuedAt,
  purpose: purposes.purpose,
  originDomain: certificates.originDomain,
  entities: certificates.entities,
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
const ofPurpose = eq(certificates.purposeId, purposes.id);

/** Newest first. One round trip: the page and the total are one batch. */
export const certificatePage = async (
  db: Database,
  asked: {
    readonly businessId: BusinessId;
    readonly environment: Environment;
    readonly filter: ListFilter;
    readonly page: number;
    readonly perPage: number;
  },
): Promise<{ readonly certificates: readonly ListedCertificate[]; readonly total: number }> => {
  const { filter, businessId, environment, perPage } = asked;
  const narrowed = narrowedBy(filter);
  const conditions = and(
    given(filter.status, (status) => eq(certificates.status, status)),
    narrowed,
  );
  const offset = (asked.page - 1) * perPage;
  // instr, not LIKE: LIKE refuses patterns over 50 bytes and would give % and _ a meaning
  const matching = given(filter.purposePart, (part) => sql`instr(${purposes.purposeFolded}, ${foldedPurpose(part)}) > 0`);
  const own = and(eq(certificates.businessId, businessId), eq(certificates.environment, environment), conditions, matching);
  const ownPurposes = and(eq(purposes.businessId, businessId), eq(purposes.environment, environment), matching);

  const newestOfPurpose = query
    .select({ ord: certificates.ord })
    .from(certificates)
    .where(and(ofPurpose, conditions))
    .orderBy(...newestFirst)
    .limit(offset + perPage);
  const walksPurposes = matching !== undefined && filter.emailIndex === null && filter.phoneIndex === null;
  const joined = walksPurposes
    ? // The newest page of every matching purpose, from its index; the answer is the newest page of all of these.
      db.select(fields).from(purposes).innerJoin(certificates, inArray(certificates.ord, newestOfPurpose)).where(ownPurposes)
    : db.select(fields).from(certificates).innerJoin(purposes, ofPurpose).where(own);
  const page = joined
    .orderBy(...newestFirst)
    .limit(perPage)
    .offset(offset);

  const counter = filter.status === null ? sql`${purposes.active} + ${purposes.revoked}` : purposes[filter.status];
  const total =
    narrowed === undefined
      ? db
          .select({ total: sql<number>`coalesce(sum(${counter}), 0)` })
          .from(purposes)
          .where(ownPurposes)
      : db.select({ total: count() }).from(certificates).innerJoin(purposes, ofPurpose).where(own);

  const [rows, [counted]] = await batch(db, [page, total]);
  return {
    certificates: rows.map(({ accepted, rejected, entitiesWithdrawn, ...row }) => ({
      ...row,
      entitiesWithdrawn: inOrder(entitiesWithdrawn),
      answered: accepted === null || rejected === null ? null : { accepted, rejected },
    })),
    total: counted?.total ?? 0,
  };
};
