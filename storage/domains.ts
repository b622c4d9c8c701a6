// The domains of a business: claimed, proved, looked at again.
import { desc, eq, getColumns, inArray, isNotNull, lte, type SQL } from "drizzle-orm";
import type { CheckState } from "../core/accounts/domain-claim.ts";
import type { VerificationMethod } from "../core/access/origins.ts";
import type { AuditChain } from "../core/facts.ts";
import type { BusinessId } from "../core/ids.ts";
import { hourMs, type Instant } from "../core/time.ts";
import { chainOfBusiness } from "./accounts.ts";
import { lookup, type Lookup } from "./lookups.ts";
import type { Database, Found } from "./database.ts";
import { violates } from "./faults.ts";
import { ownerBelow } from "./inserts.ts";
import { allOf, existsIn, query } from "./query.ts";
import { businesses, domains } from "./schema.ts";

const { businessId: _, nextCheckAt: __, misses: ___, ...shown } = getColumns(domains);
export type Domain = Pick<typeof domains.$inferSelect, keyof typeof shown>;

const maxDomains = 100;

const ownedBy = (businessId: BusinessId, id: string): SQL => allOf(eq(domains.id, id), eq(domains.businessId, businessId));
/** Of a domain that was claimed and not proved in time. */
export const isUnprovedClaim = (now: Instant): SQL =>
  allOf(eq(domains.status, "pending"), isNotNull(domains.expiresAt), lte(domains.expiresAt, now));

/**
 * A claim that has expired makes room for a new one of the same domain. Fails, and takes its batch with it, when the business has
 * claimed that domain already, or as many as it may.
 */
export const insertDomain = (
  db: Database,
  businessId: BusinessId,
  claim: Pick<Domain, "id" | "domain" | "token" | "createdAt" | "expiresAt">,
) => {
  const owner = ownerBelow(domains.businessId, businessId, maxDomains);
  return [
    db.delete(domains).where(allOf(eq(domains.businessId, businessId), eq(domains.domain, claim.domain), isUnprovedClaim(claim.createdAt))),
    db.insert(domains).values({ ...claim, businessId: owner, status: "pending" }),
  ] as const;
};

export const isTooManyDomains = (error: unknown): boolean => violates(error, "NOT NULL", domains.businessId);
export const isClaimed = (error: unknown): boolean => violates(error, "UNIQUE", domains.businessId, domains.domain);

/** Newest first. */
export const domainsOf = (db: Database, businessId: BusinessId): Lookup<readonly Domain[]> =>
  lookup(
    db,
    [db.select(shown).from(domains).where(eq(domains.businessId, businessId)).orderBy(desc(domains.createdAt), domains.domain)],
    ([rows]) => rows,
  );

/** Null for one that is not there, or not of this business. */
export const domainById = async (db: Database, businessId: BusinessId, id: string): Promise<Domain | null> =>
  (await db.select(shown).from(domains).where(ownedBy(businessId, id)).get()) ?? null;

export const removeDomain = (db: Database, businessId: BusinessId, id: string) => db.delete(domains).where(ownedBy(businessId, id));

/** Proved, for the first time or anew. */
export const markVerified = (
  db: Database,
  id: string,
  { method, now, nextCheckAt }: { readonly method: VerificationMethod; readonly now: Instant; readonly nextCheckAt: Instant },
) =>
  db
    .update(domains)
    .set({ status: "verified", method, verifiedAt: now, checkedAt: now, nextCheckAt, misses: 0, lapsesAt: null, expiresAt: null })
    .where(eq(domains.id, id));

const leaseMs = hourMs; // a run that dies leaves them to the next hour

/** Verified domains whose check is due. Takes what has been due longest; of two runs at once, each gets its own. */
export const claimDueChecks = async (db: Database, now: Instant, max: number) => {
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

export type DueDomain = Found<typeof claimDueChecks>[number];

/** Whether it still is as it was when the check began: somebody may have proved or removed it meanwhile. */
const asClaimed = (id: string, before: CheckState): SQL =>
  allOf(eq(domains.id, id), eq(domains.status, "verified"), eq(domains.misses, before.misses));

export const noteCheck = (db: Database, id: string, before: CheckState, state: CheckState, nextCheckAt: Instant) =>
  db
    .update(domains)
    .set({ ...state, nextCheckAt })
    .where(asClaimed(id, before));

export const lapse = (db: Database, id: string, before: CheckState, state: CheckState) =>
  db
    .update(domains)
    .set({ ...state, status: "lapsed", nextCheckAt: null })
    .where(asClaimed(id, before));

/** After one of the two: whether it was what changed the domain. */
export const isChecked = (id: string, status: "verified" | "lapsed", { misses, checkedAt }: CheckState): SQL =>
  existsIn(domains, eq(domains.id, id), eq(domains.status, status), eq(domains.misses, misses), eq(domains.checkedAt, checkedAt));

export const chainOf = async (db: Database, businessId: BusinessId): Promise<AuditChain | null> =>
  (await db.select(chainOfBusiness).from(businesses).where(eq(businesses.id, businessId)).get()) ?? null;
