// Pages whose policies must be captured. If a certificate cannot use an earlier capture, it refers to its page in this table until the page
// is captured. All certificates of a page refer to one row, so a page that cannot be fetched causes no more work for 100,000 certificates
// than for one. Businesses take turns, so that a business with many pages does not delay the others. SPEC Policy snapshot.
import { eq, lte, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import { secondMs, type Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import type { Database, Found, Statement } from "./database.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { isSharedCapture, type PolicyLocation } from "./policies.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, countIn, existsIn, notExistsIn, query } from "./query.ts";
import { businesses, certificates, policyCaptures, policyPages, policyTurns } from "./schema.ts";

const leaseMs = 60 * secondMs; // longer than a capture (25 s) plus the time to link the first certificates
const maxPages = 20; // per business, because anyone can submit any page of the business's site

const { ord, businessId, origin, page, nextAt, attempts } = policyPages;

/** The row of a business for certificates whose page exceeds the limit. These certificates get a capture without policies. */
const overLimit = { origin: "", page: "" };

/** The page of a certificate that is being issued. The values can be placeholders. */
interface RequestedPage {
  readonly businessId: string | SQLWrapper;
  readonly policyOrigin: string | SQLWrapper;
  readonly policyPage: string | SQLWrapper;
  /** The certificate can use an earlier capture only if the capture is newer than this time. */
  readonly policiesNotBefore: Instant | SQLWrapper;
}

const isPage = (of: RequestedPage["businessId"], at: { readonly origin: unknown; readonly page: unknown }): SQL =>
  allOf(eq(businessId, of as BusinessId), sql`${origin} = ${at.origin}`, sql`${page} = ${at.page}`);
const isRequestedPage = (of: RequestedPage): SQL => isPage(of.businessId, { origin: of.policyOrigin, page: of.policyPage });
const sharedCapture = (of: RequestedPage): SQL => isSharedCapture(of.policyOrigin, of.policyPage, of.policiesNotBefore);

/**
 * Requests a capture of a certificate's page, unless an earlier capture can be used or the page is already waiting. Must come before the
 * insert of the certificate in the batch. Returns a row if it has added the page.
 */
export const requestPolicyCapture = prepareOnce<{
  businessId: BusinessId;
  policyOrigin: string;
  policyPage: string;
  policiesNotBefore: Instant;
  now: Instant;
}>()((db, of) => {
  const isWithin = sql`${countIn(policyPages, eq(businessId, of.businessId), sql`${origin} <> ''`)} < ${maxPages}`;
  const isNeeded = allOf(notExistsIn(policyCaptures, sharedCapture(of)), notExistsIn(policyPages, isRequestedPage(of)));
  return db
    .insert(policyPages, "businessId", "origin", "page", "nextAt", "createdAt")
    .select(
      sql`select ${of.businessId}, iif(${isWithin}, ${of.policyOrigin}, ''), iif(${isWithin}, ${of.policyPage}, ''), ${of.now}, ${of.now} where ${isNeeded}`,
    )
    .onConflictDoNothing()
    .returning({ ord })
    .prepare();
});

/**
 * Selects the page that a new certificate refers to until its policies are captured. Selects null if the certificate can use an earlier
 * capture.
 */
export const selectRequestedPage = (of: RequestedPage): SQL<number | null> => {
  const isNeeded = notExistsIn(policyCaptures, sharedCapture(of));
  const find = (condition: SQL): SQL => sql`${query.select({ ord }).from(policyPages).where(allOf(condition, isNeeded))}`;
  return sql`coalesce(${find(isRequestedPage(of))}, ${find(isPage(of.businessId, overLimit))})`;
};

/**
 * Gives the next turn to a business that has due pages and no current turn. Chooses the business whose last turn was longest ago. Returns
 * null if there is none.
 */
const claimPolicyTurn = async (db: Database, now: Instant): Promise<BusinessId | null> => {
  const last = sql`coalesce(${policyTurns.takenAt}, 0)`;
  const next = query
    .select({ businessId, takenAt: sql<number>`${now}`.as("taken_at"), until: sql<number>`${now + leaseMs}`.as("until") })
    .from(policyPages)
    .leftJoin(policyTurns, eq(policyTurns.businessId, businessId))
    .where(allOf(lte(nextAt, now), sql`coalesce(${policyTurns.until}, 0) <= ${now}`))
    .orderBy(last, nextAt, ord)
    .limit(1);
  const turn = await db
    .insert(policyTurns)
    .select(next)
    .onConflictDoUpdate({ target: policyTurns.businessId, set: { takenAt: now, until: now + leaseMs } })
    .returning({ businessId: policyTurns.businessId })
    .get();
  return turn?.businessId ?? null;
};

export const endPolicyTurn = (db: Database, of: BusinessId, now: Instant) =>
  db.update(policyTurns).set({ until: now }).where(eq(policyTurns.businessId, of));

/**
 * Claims the most overdue page of the business that gets the next turn. Returns null if no business can get a turn. Concurrent workers get
 * pages of different businesses.
 */
export const claimPolicyPage = async (db: Database, now: Instant) => {
  const turn = await claimPolicyTurn(db, now);
  if (turn === null) return null;
  const [claimed] = await claimDueRows(db, policyPages, { now, leaseMs, max: 1, only: eq(businessId, turn) });
  if (claimed === undefined) return null;
  const location: PolicyLocation | null = claimed.origin === overLimit.origin ? null : { origin: claimed.origin, page: claimed.page };
  return { ord: claimed.ord, businessId: turn, location, attempts: claimed.attempts };
};

export type ClaimedPage = Found<typeof claimPolicyPage>;

export const postponePolicyPage = (db: Database, of: ClaimedPage, at: Instant) =>
  db.update(policyPages).set({ nextAt: at }).where(eq(ord, of.ord));

/** Reduces the number of attempts by one, because a problem in our service caused the failure. The page is due again after its lease. */
export const revertPolicyAttempt = (db: Database, of: ClaimedPage) =>
  db
    .update(policyPages)
    .set({ attempts: sql`max(0, ${attempts} - 1)` })
    .where(eq(ord, of.ord));

const isWaitingFor = (of: number): SQL => eq(certificates.policyPageId, of);

/** Lists the certificates that still refer to a page, oldest first. */
export const listCertificatesAwaitingPolicies = (db: Database, of: ClaimedPage, max: number) =>
  db
    .select({ certId: certificates.id, chain: businessChainFields })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(isWaitingFor(of.ord))
    .orderBy(certificates.ord)
    .limit(max)
    .all();

/** Deletes a page unless a certificate still refers to it. */
export const deleteFinishedPage = (db: Database, of: ClaimedPage) =>
  db.delete(policyPages).where(allOf(eq(ord, of.ord), sql`not ${existsIn(certificates, isWaitingFor(of.ord))}`));

/** Returns the statements that delete a page if no certificate refers to it, and otherwise renew its lease. */
export const finishPolicyWork = (db: Database, of: ClaimedPage, now: Instant): readonly Statement[] => [
  deleteFinishedPage(db, of),
  postponePolicyPage(db, of, now + leaseMs),
];
