// Sessions: found by the hash of the cookie's token, together with who it is and, for a member, with the business as it stands
// at that moment: a role taken away or an account suspended counts from the next request on.
import { desc, eq, gt, inArray, isNotNull, ne, or, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Device } from "../core/access/device.ts";
import { sessionLifetimeMs, type Realm, type Session } from "../core/access/session.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { isCodeUsedBySession } from "./email-codes.ts";
import { byLastUsed } from "./people.ts";
import { businesses, consumers, invitations, members, sessions } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { createLookup } from "./lookups.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, hasPreviousChange, existsIn, query } from "./query.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const deviceContext = selfOwnedContext("sessions", "agent");

/** Of a session that begins: what it is found by and called, and the device, sealed. */
export interface NewSession {
  readonly tokenHash: string;
  readonly id: string;
  readonly deviceSealed: string;
  readonly now: Instant;
  /** Of a member: whether the address has something in another home; `noteElsewhere` says so of one that lives already. */
  readonly hasOtherShards?: boolean;
}

export const sealDevice = (vault: Vault, sessionId: string, device: Device): Promise<string> =>
  vault.seal(deviceContext(sessionId), JSON.stringify(device));

interface SessionOwner {
  readonly realm: Realm;
  readonly userId: string | SQL;
}

const insertSessionRow = (db: Database, session: NewSession, whose: SessionOwner, condition: SQL, provedAt = session.now) => {
  const { now, ...named } = session;
  const times = {
    createdAt: now,
    verifiedAt: provedAt,
    seenDay: Math.floor(now / dayMs),
    expiresAt: provedAt + sessionLifetimeMs[whose.realm],
  };
  return insertIf(db, sessions, { ...named, ...whose, ...times }, condition);
};

/** Written only where the code was spent on this session and somebody has the address; of several seats it is of the one used last. */
export const insertSessionByCode = (
  db: Database,
  session: NewSession,
  { realm, emailIndex, codeId }: { readonly realm: Realm; readonly emailIndex: string; readonly codeId: string },
) => {
  const seat = query
    .select({ id: members.id })
    .from(members)
    .where(eq(members.emailIndex, emailIndex))
    .orderBy(...byLastUsed)
    .limit(1);
  const consumer = query.select({ id: consumers.id }).from(consumers).where(eq(consumers.emailIndex, emailIndex));
  const user = sql<string>`${realm === "business" ? seat : consumer}`;
  return insertSessionRow(db, session, { realm, userId: user }, allOf(isNotNull(user), isCodeUsedBySession(codeId, session.tokenHash)));
};

/** In another seat of an address that is proved already: written only where the seat is of that address, and it lasts no longer for it. */
export const insertSessionForMember = (
  db: Database,
  session: NewSession,
  seat: { readonly id: string; readonly emailIndex: string; readonly provedAt: Instant },
  condition: SQL = sql`true`,
) => {
  const isOfAddress = existsIn(members, eq(members.id, seat.id), eq(members.emailIndex, seat.emailIndex));
  return insertSessionRow(db, session, { realm: "business", userId: seat.id }, allOf(isOfAddress, condition), seat.provedAt);
};

/** For the batch of its beginning. */
export const hasSession = (tokenHash: string): SQL => existsIn(sessions, eq(sessions.tokenHash, tokenHash));

/** Written only where the statement before it noted the use of the consumer's passkey. */
export const insertSessionByPasskey = (db: Database, session: NewSession, consumerId: string) =>
  insertSessionRow(db, session, { realm: "consumer", userId: consumerId }, hasPreviousChange());

const selectSessionByHash = prepareOnce<{ tokenHash: string; now: number }>()((db, { tokenHash, now }) => {
  const others = alias(members, "others");
  const hasMore = or(
    eq(sessions.hasOtherShards, true),
    existsIn(others, eq(others.emailIndex, members.emailIndex), ne(others.id, members.id)),
    existsIn(invitations, eq(invitations.emailIndex, members.emailIndex), gt(invitations.expiresAt, now)),
  ) as SQL;
  const { id, name, status, country, auditChain, auditLog } = businesses;
  return db
    .select({
      realm: sessions.realm,
      userId: sessions.userId,
      sessionId: sessions.id,
      createdAt: sessions.createdAt,
      verifiedAt: sessions.verifiedAt,
      seenDay: sessions.seenDay,
      hasMore: sql<number>`${hasMore}`,
      member: { emailSealed: members.emailSealed, emailIndex: members.emailIndex, role: members.role },
      business: { id, name, status, country, auditChain, auditShard: auditLog },
      consumer: { emailSealed: consumers.emailSealed, auditChain: consumers.auditChain, auditShard: consumers.auditLog },
    })
    .from(sessions)
    .leftJoin(members, allOf(eq(sessions.realm, "business"), eq(members.id, sessions.userId)))
    .leftJoin(businesses, eq(businesses.id, members.businessId))
    .leftJoin(consumers, allOf(eq(sessions.realm, "consumer"), eq(consumers.id, sessions.userId)))
    .where(allOf(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, now)))
    .prepare();
});

