// Sessions, found by the hash of the cookie's token. A session is read in one query with its person and business, so a new role or a
// suspension takes effect with the next request. SPEC Authentication.
import { shardOfId } from "../core/ids.ts";
import { desc, eq, gt, inArray, isNotNull, ne, or, sql, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { AddressIndex } from "../core/access/address-index.ts";
import type { Device } from "../core/access/device.ts";
import type { Environment } from "../core/access/entitlement.ts";
import { invitedSessionLifetimeMs, sessionLifetimeMs, type AnySession, type Realm, type Session } from "../core/access/session.ts";
import { type Instant, toDayNumber } from "../core/time.ts";
import { hasIndex } from "./address-indexes.ts";
import type { Database, Found } from "./database.ts";
import { otherShardsField } from "./issuing-shards.ts";
import { openDeadlinesField } from "./deadlines.ts";
import { isCodeUsedBySession } from "./email-codes.ts";
import { byLastUsed } from "./people.ts";
import { businesses, consumers, invitations, members, sessions } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { createLookup } from "./lookups.ts";
import { allOf, hasPreviousChange, existsIn, query } from "./query.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const deviceContext = selfOwnedContext("sessions", "agent");

export interface NewSession {
  readonly tokenHash: string;
  readonly id: string;
  readonly deviceSealed: string;
  readonly now: Instant;
  /** For members: true if the email address has a membership or invitation in another shard. */
  readonly hasOtherShards?: boolean;
}

export const sealDevice = (vault: Vault, sessionId: string, device: Device): Promise<string> =>
  vault.seal(deviceContext(sessionId), JSON.stringify(device));

/** Decrypts the device. Returns null if decryption fails, so that the person can still see and end this session and all others. */
const openDevice = (vault: Vault, sessionId: string, sealed: string): Promise<Device | null> =>
  vault.open(deviceContext(sessionId), sealed).then(
    (text) => JSON.parse(text) as Device,
    () => null,
  );

interface SessionOwner {
  readonly realm: Realm;
  readonly userId: string | SQL;
}

const insertSessionRow = (db: Database, session: NewSession, whose: SessionOwner, condition: SQL, verifiedAt = session.now) => {
  const { now, ...named } = session;
  const times = {
    createdAt: now,
    verifiedAt,
    seenDay: toDayNumber(now),
    expiresAt: verifiedAt + sessionLifetimeMs[whose.realm],
  };
  return insertIf(db, sessions, { ...named, ...whose, ...times }, condition);
};

/**
 * Inserts a session for an email address. Does nothing unless the code was used by this session and the address belongs to a person. If the
 * address has several memberships, the session is for the most recently used one.
 */
export const insertSessionByCode = (
  db: Database,
  session: NewSession,
  { realm, emailIndex, codeId }: { readonly realm: Realm; readonly emailIndex: AddressIndex; readonly codeId: string },
) => {
  const membership = query
    .select({ id: members.id })
    .from(members)
    .where(hasIndex(members.emailIndex, emailIndex))
    .orderBy(...byLastUsed)
    .limit(1);
  const consumer = query.select({ id: consumers.id }).from(consumers).where(hasIndex(consumers.emailIndex, emailIndex));
  const user = sql<string>`${realm === "business" ? membership : consumer}`;
  return insertSessionRow(db, session, { realm, userId: user }, allOf(isNotNull(user), isCodeUsedBySession(codeId, session.tokenHash)));
};

/**
 * Inserts a session for another membership of a verified email address. Does nothing unless the membership has that address and `condition`
 * is true. The session's lifetime starts at `verifiedAt`.
 */
export const insertSessionForMember = (
  db: Database,
  session: NewSession,
  membership: { readonly id: string; readonly emailIndex: AddressIndex; readonly verifiedAt: Instant },
  condition: SQL = sql`true`,
) => {
  const isOfAddress = existsIn(members, eq(members.id, membership.id), hasIndex(members.emailIndex, membership.emailIndex));
  return insertSessionRow(db, session, { realm: "business", userId: membership.id }, allOf(isOfAddress, condition), membership.verifiedAt);
};

/** The encryption context of an invited person's email address. */
export const sessionAddressContext = selfOwnedContext("sessions", "address");

/**
 * Inserts a session for a verified email address that has only an invitation. Does nothing unless the code was used by this session and the
 * invitation exists.
 */
export const insertInvitedSession = async (
  db: Database,
  vault: Vault,
  { now, ...session }: NewSession,
  { invitationId, email, codeId }: { readonly invitationId: string; readonly email: string; readonly codeId: string },
) => {
  const row = {
    ...session,
    realm: "invited" as const,
    userId: invitationId,
    createdAt: now,
    verifiedAt: now,
    seenDay: toDayNumber(now),
    expiresAt: now + invitedSessionLifetimeMs,
    addressSealed: await vault.seal(sessionAddressContext(session.id), email),
  };
  const isInvited = existsIn(invitations, eq(invitations.id, invitationId));
  return [insertIf(db, sessions, row, allOf(isInvited, isCodeUsedBySession(codeId, session.tokenHash)))] as const;
};

/** Builds a condition for later statements in the batch. It is true if the session was created. */
export const hasSession = (tokenHash: string): SQL => existsIn(sessions, eq(sessions.tokenHash, tokenHash));

/** Inserts a session if the preceding statement in the batch (`recordPasskeyUse`) has changed a row. */
export const insertSessionByPasskey = (db: Database, session: NewSession, person: { readonly realm: Realm; readonly userId: string }) =>
  insertSessionRow(db, session, person, hasPreviousChange());

const selectSessionByHash = (db: Database, tokenHash: string, now: Instant, deadlinesIn: Environment | null) => {
  const others = alias(members, "others");
  const hasMore = or(
    eq(sessions.hasOtherShards, true),
    existsIn(others, eq(others.emailIndex, members.emailIndex), ne(others.id, members.id)),
    existsIn(invitations, eq(invitations.emailIndex, members.emailIndex), gt(invitations.expiresAt, now)),
  ) as SQL;
  const { id, name, status, country, auditChain } = businesses;
  return db
    .select({
      realm: sessions.realm,
      userId: sessions.userId,
      sessionId: sessions.id,
      createdAt: sessions.createdAt,
      verifiedAt: sessions.verifiedAt,
      seenDay: sessions.seenDay,
      addressSealed: sessions.addressSealed,
      hasMore: sql<number>`${hasMore}`,
      member: { emailSealed: members.emailSealed, emailIndex: members.emailIndex, role: members.role },
      business: { id, name, status, country, auditChain, otherShards: otherShardsField },
      plan: businesses.plan,
      openDeadlines: deadlinesIn === null ? sql<null>`null` : openDeadlinesField(businesses.id, deadlinesIn),
      consumer: { emailSealed: consumers.emailSealed, auditChain: consumers.auditChain },
    })
    .from(sessions)
    .leftJoin(members, allOf(eq(sessions.realm, "business"), eq(members.id, sessions.userId)))
    .leftJoin(businesses, eq(businesses.id, members.businessId))
    .leftJoin(consumers, allOf(eq(sessions.realm, "consumer"), eq(consumers.id, sessions.userId)))
    .where(allOf(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, now)));
};

