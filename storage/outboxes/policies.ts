// Certificates that wait for the policies of their origin. The policies are captured by domain, for all that wait at once: the first
// waiting row of a domain carries the domain's lease (when it is due, how often it was tried), and the rows behind it have no time of
// their own. Taking the lease moves its time into the future, so a worker that dies simply lets it become due again; claiming and
// backing off cost the same for one certificate and for a hundred thousand.
import { eq, exists, inArray, isNull, lte, sql } from "drizzle-orm";
import { secondMs, type Instant } from "../../core/time.ts";
import type { AuditChain } from "../../core/facts.ts";
import type { CertId } from "../../core/ids.ts";
import { chainOfBusiness } from "../accounts.ts";
import type { Database, Statement } from "../database.ts";
import { prepared } from "../prepared.ts";
import { businesses, certificates, outbox } from "../schema.ts";
import { allOf, listed, query } from "../query.ts";

const leaseMs = 60 * secondMs; // more than a capture (25 s) and the first links after it take

/** The lease on a domain's policies, as claimed. */
export interface PolicyLease {
  readonly domain: string;
  /** The page of the certificate that has waited longest. */
  readonly page: string;
  /** That certificate; its home is the home of everything that follows. */
  readonly certId: string;
  /** This attempt included. */
  readonly attempts: number;
}

const { ord, topic, nextAt, attempts } = outbox;
const isPolicy = eq(outbox.kind, "policy");

const behindLease = Number.MAX_SAFE_INTEGER; // behind the row that has the domain's lease: no time of its own

/**
 * For the batch of an issuance: a certificate that shares no capture of its origin's policies asks for one, due at once unless the
 * domain has a lease already. Answers a row when it asked.
 */
export const requestPolicies = prepared<{ readonly id: CertId; readonly policyPage: string }>()((db, { id, policyPage }) => {
  const { issuedAt, originDomain, policyCaptureId } = certificates;
  const waiting = query
    .select()
    .from(outbox)
    .where(allOf(isPolicy, eq(topic, originDomain)));
  return db
    .insert(outbox, "kind", "entityId", "topic", "payload", "nextAt", "createdAt")
    .select(
      query
        .select({
          kind: sql<"policy">`'policy'`.as("kind"),
          entityId: certificates.id,
          topic: originDomain,
          payload: sql<string>`${policyPage}`.as("payload"),
          nextAt: sql<number>`case when ${exists(waiting)} then ${behindLease} else ${issuedAt} end`.as("next_at"),
          createdAt: issuedAt,
        })
        .from(certificates)
        .where(allOf(eq(certificates.id, id), isNull(policyCaptureId))),
    )
    .returning({ ord })
    .prepare();
});

/** Takes the lease that has been due longest; null when none is due. Of two workers at once, one gets it. */
export const claimPolicyLease = async (db: Database, now: Instant): Promise<PolicyLease | null> => {
  const due = query
    .select({ ord })
    .from(outbox)
    .where(allOf(isPolicy, lte(nextAt, now)))
    .orderBy(nextAt, ord)
    .limit(1);
  const lease = await db
    .update(outbox)
    .set({ nextAt: now + leaseMs, attempts: sql`${attempts} + 1` })
    .where(eq(ord, due))
    .returning({ domain: topic, page: outbox.payload, certId: outbox.entityId, attempts })
    .get();
  return lease ?? null;
};

const firstWaiting = (domain: string) =>
  query
    .select({ ord })
    .from(outbox)
    .where(allOf(isPolicy, eq(topic, domain)))
    .orderBy(ord)
    .limit(1);

/** The domain's lease comes again at `at`. */
export const postponePolicyLease = (db: Database, domain: string, at: Instant) =>
  db
    .update(outbox)
    .set({ nextAt: at })
    .where(eq(ord, firstWaiting(domain)));

/** A lease that ended by a fault of ours is not counted against the domain; it comes again when its time is over. */
export const forgivePolicyLease = (db: Database, domain: string) =>
  db
    .update(outbox)
    .set({ attempts: sql`max(0, ${attempts} - 1)` })
    .where(eq(ord, firstWaiting(domain)));

export interface WaitingCertificate {
  readonly ord: number;
  readonly certId: string;
  readonly chain: AuditChain;
}

/** The certificates that have waited longest for a domain. */
export const waitingForPolicies = (db: Database, domain: string, max: number): Promise<readonly WaitingCertificate[]> =>
  db
    .select({ ord, certId: outbox.entityId, chain: chainOfBusiness })
    .from(outbox)
    .innerJoin(certificates, eq(certificates.id, outbox.entityId))
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(allOf(isPolicy, eq(topic, domain)))
    .orderBy(ord)
    .limit(max)
    .all();

/** For the batch that links them: the rows are done, and the lease, still taken, passes to the next that waits. */
export const finishPolicyWork = (
  db: Database,
  done: { readonly domain: string; readonly ords: readonly number[]; readonly now: Instant },
): readonly Statement[] => [
  db.delete(outbox).where(inArray(ord, listed(done.ords))),
  postponePolicyLease(db, done.domain, done.now + leaseMs),
];
