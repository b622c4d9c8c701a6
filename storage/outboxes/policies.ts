// Certificates that are waiting for a policy capture of their origin. One business's rows with the same origin and page form a topic. The
// first row of a topic carries the topic's lease (due time and attempts); the other rows have no due time. Claiming a topic moves its due
// time, so if a worker dies, the topic becomes due again. Claiming and backing off cost the same for one certificate as for 100,000.
// Businesses take turns, with one capture each. SPEC Policy snapshot.
import { eq, inArray, isNull, lte, sql } from "drizzle-orm";
import { secondMs, type Instant } from "../../core/time.ts";
import type { BusinessId, CertId } from "../../core/ids.ts";
import { businessChainFields } from "../accounts.ts";
import type { Database, Found, Statement } from "../database.ts";
import { businesses, certificates, outbox, policyTurns } from "../schema.ts";
import { allOf, countIn, existsIn, jsonList, query } from "../query.ts";
import { claimDueRows } from "./claim.ts";

const leaseMs = 60 * secondMs; // longer than a capture (25 s) plus linking the first certificates
const maxTopics = 20; // per business, because anyone can submit any page of a site

export interface PolicyTopic {
  readonly businessId: BusinessId;
  readonly topic: string;
}

const { ord, topic, nextAt, attempts, businessId } = outbox;
const isPolicyRequest = eq(outbox.kind, "policy");
const isInTopic = (of: PolicyTopic) => allOf(isPolicyRequest, eq(businessId, of.businessId), eq(topic, of.topic));

const neverDue = Number.MAX_SAFE_INTEGER; // for the rows that do not carry the topic's lease
const overLimitTopic = ""; // the topic of requests beyond the limit

/** The separator is a space, because a URL contains none. */
export const toPolicyTopic = (origin: string, page: string): string => `${origin} ${page}`;
/** Returns null for the topic of requests beyond the limit, which are not captured. */
const originFromTopic = (of: string): string | null => (of === overLimitTopic ? null : of.slice(0, of.indexOf(" ")));

/**
 * Returns the statement to add to an issuance's batch. It requests a capture if the certificate does not share an existing capture. The row
 * is due immediately unless its topic has a lease. Returns a row if it was written.
 */
export const requestPolicyCapture = (db: Database, given: { readonly id: CertId; readonly topic: string; readonly policyPage: string }) => {
  const { issuedAt, policyCaptureId } = certificates;
  const isOwn = allOf(isPolicyRequest, eq(businessId, certificates.businessId));
  const waitingFor = (wanted: unknown) => existsIn(outbox, isOwn, sql`${topic} = ${wanted}`);
  const isWithin = sql`(${waitingFor(given.topic)} or ${countIn(outbox, isOwn, sql`${nextAt} < ${neverDue}`)} < ${maxTopics})`;
  const chosen = sql<string>`case when ${isWithin} then ${given.topic} else ${overLimitTopic} end`;
  return db
    .insert(outbox, "kind", "entityId", "topic", "payload", "nextAt", "createdAt", "businessId")
    .select(
      query
        .select({
          kind: sql<"policy">`'policy'`.as("kind"),
          entityId: certificates.id,
          topic: chosen.as("topic"),
          payload: sql<string>`${given.policyPage}`.as("payload"),
          nextAt: sql<number>`case when ${waitingFor(chosen)} then ${neverDue} else ${issuedAt} end`.as("next_at"),
          createdAt: issuedAt,
          businessId: certificates.businessId,
        })
        .from(certificates)
        .where(allOf(eq(certificates.id, given.id), isNull(policyCaptureId))),
    )
    .returning({ ord });
};

/**
 * Gives the next turn to the business that has waited longest since its last turn, among the businesses that have due work and are not
 * already taking a turn.
 */
const claimPolicyTurn = async (db: Database, now: Instant): Promise<BusinessId | null> => {
  const last = sql`coalesce(${policyTurns.takenAt}, 0)`;
  const next = query
    .select({ businessId, takenAt: sql<number>`${now}`.as("taken_at"), until: sql<number>`${now + leaseMs}`.as("until") })
    .from(outbox)
    .leftJoin(policyTurns, eq(policyTurns.businessId, businessId))
    .where(allOf(isPolicyRequest, lte(nextAt, now), sql`coalesce(${policyTurns.until}, 0) <= ${now}`))
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

/** Ends a business's turn. */
export const endPolicyTurn = (db: Database, of: BusinessId, now: Instant) =>
  db.update(policyTurns).set({ until: now }).where(eq(policyTurns.businessId, of));

/**
 * Takes the most overdue topic of the business whose turn it is. Returns null if no topic is due. Only one of several concurrent workers
 * gets it.
 */
export const claimPolicyLease = async (db: Database, now: Instant) => {
  const turn = await claimPolicyTurn(db, now);
  if (turn === null) return null;
  const [lease] = await claimDueRows(db, outbox, { now, leaseMs, max: 1, only: allOf(isPolicyRequest, eq(businessId, turn)) });
  if (lease === undefined) return null;
  // The certificate that has waited longest. Everything written for the capture goes to that certificate's shard.
  const { topic: of, payload: page, entityId: certId, attempts: tried } = lease;
  return { businessId: turn, topic: of, origin: originFromTopic(of), page, certId, attempts: tried };
};

export type PolicyLease = Found<typeof claimPolicyLease>;

const selectFirstWaiting = (of: PolicyTopic) => query.select({ ord }).from(outbox).where(isInTopic(of)).orderBy(ord).limit(1);

/** Makes the topic due at `at`. */
export const postponePolicyLease = (db: Database, of: PolicyTopic, at: Instant) =>
  db
    .update(outbox)
    .set({ nextAt: at })
    .where(eq(ord, selectFirstWaiting(of)));

/**
 * Undoes the count of an attempt that failed on our side, so that it does not count against the origin. The topic is due again when the
 * lease expires.
 */
export const revertPolicyAttempt = (db: Database, of: PolicyTopic) =>
  db
    .update(outbox)
    .set({ attempts: sql`max(0, ${attempts} - 1)` })
    .where(eq(ord, selectFirstWaiting(of)));

/** Lists the certificates in a topic that have waited longest. */
export const listCertificatesAwaitingPolicies = (db: Database, of: PolicyTopic, max: number) =>
  db
    .select({ ord, certId: outbox.entityId, chain: businessChainFields })
    .from(outbox)
    .innerJoin(certificates, eq(certificates.id, outbox.entityId))
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(isInTopic(of))
    .orderBy(ord)
    .limit(max)
    .all();

/**
 * Returns the statements to add to the batch that links the certificates. They delete the certificates' rows and pass the lease to the
 * topic's next row.
 */
export const finishPolicyWork = (
  db: Database,
  done: { readonly of: PolicyTopic; readonly ords: readonly number[]; readonly now: Instant },
): readonly Statement[] => [
  db.delete(outbox).where(inArray(ord, jsonList(done.ords))),
  postponePolicyLease(db, done.of, done.now + leaseMs),
];