/**
 * Finds the session with this token. Returns null if the token is unknown, the session has ended, or the person's account or membership no
 * longer exists. If `deadlinesIn` is given, also counts the open deadlines of a member's business in that environment.
 */
export const findSessionByTokenHash = async (
  db: Database,
  tokenHash: string,
  now: Instant,
  deadlinesIn: Environment | null = null,
): Promise<AnySession | null> => {
  const row = await selectSessionByHash(db, tokenHash, now, deadlinesIn).get();
  if (row === undefined) return null;
  const { realm, userId, sessionId, seenDay, member, business, plan, consumer } = row;
  const signedIn = { userId, sessionId, tokenHash, verifiedAt: row.verifiedAt ?? row.createdAt, lastSeenDay: seenDay };
  if (realm === "invited") return { realm, ...signedIn, emailSealed: row.addressSealed ?? "" };
  if (realm === "consumer") {
    if (consumer === null) return null;
    const { emailSealed, auditChain: tag } = consumer;
    return { realm, ...signedIn, emailSealed, chain: { tag, auditLog: shardOfId(userId) } };
  }
  if (member === null || business === null || plan === null) return null;
  const { auditChain: tag, ...account } = business;
  return {
    realm,
    ...signedIn,
    ...member,
    hasOtherMemberships: row.hasMore === 1,
    business: { ...account, chain: { tag, auditLog: shardOfId(account.id) } },
    plan,
    openDeadlines: row.openDeadlines,
  };
};

/** Marks the sessions of an email address in this shard. Call it after the address gets a membership or invitation in another shard. */
export const markOtherShards = (db: Database, emailIndex: AddressIndex) => {
  const memberships = query.select({ id: members.id }).from(members).where(hasIndex(members.emailIndex, emailIndex));
  return db.update(sessions).set({ hasOtherShards: true }).where(inArray(sessions.userId, memberships));
};

/** Records the day of use, as the number of days since 1970-01-01 (UTC). Does nothing if it is already recorded. */
export const updateLastSeenDay = (db: Database, tokenHash: string, day: number) =>
  db
    .update(sessions)
    .set({ seenDay: day })
    .where(allOf(eq(sessions.tokenHash, tokenHash), sql`${sessions.seenDay} is not ${day}`));

const isLiveSession = ({ realm, userId }: Pick<Session, "realm" | "userId">, now: Instant) =>
  allOf(eq(sessions.userId, userId), eq(sessions.realm, realm), gt(sessions.expiresAt, now));

const maxListed = 100;

/** Lists up to 100 of a person's live sessions, newest first. */
export const listSessionsByPerson = (db: Database, vault: Vault, person: Pick<Session, "realm" | "userId">, now: Instant) => {
  const { id, tokenHash, deviceSealed, createdAt, expiresAt, seenDay } = sessions;
  const live = db
    .select({ id, tokenHash, deviceSealed, createdAt, expiresAt, seenDay })
    .from(sessions)
    .where(isLiveSession(person, now))
    .orderBy(desc(createdAt), desc(id))
    .limit(maxListed);
  return createLookup(db, [live], ([rows]) =>
    Promise.all(
      rows.map(async ({ deviceSealed: sealed, ...row }) => ({
        ...row,
        device: sealed === null ? null : await openDevice(vault, row.id, sealed),
      })),
    ),
  );
};

export type StoredSession = Found<typeof listSessionsByPerson>[number];

/** Deletes a session of the person. Does nothing if the session belongs to someone else or has ended. */
export const deleteOwnSession = (db: Database, person: Pick<Session, "realm" | "userId">, id: string, now: Instant) =>
  db.delete(sessions).where(allOf(isLiveSession(person, now), eq(sessions.id, id)));

/** Deletes all of the person's live sessions except this one. */
export const deleteOtherSessions = (db: Database, session: Pick<Session, "realm" | "userId" | "tokenHash">, now: Instant) =>
  db.delete(sessions).where(allOf(isLiveSession(session, now), ne(sessions.tokenHash, session.tokenHash)));

export const deleteSession = (db: Database, tokenHash: string) => db.delete(sessions).where(eq(sessions.tokenHash, tokenHash));
