// Work that follows a change: written with it, claimed under a lease, done at least once, deleted when done. A lease is a
// next_at in the future, so a worker that dies simply lets its rows become due again.
import { secondMs, type Instant } from "../core/time.ts";

export interface OutboxRow {
  readonly ord: number;
  readonly entityId: string;
  readonly topic: string;
  readonly payload: string;
  readonly attempts: number;
}

const leaseMs = 60 * secondMs; // longer than the slowest look at a domain: two pages and their redirects at 10 s each
const longestWaitMs = 15 * 60 * secondMs;

/**
 * Asks for a look at the policies, unless the certificate (written earlier in the same batch) shares a fresh one.
 * `page` is the address without query and fragment: an outbox holds no personal data.
 */
export const insertPolicyWork = (
  db: D1Database,
  work: { readonly certId: string; readonly domain: string; readonly page: string; readonly now: Instant },
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO outbox (kind, entity_id, topic, payload, next_at, created_at)
       SELECT 'policy', c.id, ?2, ?3, ?4, ?4 FROM certificates c WHERE c.id = ?1 AND c.policy_capture_id IS NULL`,
    )
    .bind(work.certId, work.domain, work.page, work.now);

/** Takes the oldest due row; every due row of its topic is leased with it, since one piece of work serves them all. */
export const claimPolicyWork = async (db: D1Database, now: Instant): Promise<OutboxRow | null> => {
  const { results } = await db
    .prepare(
      `UPDATE outbox SET next_at = ?1 + ${leaseMs}, attempts = attempts + 1
       WHERE kind = 'policy' AND next_at <= ?1
         AND topic = (SELECT topic FROM outbox WHERE kind = 'policy' AND next_at <= ?1 ORDER BY ord LIMIT 1)
       RETURNING ord, entity_id, topic, payload, attempts`,
    )
    .bind(now)
    .all<{ ord: number; entity_id: string; topic: string; payload: string; attempts: number }>();
  const newest = results.sort((a, b) => b.ord - a.ord)[0];
  return newest === undefined
    ? null
    : { ord: newest.ord, entityId: newest.entity_id, topic: newest.topic, payload: newest.payload, attempts: newest.attempts };
};

/** After a failure: 2, 4, 8 ... seconds, at most 15 minutes. */
export const postponeTopic = (db: D1Database, topic: string, attempts: number, now: Instant): D1PreparedStatement =>
  db
    .prepare("UPDATE outbox SET next_at = ? WHERE kind = 'policy' AND topic = ?")
    .bind(now + Math.min(longestWaitMs, secondMs * 2 ** Math.min(attempts, 20)), topic);
