// Work that follows a change: written with it (an issuance asks for its own, 0010_issuances.sql), done at least once, deleted
// when done. Policies are looked up by domain, for all certificates that wait for it at once: the first waiting row of a domain
// keeps its turn (when it is due, how often it was tried), the rows behind it have no time of their own. A turn that is taken
// has its time moved into the future, so a worker that dies simply lets it become due again. The turn is one row however many
// wait behind it: claiming and backing off cost the same for one certificate and for a hundred thousand.
import { eq, inArray, lte, sql } from "drizzle-orm";
import { secondMs, type Instant } from "../core/time.ts";
import type { AuditChain } from "../core/facts.ts";
import { chainOfBusiness } from "./accounts.ts";
import type { Database, Statement } from "./database.ts";
import { businesses, certificates, outbox } from "./schema.ts";
import { allOf, listed, query } from "./sql.ts";

const turnMs = 60 * secondMs; // more than a look (25 s) and the first links after it take

/** A domain's turn to be looked at, as claimed. */
export interface PolicyTurn {
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

/** Takes the turn that has been due longest; null when none is due. Of two workers at once, one gets it. */
export const claimPolicyTurn = async (db: Database, now: Instant): Promise<PolicyTurn | null> => {
  const due = query
    .select({ ord })
    .from(outbox)
    .where(allOf(isPolicy, lte(nextAt, now)))
    .orderBy(nextAt, ord)
    .limit(1);
  const turn = await db
    .update(outbox)
    .set({ nextAt: now + turnMs, attempts: sql`${attempts} + 1` })
    .where(eq(ord, due))
    .returning({ domain: topic, page: outbox.payload, certId: outbox.entityId, attempts })
    .get();
  return turn ?? null;
};

const firstWaiting = (domain: string) =>
  query
    .select({ ord })
    .from(outbox)
    .where(allOf(isPolicy, eq(topic, domain)))
    .orderBy(ord)
    .limit(1);

/** The domain's turn comes again at `at`. */
export const postponePolicyTurn = (db: Database, domain: string, at: Instant) =>
  db
    .update(outbox)
    .set({ nextAt: at })
    .where(eq(ord, firstWaiting(domain)));

/** A turn that ended by a fault of ours is not counted against the domain; it comes again when its time is over. */
export const forgivePolicyTurn = (db: Database, domain: string) =>
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
export const waitingForPolicies = (db: Database, domain: string, most: number): Promise<readonly WaitingCertificate[]> =>
  db
    .select({ ord, certId: outbox.entityId, chain: chainOfBusiness })
    .from(outbox)
    .innerJoin(certificates, eq(certificates.id, outbox.entityId))
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(allOf(isPolicy, eq(topic, domain)))
    .orderBy(ord)
    .limit(most)
    .all();

/** For the batch that links them: the rows are done, and the turn, still taken, passes to the next that waits. */
export const finishPolicyWork = (
  db: Database,
  done: { readonly domain: string; readonly ords: readonly number[]; readonly now: Instant },
): readonly Statement[] => [
  db.delete(outbox).where(inArray(ord, listed(done.ords))),
  postponePolicyTurn(db, done.domain, done.now + turnMs),
];
