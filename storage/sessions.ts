// Sessions: found by the hash of the cookie's token, together with who it is and, for a member, with the business as it stands
// at that moment: a role taken away or an account suspended counts from the next request on.
import { eq, gt, inArray, isNotNull, lte, sql } from "drizzle-orm";
import { sessionLifeMs, type Realm, type Session } from "../core/access/session.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isSpentOn } from "./mailed-codes.ts";
import { businesses, consumers, members, sessions } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { allOf, query } from "./query.ts";

/** Written only where the code was spent on this session and somebody has the address. */
export const insertSession = (
  db: Database,
  session: {
    readonly tokenHash: string;
    readonly realm: Realm;
    readonly emailIndex: string;
    readonly codeId: string;
    readonly now: Instant;
  },
) => {
  const { tokenHash, realm, emailIndex, codeId, now } = session;
  const people = realm === "business" ? members : consumers;
  const user = sql<string>`${query.select({ id: people.id }).from(people).where(eq(people.emailIndex, emailIndex))}`;
  const row = { tokenHash, realm, userId: user, createdAt: now, expiresAt: now + sessionLifeMs[realm] };
  return insertIf(db, sessions, row, allOf(isNotNull(user), isSpentOn(codeId, tokenHash)));
};

/** Null for a token that is unknown, has ended, or whose person is gone: all the same path. */
export const sessionByToken = async (db: Database, tokenHash: string, now: Instant): Promise<Session | null> => {
  const { id, name, status, country, auditChain, auditShard } = businesses;
  const row = await db
    .select({
      realm: sessions.realm,
      userId: sessions.userId,
      member: { emailSealed: members.emailSealed, role: members.role },
      business: { id, name, status, country, auditChain, auditShard },
      consumer: { emailSealed: consumers.emailSealed, auditChain: consumers.auditChain, auditShard: consumers.auditShard },
    })
    .from(sessions)
    .leftJoin(members, allOf(eq(sessions.realm, "business"), eq(members.id, sessions.userId)))
    .leftJoin(businesses, eq(businesses.id, members.businessId))
    .leftJoin(consumers, allOf(eq(sessions.realm, "consumer"), eq(consumers.id, sessions.userId)))
    .where(allOf(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, now)))
    .get();
  if (row === undefined) return null;
  const { realm, userId, member, business, consumer } = row;
  if (realm === "consumer") {
    if (consumer === null) return null;
    return {
      realm,
      userId,
      tokenHash,
      emailSealed: consumer.emailSealed,
      chain: { tag: consumer.auditChain, shard: consumer.auditShard },
    };
  }
  if (member === null || business === null) return null;
  const { auditChain: tag, auditShard: shard, ...account } = business;
  return { realm, userId, tokenHash, ...member, business: { ...account, chain: { tag, shard } } };
};

/** Signed out: from here on the token opens nothing. */
export const deleteSession = (db: Database, tokenHash: string) => db.delete(sessions).where(eq(sessions.tokenHash, tokenHash));

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteEndedSessions = (db: Database, now: Instant) => {
  const ended = query.select({ tokenHash: sessions.tokenHash }).from(sessions).where(lte(sessions.expiresAt, now)).limit(1_000);
  return db.delete(sessions).where(inArray(sessions.tokenHash, ended));
};
