// Work that follows a change: written with it (an issuance asks for its own, 0010_issuances.sql), done at least once, deleted
// when done. Policies are looked up by domain, for all certificates that wait for it at once: the first waiting row of a domain
// keeps its turn (when it is due, how often it was tried), the rows behind it have no time of their own. A turn that is taken
// has its time moved into the future, so a worker that dies simply lets it become due again. The turn is one row however many
// wait behind it: claiming and backing off cost the same for one certificate and for a hundred thousand.
import { secondMs, type Instant } from "../core/time.ts";
import type { AuditChain } from "../core/facts.ts";

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

/** Takes the turn that has been due longest; null when none is due. Of two workers at once, one gets it. */
export const claimPolicyTurn = async (db: D1Database, now: Instant): Promise<PolicyTurn | null> => {
  const row = await db
    .prepare(
      `UPDATE outbox SET next_at = ?1 + ${turnMs}, attempts = attempts + 1
       WHERE ord = (SELECT ord FROM outbox WHERE kind = 'policy' AND next_at <= ?1 ORDER BY next_at, ord LIMIT 1)
       RETURNING topic, payload, entity_id, attempts`,
    )
    .bind(now)
    .first<{ topic: string; payload: string; entity_id: string; attempts: number }>();
  return row === null ? null : { domain: row.topic, page: row.payload, certId: row.entity_id, attempts: row.attempts };
};

const firstWaiting = "(SELECT ord FROM outbox WHERE kind = 'policy' AND topic = ?1 ORDER BY ord LIMIT 1)";

/** The domain's turn comes again at `at`. */
export const postponePolicyTurn = (db: D1Database, domain: string, at: Instant): D1PreparedStatement =>
  db.prepare(`UPDATE outbox SET next_at = ?2 WHERE ord = ${firstWaiting}`).bind(domain, at);

/** A turn that ended by a fault of ours is not counted against the domain; it comes again when its time is over. */
export const forgivePolicyTurn = (db: D1Database, domain: string): D1PreparedStatement =>
  db.prepare(`UPDATE outbox SET attempts = MAX(0, attempts - 1) WHERE ord = ${firstWaiting}`).bind(domain);

export interface WaitingCertificate {
  readonly ord: number;
  readonly certId: string;
  readonly chain: AuditChain;
}

/** The certificates that have waited longest for a domain. */
export const waitingForPolicies = async (db: D1Database, domain: string, most: number): Promise<readonly WaitingCertificate[]> => {
  const { results } = await db
    .prepare(
      `SELECT o.ord, o.entity_id, b.audit_chain, b.audit_shard FROM outbox o
       JOIN certificates c ON c.id = o.entity_id JOIN businesses b ON b.id = c.business_id
       WHERE o.kind = 'policy' AND o.topic = ? ORDER BY o.ord LIMIT ?`,
    )
    .bind(domain, most)
    .all<{ ord: number; entity_id: string; audit_chain: string; audit_shard: number }>();
  return results.map((row) => ({ ord: row.ord, certId: row.entity_id, chain: { tag: row.audit_chain, shard: row.audit_shard } }));
};

/** For the batch that links them: the rows are done, and the turn, still taken, passes to the next that waits. */
export const finishPolicyWork = (
  db: D1Database,
  done: { readonly domain: string; readonly ords: readonly number[]; readonly now: Instant },
): readonly D1PreparedStatement[] => [
  db.prepare("DELETE FROM outbox WHERE ord IN (SELECT value FROM json_each(?))").bind(JSON.stringify(done.ords)),
  postponePolicyTurn(db, done.domain, done.now + turnMs),
];
