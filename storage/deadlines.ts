// A business's open deadlines: the cease deadlines of withdrawals and revoked shares that the business has not acknowledged yet. A
// withdrawal covers a whole certificate or individual recipients. SPEC Withdrawal.
import { and, eq, gt, sql, type Column, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { createLookup } from "./lookups.ts";
import { query } from "./query.ts";
import { certificates, entityCeaseDeadlines, entityWithdrawals, purposes, shares, withdrawals } from "./schema.ts";

type Business = BusinessId | Column;

const isOpenWithdrawal = (business: Business, environment: Environment) =>
  and(eq(withdrawals.businessId, business), eq(withdrawals.environment, environment), sql`${withdrawals.acknowledged} = 0`);
const isOpenShare = (business: Business, environment: Environment) =>
  and(eq(shares.businessId, business), eq(shares.environment, environment), sql`${shares.state} = 'revoked'`, gt(shares.ceaseBy, 0));
const isOpenRecipient = (business: Business, environment: Environment) =>
  and(eq(entityCeaseDeadlines.businessId, business), eq(entityCeaseDeadlines.environment, environment));

const maxCounted = 1_000; // per kind of deadline; limits the number of rows that a page of the portal reads

/** A field that counts the open deadlines, up to 1,000 of each kind. `business` can be a column of the outer query. */
export const openDeadlinesField = (business: Business, environment: Environment): SQL<number> => {
  const one = { one: sql`1`.as("one") };
  const counts = [
    query.select(one).from(withdrawals).where(isOpenWithdrawal(business, environment)).limit(maxCounted),
    query.select(one).from(shares).where(isOpenShare(business, environment)).limit(maxCounted),
    query.select(one).from(entityCeaseDeadlines).where(isOpenRecipient(business, environment)).limit(maxCounted),
  ].map((open) => sql`(select count(*) from ${open})`);
  return sql<number>`${sql.join(counts, sql` + `)}`;
};

export const countOpenDeadlines = async (db: Database, businessId: BusinessId, environment: Environment): Promise<number> =>
  (
    await db
      .select({ open: openDeadlinesField(businessId, environment) })
      .from(sql`(select 1)`)
      .all()
  )[0]?.open ?? 0;

const sortDeadlines = <Row extends { readonly id: string; readonly ceaseBy: Instant }>(rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => a.ceaseBy - b.ceaseBy || (a.id < b.id ? -1 : 1));

/** Lists up to `max` open deadlines, soonest first. For a certificate, includes the person's masked contact data. */
export const listOpenDeadlines = (
  db: Database,
  { businessId, environment }: { readonly businessId: BusinessId; readonly environment: Environment },
  max: number,
) => {
  const ofWhole = db
    .select({
      id: withdrawals.certId,
      ceaseBy: withdrawals.ceaseBy,
      withdrawnAt: withdrawals.withdrawnAt,
      purpose: purposes.purpose,
      person: certificates.subjectMasked,
    })
    .from(withdrawals)
    .innerJoin(certificates, eq(certificates.id, withdrawals.certId))
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .where(isOpenWithdrawal(businessId, environment))
    .orderBy(withdrawals.ceaseBy)
    .limit(max + 1);
  const ofShares = db
    .select({
      id: shares.id,
      ceaseBy: sql<Instant>`${shares.ceaseBy}`,
      withdrawnAt: sql<Instant>`${shares.revokedAt}`,
      purpose: shares.purpose,
    })
    .from(shares)
    .where(isOpenShare(businessId, environment))
    .orderBy(shares.ceaseBy)
    .limit(max + 1);
  const ofRecipients = db
    .select({
      id: entityCeaseDeadlines.certId,
      ceaseBy: entityCeaseDeadlines.ceaseBy,
      withdrawnAt: entityWithdrawals.withdrawnAt,
      purpose: purposes.purpose,
      person: certificates.subjectMasked,
    })
    .from(entityCeaseDeadlines)
    .innerJoin(
      entityWithdrawals,
      and(eq(entityWithdrawals.certId, entityCeaseDeadlines.certId), eq(entityWithdrawals.number, entityCeaseDeadlines.number)),
    )
    .innerJoin(certificates, eq(certificates.id, entityCeaseDeadlines.certId))
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .where(isOpenRecipient(businessId, environment))
    .orderBy(entityCeaseDeadlines.ceaseBy)
    .limit(max + 1);
  return createLookup(db, [ofWhole, ofShares, ofRecipients], ([whole, stopped, single]) => {
    const deadlines = sortDeadlines([
      ...whole.map((row) => ({ ...row, kind: "certificate" as const })),
      ...single.map((row) => ({ ...row, kind: "recipients" as const })),
      ...stopped.map((row) => ({ ...row, kind: "share" as const, person: null })),
    ]);
    return { deadlines: deadlines.slice(0, max), hasMore: deadlines.length > max };
  });
};

/** Merges the pages of several shards. */
export const mergeDeadlinePages = (pages: readonly DeadlinePage[], max: number): DeadlinePage => {
  const deadlines = sortDeadlines(pages.flatMap((page) => page.deadlines));
  return { deadlines: deadlines.slice(0, max), hasMore: deadlines.length > max || pages.some(({ hasMore }) => hasMore) };
};

export type DeadlinePage = Found<typeof listOpenDeadlines>;
export type Deadline = DeadlinePage["deadlines"][number];
