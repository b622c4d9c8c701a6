// Certificates that wait for the policies of their origin. What waits for the same origin and page of one business is a topic: its
// first row carries the topic's lease (when it is due, how often it was tried), and the rows behind it have no time of their own.
// Taking the lease moves its time into the future, so a worker that dies simply lets it become due again; claiming and backing off
// cost the same for one certificate and for a hundred thousand. Businesses take turns, each with one capture at a time.
import { eq, inArray, isNull, lte, sql } from "drizzle-orm";
import { secondMs, type Instant } from "../../core/time.ts";
import type { BusinessId, CertId } from "../../core/ids.ts";
import { businessChainFields } from "../accounts.ts";
import type { Database, Found, Statement } from "../database.ts";
import { prepareOnce } from "../prepared.ts";
import { businesses, certificates, outbox, policyTurns } from "../schema.ts";
import { allOf, countIn, existsIn, jsonList, query } from "../query.ts";
import { claimDueRows } from "./claim.ts";

const leaseMs = 60 * secondMs; // more than a capture (25 s) and the first links after it take
const maxTopics = 20; // a business: strangers can name any page of it

export interface PolicyTopic {
  readonly businessId: BusinessId;
  readonly topic: string;
}

const { ord, topic, nextAt, attempts, businessId } = outbox;
const isPolicyRequest = eq(outbox.kind, "policy");
const isOfTopic = (one: PolicyTopic) => allOf(isPolicyRequest, eq(businessId, one.businessId), eq(topic, one.topic));

const neverDue = Number.MAX_SAFE_INTEGER; // behind the row that has the topic's lease: no time of its own
const overLimitTopic = ""; // the topic of whatever came past the limit

/** No address holds a space. */
export const toPolicyTopic = (origin: string, page: string): string => `${origin} ${page}`;
/** Null for what came when the business had as many topics as it may: nothing is looked up for it. */
const originFromTopic = (of: string): string | null => (of === overLimitTopic ? null : of.slice(0, of.indexOf(" ")));

/**
 * For the batch of an issuance: a certificate that shares no capture of its origin's policies asks for one, due at once unless its
 * topic has a lease already. Answers a row when it asked.
 */
export const requestPolicyCapture = prepareOnce<{ readonly id: CertId; readonly topic: string; readonly policyPage: string }>()(
  (db, given) => {
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
      .returning({ ord })
      .prepare();
  },
);

/** The turn goes to the business whose last one is longest ago, of those that have something due and no turn at the moment. */
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

/** The business may have another turn. */
export const endPolicyTurn = (db: Database, of: BusinessId, now: Instant) =>
  db.update(policyTurns).set({ until: now }).where(eq(policyTurns.businessId, of));

/** Takes the lease that has been due longest, of the business whose turn it is; null when none is due. Of two workers at once, one gets it. */
export const claimPolicyLease = async (db: Database, now: Instant) => {
  const turn = await claimPolicyTurn(db, now);
  if (turn === null) return null;
  const [lease] = await claimDueRows(db, outbox, { now, leaseMs, max: 1, only: allOf(isPolicyRequest, eq(businessId, turn)) });
  if (lease === undefined) return null;
  // The certificate is the one that has waited longest: its home is the home of everything that follows.
  const { topic: of, payload: page, entityId: certId, attempts: tried } = lease;
  return { businessId: turn, topic: of, origin: originFromTopic(of), page, certId, attempts: tried };
};

export type PolicyLease = Found<typeof claimPolicyLease>;

const selectFirstWaiting = (of: PolicyTopic) => query.select({ ord }).from(outbox).where(isOfTopic(of)).orderBy(ord).limit(1);

/** The topic's lease comes again at `at`. */
export const postponePolicyLease = (db: Database, of: PolicyTopic, at: Instant) =>
  db
    .update(outbox)
    .set({ nextAt: at })
    .where(eq(ord, selectFirstWaiting(of)));

/** A lease that ended by a fault of ours is not counted against the origin; it comes again when its time is over. */
export const revertPolicyAttempt = (db: Database, of: PolicyTopic) =>
  db
    .update(outbox)
    .set({ attempts: sql`max(0, ${attempts} - 1)` })
    .where(eq(ord, selectFirstWaiting(of)));

/** The certificates that have waited longest for a topic. */
export const listCertificatesAwaitingPolicies = (db: Database, of: PolicyTopic, max: number) =>
  db
    .select({ ord, certId: outbox.entityId, chain: businessChainFields })
    .from(outbox)
    .innerJoin(certificates, eq(certificates.id, outbox.entityId))
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(isOfTopic(of))
    .orderBy(ord)
    .limit(max)
    .all();

export type WaitingCertificate = Found<typeof listCertificatesAwaitingPolicies>[number];

/** For the batch that links them: the rows are done, and the lease, still taken, passes to the next that waits. */
export const finishPolicyWork = (
  db: Database,
  done: { readonly of: PolicyTopic; readonly ords: readonly number[]; readonly now: Instant },
): readonly Statement[] => [
  db.delete(outbox).where(inArray(ord, jsonList(done.ords))),
  postponePolicyLease(db, done.of, done.now + leaseMs),
];
