// A business's domains: claims, their verification, and the periodic checks of verified domains.
import { desc, eq, getColumns, inArray, isNotNull, lte, type SQL } from "drizzle-orm";
import type { DomainCheckState } from "../core/accounts/domain-claim.ts";
import type { VerificationMethod } from "../core/access/origins.ts";
import type { AuditChain } from "../core/domain-events.ts";
import type { BusinessId } from "../core/ids.ts";
import { hourMs, type Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import type { Database, Found } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { allOf, existsIn, query } from "./query.ts";
import { businesses, domains } from "./schema.ts";

const { businessId: _, nextCheckAt: __, misses: ___, ...shown } = getColumns(domains);
export type Domain = Pick<typeof domains.$inferSelect, keyof typeof shown>;

const maxDomains = 100;

const isOwnDomain = (businessId: BusinessId, id: string): SQL => allOf(eq(domains.id, id), eq(domains.businessId, businessId));
/** Builds a condition that is true if the claim has expired and the domain was not verified. */
export const isExpiredClaim = (now: Instant): SQL =>
  allOf(eq(domains.status, "pending"), isNotNull(domains.expiresAt), lte(domains.expiresAt, now));

/**
 * Deletes the business's expired claim for the domain, and inserts a new claim. Fails if the business has already claimed the domain
 * (`isDomainAlreadyClaimed`) or has 100 domains (`isDomainLimitReached`).
 */
export const insertDomain = (
  db: Database,
  businessId: BusinessId,
  claim: Pick<Domain, "id" | "domain" | "token" | "createdAt" | "expiresAt">,
) => {
  const owner = ownerIfBelowLimit(domains.businessId, businessId, maxDomains);
  return [
    db.delete(domains).where(allOf(eq(domains.businessId, businessId), eq(domains.domain, claim.domain), isExpiredClaim(claim.createdAt))),
    db.insert(domains).values({ ...claim, businessId: owner, status: "pending" }),
  ] as const;
};

export const isDomainLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", domains.businessId);
export const isDomainAlreadyClaimed = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", domains.businessId, domains.domain);

export const listDomainsByBusiness = (db: Database, businessId: BusinessId): Lookup<readonly Domain[]> =>
  createLookup(
    db,
    [db.select(shown).from(domains).where(eq(domains.businessId, businessId)).orderBy(desc(domains.createdAt), domains.domain)],
    ([rows]) => rows,
  );

/** Finds a domain of the business. Returns null if the domain does not exist or belongs to another business. */
export const findDomain = async (db: Database, businessId: BusinessId, id: string): Promise<Domain | null> =>
  (await db.select(shown).from(domains).where(isOwnDomain(businessId, id)).get()) ?? null;

/** Deletes a domain. Does nothing if the domain belongs to another business. */
export const deleteDomain = (db: Database, businessId: BusinessId, id: string) => db.delete(domains).where(isOwnDomain(businessId, id));

/** Marks a domain as verified and restarts its periodic checks. */
export const markDomainVerified = (
  db: Database,
  id: string,
  { method, now, nextCheckAt }: { readonly method: VerificationMethod; readonly now: Instant; readonly nextCheckAt: Instant },
) =>
  db
    .update(domains)
    .set({ status: "verified", method, verifiedAt: now, checkedAt: now, nextCheckAt, misses: 0, lapsesAt: null, expiresAt: null })
    .where(eq(domains.id, id));

const leaseMs = hourMs; // if the process dies, the domains are due again after an hour

/** Claims up to `max` verified domains whose check has been due for the longest time. Concurrent runs get different domains. */
export const claimDueDomainChecks = async (db: Database, now: Instant, max: number) => {
  const { id, nextCheckAt, status } = domains;
  const due = query
    .select({ id })
    .from(domains)
    .where(allOf(eq(status, "verified"), isNotNull(nextCheckAt), lte(nextCheckAt, now)))
    .orderBy(nextCheckAt)
    .limit(max);
  const { businessId, domain, method, token, checkedAt, misses, lapsesAt } = domains;
  const rows = await db
    .update(domains)
    .set({ nextCheckAt: now + leaseMs })
    .where(inArray(id, due))
    .returning({ id, businessId, domain, method, token, checkedAt, misses, lapsesAt })
    .all();
  return rows.flatMap(({ method: by, token: proof, checkedAt: at, misses: missed, lapsesAt: until, ...row }) =>
    by === null || proof === null
      ? []
      : [{ ...row, method: by, token: proof, state: { checkedAt: at ?? now, misses: missed, lapsesAt: until } }],
  );
};

export type DueDomain = Found<typeof claimDueDomainChecks>[number];

/** Builds a condition that is true if the domain is still verified and its number of failed checks is the same as before the check. */
const isUnchangedSinceClaim = (id: string, before: DomainCheckState): SQL =>
  allOf(eq(domains.id, id), eq(domains.status, "verified"), eq(domains.misses, before.misses));

/** Stores the result of a check. Does nothing if the domain changed during the check. */
export const recordDomainCheck = (db: Database, id: string, before: DomainCheckState, state: DomainCheckState, nextCheckAt: Instant) =>
  db
    .update(domains)
    .set({ ...state, nextCheckAt })
    .where(isUnchangedSinceClaim(id, before));

/** Marks a domain as lapsed. Does nothing if the domain changed during the check. */
export const markDomainLapsed = (db: Database, id: string, before: DomainCheckState, state: DomainCheckState) =>
  db
    .update(domains)
    .set({ ...state, status: "lapsed", nextCheckAt: null })
    .where(isUnchangedSinceClaim(id, before));

/** Builds a condition for statements after `recordDomainCheck` or `markDomainLapsed`. It is true if the result was recorded. */
export const isDomainCheckRecorded = (id: string, status: "verified" | "lapsed", { misses, checkedAt }: DomainCheckState): SQL =>
  existsIn(domains, eq(domains.id, id), eq(domains.status, status), eq(domains.misses, misses), eq(domains.checkedAt, checkedAt));

/** Returns the audit chain of a business, or null if the business is unknown. */
export const findBusinessChain = async (db: Database, businessId: BusinessId): Promise<AuditChain | null> =>
  (await db.select(businessChainFields).from(businesses).where(eq(businesses.id, businessId)).get()) ?? null;
