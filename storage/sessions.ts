// Sessions: found by the hash of the cookie's token, together with who it is and, for a member, with the business as it stands
// at that moment: a role taken away or an account suspended counts from the next request on.
import type { BusinessStatus } from "../core/access/entitlement.ts";
import { sessionLifeMs, type Realm, type Role, type Session } from "../core/access/session.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";

/** Written only where the code was spent on this session and somebody has the address. */
export const insertSession = (
  db: D1Database,
  session: {
    readonly tokenHash: string;
    readonly realm: Realm;
    readonly emailIndex: string;
    readonly codeId: string;
    readonly now: Instant;
  },
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO sessions (token_hash, realm, user_id, created_at, expires_at)
       SELECT ?1, ?2, p.id, ?5, ?5 + ?6
       FROM (SELECT id, email_index, 'business' AS realm FROM members UNION ALL SELECT id, email_index, 'consumer' FROM consumers) p
       WHERE p.realm = ?2 AND p.email_index = ?3
         AND EXISTS (SELECT 1 FROM login_codes WHERE id = ?4 AND session_hash = ?1)`,
    )
    .bind(session.tokenHash, session.realm, session.emailIndex, session.codeId, session.now, sessionLifeMs[session.realm]);

interface SessionRow {
  realm: Realm;
  user_id: string;
  member_email: string | null;
  role: Role | null;
  business_id: string | null;
  name: string | null;
  status: BusinessStatus | null;
  country: string | null;
  business_chain: string | null;
  business_shard: number | null;
  consumer_email: string | null;
  consumer_chain: string | null;
  consumer_shard: number | null;
}

/** Null for a token that is unknown, has ended, or whose person is gone: all the same path. */
export const sessionByToken = async (db: D1Database, tokenHash: string, now: Instant): Promise<Session | null> => {
  const row = await db
    .prepare(
      `SELECT s.realm, s.user_id, m.email_sealed AS member_email, m.role, b.id AS business_id, b.name, b.status, b.country,
         b.audit_chain AS business_chain, b.audit_shard AS business_shard,
         c.email_sealed AS consumer_email, c.audit_chain AS consumer_chain, c.audit_shard AS consumer_shard
       FROM sessions s
       LEFT JOIN members m ON s.realm = 'business' AND m.id = s.user_id
       LEFT JOIN businesses b ON b.id = m.business_id
       LEFT JOIN consumers c ON s.realm = 'consumer' AND c.id = s.user_id
       WHERE s.token_hash = ? AND s.expires_at > ?`,
    )
    .bind(tokenHash, now)
    .first<SessionRow & Record<string, unknown>>();
  if (row === null) return null;
  const { realm, user_id: userId } = row;
  if (realm === "consumer") {
    if (row.consumer_email === null) return null;
    const chain = { tag: row.consumer_chain as string, shard: row.consumer_shard as number };
    return { realm, userId, tokenHash, emailSealed: row.consumer_email, chain };
  }
  if (row.member_email === null || row.business_id === null) return null;
  return {
    realm,
    userId,
    tokenHash,
    emailSealed: row.member_email,
    role: row.role as Role,
    business: {
      id: row.business_id as BusinessId,
      name: row.name as string,
      status: row.status as BusinessStatus,
      country: row.country as string,
      chain: { tag: row.business_chain as string, shard: row.business_shard as number },
    },
  };
};

/** Signed out: from here on the token opens nothing. */
export const deleteSession = (db: D1Database, tokenHash: string): D1PreparedStatement =>
  db.prepare("DELETE FROM sessions WHERE token_hash = ?").bind(tokenHash);

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteEndedSessions = (db: D1Database, now: Instant): D1PreparedStatement =>
  db.prepare("DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at <= ? LIMIT 1000)").bind(now);
