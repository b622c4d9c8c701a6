// Members and consumers: found by the blind index of their address, their address sealed; and what a person's account says of itself.
import { asc, count, desc, eq, gt, inArray, isNull, sql, type SQL } from "drizzle-orm";
import type { Realm } from "../core/access/session.ts";
import type { AuditChain } from "../core/domain-events.ts";
import type { ConsumerId, ShardId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { insertIf } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { isCodeUsedBySession } from "./email-codes.ts";
import { consumerEmailContext, memberEmailContext } from "./people-contexts.ts";
import { allOf, jsonList, query } from "./query.ts";
import { consumerShards, consumers, invitations, members, shares, signups } from "./schema.ts";
import { signupEmailContext } from "./signups.ts";
import { selfOwnedContext, type EncryptionContext, type Vault } from "./vault.ts";

const consumerNameContext = selfOwnedContext("consumers", "name");

/** The seats of an address, the one that was used last first. */
export const byLastUsed = [desc(members.lastUsedAt), asc(members.createdAt), asc(members.id)] as const;

/**
 * Whom a code for signing in is mailed to: whoever has the address; for a business also whoever was invited to one or has asked for an
 * account. The address they gave first is the one that is mailed, never the one somebody types now.
 */
export interface SignInRecipient {
  /** A member or consumer may sign in; an invitation or a sign-up first becomes a member. */
  readonly kind: "person" | "invitation" | "sign_up";
  readonly id: string;
  readonly emailSealed: string;
  readonly emailContext: EncryptionContext;
  /** Of a member: when a session of the seat last began; null for none yet, and for whoever is no member. */
  readonly lastUsedAt: Instant | null;
}

/** In one home, all of them: which counts is asked over all homes. Of several seats the one that was used last, the oldest invitation. */
export const listSignInRecipients = async (
  db: Database,
  realm: Realm,
  emailIndex: string,
  now: Instant,
): Promise<readonly SignInRecipient[]> => {
  if (realm === "consumer") {
    const { id, emailSealed } = consumers;
    const rows = await db.select({ id, emailSealed }).from(consumers).where(eq(consumers.emailIndex, emailIndex));
    return rows.map((row) => ({ kind: "person", ...row, emailContext: consumerEmailContext(row.id), lastUsedAt: null }));
  }
  const { id, businessId, emailSealed, createdAt, expiresAt } = invitations;
  const [seats, invited, asked] = await batch(db, [
    db
      .select({ id: members.id, businessId: members.businessId, emailSealed: members.emailSealed, lastUsedAt: members.lastUsedAt })
      .from(members)
      .where(eq(members.emailIndex, emailIndex))
      .orderBy(...byLastUsed)
      .limit(1),
    db
      .select({ id, businessId, emailSealed })
      .from(invitations)
      .where(allOf(eq(invitations.emailIndex, emailIndex), gt(expiresAt, now)))
      .orderBy(createdAt, id)
      .limit(1),
    db
      .select({ id: signups.id, emailSealed: signups.emailSealed })
      .from(signups)
      .where(allOf(eq(signups.emailIndex, emailIndex), gt(signups.expiresAt, now)))
      .orderBy(desc(signups.createdAt), desc(signups.id))
      .limit(1),
  ]);
  return [
    ...seats.map((row) => ({ ...row, kind: "person" as const, emailContext: memberEmailContext(row.id, row.businessId) })),
    ...invited.map((row) => ({
      ...row,
      kind: "invitation" as const,
      emailContext: memberEmailContext(row.id, row.businessId),
      lastUsedAt: null,
    })),
    ...asked.map((row) => ({ ...row, kind: "sign_up" as const, emailContext: signupEmailContext(row.id), lastUsedAt: null })),
  ];
};

const recipientPriority = ["person", "invitation", "sign_up"] as const;

/** Whoever has the address; else who was invited; else who asked for an account. */
export const preferredRecipient = (found: readonly SignInRecipient[]): SignInRecipient | null =>
  recipientPriority.map((kind) => found.find((one) => one.kind === kind)).find((one) => one !== undefined) ?? null;

/** The seat that was used last, over all homes; null for whoever has none. */
export const findLastUsedMemberId = (found: readonly SignInRecipient[]): string | null =>
  found.filter(({ kind }) => kind === "person").toSorted((a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0))[0]?.id ?? null;

export interface NewConsumer {
  readonly id: string;
  readonly email: string;
  readonly emailIndex: string;
  readonly name: string | null;
  /** Random, not derived from anything personal. */
  readonly chainTag: string;
  readonly now: Instant;
}

/** The first sign-in of an address makes its consumer; of two at once, one does. Written only where the code was spent on this session. */
export const insertConsumer = async (
  db: Database,
  vault: Vault,
  { id, email, emailIndex, name, chainTag, now }: NewConsumer,
  spent: { readonly codeId: string; readonly sessionHash: string },
): Promise<readonly Statement[]> => {
  const emailSealed = await vault.seal(consumerEmailContext(id), email);
  const nameSealed = name === null ? null : await vault.seal(consumerNameContext(id), name);
  const row = { id, emailSealed, emailIndex, nameSealed, auditChain: chainTag, createdAt: now };
  const isSpent = isCodeUsedBySession(spent.codeId, spent.sessionHash);
  return [insertIf(db, consumers, row, isSpent).onConflictDoNothing({ target: consumers.emailIndex })];
};

const { createdAt, emailSealed, emailIndex, plan } = consumers;
/** A person who is here, and not erased. */
export const isExistingConsumer = (id: ConsumerId): SQL => allOf(eq(consumers.id, id), isNull(consumers.erasedAt));

/** What a person's account says of itself; under its index certificates name the person. Null for a person who is gone. */
export const findPersonRecord = (db: Database, id: ConsumerId) =>
  createLookup(
    db,
    [db.select({ createdAt, emailSealed, emailIndex, plan }).from(consumers).where(isExistingConsumer(id))],
    ([[row]]) => row ?? null,
  );

/** Under what certificates name the person, for a query of their own home; null for a person who is gone. */
export const addressIndexField = (id: ConsumerId): SQL<string> =>
  sql`${query.select({ emailIndex }).from(consumers).where(isExistingConsumer(id))}`;

/** Where a person is written to; null for one who is gone. */
export const findConsumerAddress = async (db: Database, vault: Vault, id: ConsumerId): Promise<string | null> => {
  const row = await db.select({ emailSealed }).from(consumers).where(isExistingConsumer(id)).get();
  return row === undefined ? null : vault.open(consumerEmailContext(id), row.emailSealed);
};

/** Likewise of several, sealed; those who are gone are left out. */
export const listSealedAddresses = async (db: Database, ids: readonly ConsumerId[]): Promise<ReadonlyMap<ConsumerId, string>> => {
  const rows = await db
    .select({ id: consumers.id, emailSealed })
    .from(consumers)
    .where(allOf(inArray(consumers.id, jsonList(ids)), isNull(consumers.erasedAt)));
  return new Map(rows.map((row) => [row.id as ConsumerId, row.emailSealed]));
};

/** The address of an account that is being erased, for the last mail to it; null once it is done. */
export const findAddressToErase = async (db: Database, vault: Vault, id: ConsumerId): Promise<string | null> => {
  const row = await db.select({ emailSealed }).from(consumers).where(eq(consumers.id, id)).get();
  return row === undefined || row.emailSealed === "" ? null : vault.open(consumerEmailContext(id), row.emailSealed);
};

/** For selections from consumers. */
export const consumerChainFields = { tag: consumers.auditChain, auditLog: consumers.auditLog };

/** The chain that tells of a person, erased or not; null for nobody. */
export const findPersonChain = async (db: Database, id: ConsumerId): Promise<AuditChain | null> =>
  (await db.select(consumerChainFields).from(consumers).where(eq(consumers.id, id)).get()) ?? null;

/** Where the person may have shares. */
export const listPersonShards = (db: Database, id: ConsumerId): Lookup<readonly ShardId[]> =>
  createLookup(db, [db.select({ home: consumerShards.shard }).from(consumerShards).where(eq(consumerShards.consumerId, id))], ([rows]) =>
    rows.map(({ home }) => home),
  );

export const countActiveShares = (db: Database, id: ConsumerId, now: Instant): Lookup<number> => {
  const isActive = allOf(eq(shares.consumerId, id), eq(shares.state, "active"), gt(shares.expiresAt, now));
  return createLookup(db, [db.select({ active: count() }).from(shares).where(isActive)], ([[row]]) => row?.active ?? 0);
};
