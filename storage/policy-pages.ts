// Pages whose policies must be captured. If a certificate cannot use an earlier capture, it refers to its page in this table until the page
// is captured. All certificates of a page refer to one row, so a page that cannot be fetched causes the same work for 100,000 certificates
// as for one. Businesses take turns, so that a business with many pages does not delay the others. SPEC Policy snapshot.
import { eq, lte, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import { secondMs, type Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import type { Database, Found, Statement } from "./database.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { isKnownPage, isSharedCapture, type PolicyLocation } from "./policies.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, countIn, existsIn, notExistsIn, query } from "./query.ts";
import { businesses, certificates, policyCaptures, policyPages, policyTurns } from "./schema.ts";

const leaseMs = 60 * secondMs; // longer than a capture (25 s) plus the time to link the first certificates
const maxPages = 20; // waiting pages per business; limited, because anyone can submit any page of its site
const maxUnknownPages = 10; // how many of the waiting pages can be unknown, so that the other places are left for known pages

const { ord, businessId, origin, page, nextAt, attempts } = policyPages;

/** Identifies a business's row for all certificates whose pages exceed the limit. These certificates get a capture without policies. */
const overLimit = { origin: "", page: "" };

/** The page of a certificate that is being issued. The values can be placeholders. */
interface RequestedPage {
  readonly businessId: string | SQLWrapper;
  readonly policyOrigin: string | SQLWrapper;
  readonly policyPage: string | SQLWrapper;
  /** The certificate can reuse only captures that are newer than this time. */
  readonly policiesNotBefore: Instant | SQLWrapper;
}

const isPage = (of: RequestedPage["businessId"], at: { readonly origin: unknown; readonly page: unknown }): SQL =>
  allOf(eq(businessId, of as BusinessId), sql`${origin} = ${at.origin}`, sql`${page} = ${at.page}`);
const isRequestedPage = (page: RequestedPage): SQL => isPage(page.businessId, { origin: page.policyOrigin, page: page.policyPage });
const sharedCapture = (page: RequestedPage): SQL => isSharedCapture(page.policyOrigin, page.policyPage, page.policiesNotBefore);

/**
 * Requests a capture of a certificate's page, unless an earlier capture can be used or the page is already waiting. Must come before the
 * insert of the certificate in the batch. Returns a row if it has inserted one.
 */
export const requestPolicyCapture = prepareOnce<{
  businessId: BusinessId;
  policyOrigin: string;
  policyPage: string;
  policiesNotBefore: Instant;
  now: Instant;
}>()((db, page) => {
  const isWaiting = sql`${eq(businessId, page.businessId)} and ${origin} <> ''`;
  const waiting = countIn(policyPages, isWaiting);
  const unknownWaiting = countIn(policyPages, isWaiting, sql`not ${isKnownPage(sql`${origin}`, sql`${policyPages.page}`, page.now)}`);
  const isKnown = isKnownPage(page.policyOrigin, page.policyPage, page.now);
  const isWithin = sql`(${waiting} < ${maxPages} and (${isKnown} or ${unknownWaiting} < ${maxUnknownPages}))`;
  const isNeeded = allOf(notExistsIn(policyCaptures, sharedCapture(page)), notExistsIn(policyPages, isRequestedPage(page)));
  return db
    .insert(policyPages, "businessId", "origin", "page", "nextAt", "createdAt")
    .select(
      sql`select ${page.businessId}, iif(${isWithin}, ${page.policyOrigin}, ''), iif(${isWithin}, ${page.policyPage}, ''), ${page.now}, ${page.now} where ${isNeeded}`,
    )
    .onConflictDoNothing()
    .returning({ ord })
    .prepare();
});

/**
 * Selects the page that a new certificate refers to until its policies are captured, or null if the certificate can use an earlier capture.
 */
export const selectRequestedPage = (page: RequestedPage): SQL<number | null> => {
  const isNeeded = notExistsIn(policyCaptures, sharedCapture(page));
  const find = (condition: SQL): SQL => sql`${query.select({ ord }).from(policyPages).where(allOf(condition, isNeeded))}`;
  return sql`coalesce(${find(isRequestedPage(page))}, ${find(isPage(page.businessId, overLimit))})`;
};

/**
 * Gives the next turn to a business that has due pages and no current turn: the one whose last turn was longest ago. Returns null if there
 * is no such business.
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

export const endPolicyTurn = (db: Database, businessId: BusinessId, now: Instant) =>
  db.update(policyTurns).set({ until: now }).where(eq(policyTurns.businessId, businessId));

/**
 * Gives the next turn to a business, and claims its page that has been due for the longest time. Returns null if no business can get a
 * turn. Concurrent calls get pages of different businesses.
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

export const postponePolicyPage = (db: Database, page: ClaimedPage, at: Instant) =>
  db.update(policyPages).set({ nextAt: at }).where(eq(ord, page.ord));

/**
 * Call this after an attempt that failed because of a problem in our service. The attempt is no longer counted. The page is due again when
 * its lease ends.
 */
export const revertPolicyAttempt = (db: Database, page: ClaimedPage) =>
  db
    .update(policyPages)
    .set({ attempts: sql`max(0, ${attempts} - 1)` })
    .where(eq(ord, page.ord));

const isWaitingFor = (pageId: number): SQL => eq(certificates.policyPageId, pageId);

/** Lists the certificates that still refer to a page, oldest first. */
export const listCertificatesAwaitingPolicies = (db: Database, page: ClaimedPage, max: number) =>
  db
    .select({ certId: certificates.id, chain: businessChainFields })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(isWaitingFor(page.ord))
    .orderBy(certificates.ord)
    .limit(max)
    .all();

/** Deletes a page unless a certificate still refers to it. */
export const deleteFinishedPage = (db: Database, page: ClaimedPage) =>
  db.delete(policyPages).where(allOf(eq(ord, page.ord), sql`not ${existsIn(certificates, isWaitingFor(page.ord))}`));

/** Returns the statements that delete a page, or renew its lease if a certificate still refers to it. */
export const finishPolicyWork = (db: Database, page: ClaimedPage, now: Instant): readonly Statement[] => [
  deleteFinishedPage(db, page),
  postponePolicyPage(db, page, now + leaseMs),
];