/** Null for a token that is unknown, has ended, or whose person is gone: all the same path. */
export const findSessionByTokenHash = async (db: Database, tokenHash: string, now: Instant): Promise<Session | null> => {
  const row = await selectSessionByHash(db, { tokenHash, now }).get();
  if (row === undefined) return null;
  const { realm, userId, sessionId, seenDay, member, business, consumer } = row;
  const signedIn = { userId, sessionId, tokenHash, verifiedAt: row.verifiedAt ?? row.createdAt, lastSeenDay: seenDay };
  if (realm === "consumer") {
    if (consumer === null) return null;
    const { emailSealed, auditChain: tag, auditShard: shard } = consumer;
    return { realm, ...signedIn, emailSealed, chain: { tag, auditLog: shard } };
  }
  if (member === null || business === null) return null;
  const { auditChain: tag, auditShard: shard, ...account } = business;
  return {
    realm,
    ...signedIn,
    ...member,
    hasOtherMemberships: row.hasMore === 1,
    business: { ...account, chain: { tag, auditLog: shard } },
  };
};

/** The sessions of an address that has come to have something in another home. */
export const markOtherShards = (db: Database, emailIndex: string) => {
  const seats = query.select({ id: members.id }).from(members).where(eq(members.emailIndex, emailIndex));
  return db.update(sessions).set({ hasOtherShards: true }).where(inArray(sessions.userId, seats));
};

/** At most once a day and session. */
export const updateLastSeenDay = (db: Database, tokenHash: string, day: number) =>
  db
    .update(sessions)
    .set({ seenDay: day })
    .where(allOf(eq(sessions.tokenHash, tokenHash), sql`${sessions.seenDay} is not ${day}`));

const isLiveSession = ({ realm, userId }: Pick<Session, "realm" | "userId">, now: Instant) =>
  allOf(eq(sessions.userId, userId), eq(sessions.realm, realm), gt(sessions.expiresAt, now));

const maxListed = 100;

/** Those that have not ended, the newest first. One from before devices were kept has none. */
export const listSessionsByPerson = (db: Database, vault: Vault, person: Pick<Session, "realm" | "userId">, now: Instant) => {
  const { id, tokenHash, deviceSealed, createdAt, expiresAt, seenDay } = sessions;
  const live = db
    .select({ id, tokenHash, agentSealed: deviceSealed, createdAt, expiresAt, seenDay })
    .from(sessions)
    .where(isLiveSession(person, now))
    .orderBy(desc(createdAt), desc(id))
    .limit(maxListed);
  return createLookup(db, [live], ([rows]) =>
    Promise.all(
      rows.map(async ({ agentSealed: sealed, ...row }) => ({
        ...row,
        device: sealed === null ? null : (JSON.parse(await vault.open(deviceContext(row.id), sealed)) as Device),
      })),
    ),
  );
};

export type StoredSession = Found<typeof listSessionsByPerson>[number];

/** One of a person's own sessions; changes no row where it is none of theirs, or has ended. */
export const deleteOwnSession = (db: Database, person: Pick<Session, "realm" | "userId">, id: string, now: Instant) =>
  db.delete(sessions).where(allOf(isLiveSession(person, now), eq(sessions.id, id)));

/** All of a person's sessions but the one that asks. */
export const deleteOtherSessions = (db: Database, session: Pick<Session, "realm" | "userId" | "tokenHash">, now: Instant) =>
  db.delete(sessions).where(allOf(isLiveSession(session, now), ne(sessions.tokenHash, session.tokenHash)));

/** Signed out: from here on the token opens nothing. */
export const deleteSession = (db: Database, tokenHash: string) => db.delete(sessions).where(eq(sessions.tokenHash, tokenHash));
