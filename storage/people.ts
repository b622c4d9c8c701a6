// Finds members and consumers by the blind index of their email address, and loads a consumer's account data.
import { auditLogOf } from "./audit-entries.ts";
import { count, desc, eq, gt, inArray, isNull, sql, type SQL } from "drizzle-orm";
import { toStoredIndex, type AddressIndex, type StoredIndex } from "../core/access/address-index.ts";
import type { Realm } from "../core/access/session.ts";
import type { AuditChain } from "../core/domain-events.ts";
import type { ConsumerId, ShardId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { hasIndex, listOtherForms } from "./address-indexes.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { insertIf } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { isCodeUsedBySession, selectNewestCodeTime } from "./email-codes.ts";
import { consumerEmailContext, memberEmailContext } from "./people-contexts.ts";
import { allOf, existsIn, jsonList, notExistsIn, query } from "./query.ts";
import { consumerShards, consumers, invitations, members, shares, signups } from "./schema.ts";
import { signupEmailContext } from "./signups.ts";
import { selfOwnedContext, type EncryptionContext, type Vault } from "./vault.ts";

const consumerNameContext = selfOwnedContext("consumers", "name");

/** Sorts memberships: most recently used first, and then those that were never used, newest first. A database index has the same order. */
export const byLastUsed = [desc(members.lastUsedAt), desc(members.createdAt), desc(members.id)] as const;

/**
 * A possible recipient of a sign-in code: a member, consumer, invitation or sign-up with the email address. The code is sent to the stored
 * address, not to the address as typed in the form.
 */
export interface SignInRecipient {
  /** A `person` is a member or consumer. */
  readonly kind: "person" | "invitation" | "sign_up";
  readonly id: string;
  readonly emailSealed: string;
  readonly emailContext: EncryptionContext;
  /** The time at which the member's last session began. Null if there was none or this is not a member. */
  readonly lastUsedAt: Instant | null;
}

export interface SignInAddress {
  readonly recipients: readonly SignInRecipient[];
  /** The time at which a sign-in code was last requested for the address, even if no code was sent. Null if never. */
  readonly codeRequestedAt: Instant | null;
}

/**
 * Returns the possible recipients for an address in one shard, and the time of the last request for a code. In the realm `business`, these
 * are the most recently used membership, the oldest open invitation and the newest sign-up.
 */
export const findSignInAddress = async (db: Database, realm: Realm, emailIndex: AddressIndex, now: Instant): Promise<SignInAddress> => {
  const newestCode = selectNewestCodeTime(db, { purpose: "login", topic: realm, addressIndex: emailIndex });
  if (realm === "consumer") {
    const { id, emailSealed } = consumers;
    const [rows, [code]] = await batch(db, [
      db.select({ id, emailSealed }).from(consumers).where(hasIndex(consumers.emailIndex, emailIndex)),
      newestCode,
    ]);
    return {
      recipients: rows.map((row) => ({ kind: "person", ...row, emailContext: consumerEmailContext(row.id), lastUsedAt: null })),
      codeRequestedAt: code?.createdAt ?? null,
    };
  }
  const { id, businessId, emailSealed, expiresAt } = invitations;
  const [memberships, invited, signedUp, [code]] = await batch(db, [
    db
      .select({ id: members.id, businessId: members.businessId, emailSealed: members.emailSealed, lastUsedAt: members.lastUsedAt })
      .from(members)
      .where(hasIndex(members.emailIndex, emailIndex))
      .orderBy(...byLastUsed)
      .limit(1),
    db
      .select({ id, businessId, emailSealed })
      .from(invitations)
      .where(allOf(hasIndex(invitations.emailIndex, emailIndex), gt(expiresAt, now)))
      .orderBy(expiresAt, id)
      .limit(1),
    db
      .select({ id: signups.id, emailSealed: signups.emailSealed })
      .from(signups)
      .where(allOf(hasIndex(signups.emailIndex, emailIndex), gt(signups.expiresAt, now)))
      .orderBy(desc(signups.expiresAt), desc(signups.id))
      .limit(1),
    newestCode,
  ]);
  const recipients = [
    ...memberships.map((row) => ({ ...row, kind: "person" as const, emailContext: memberEmailContext(row.id, row.businessId) })),
    ...invited.map((row) => ({
      ...row,
      kind: "invitation" as const,
      emailContext: memberEmailContext(row.id, row.businessId),
      lastUsedAt: null,
    })),
    ...signedUp.map((row) => ({ ...row, kind: "sign_up" as const, emailContext: signupEmailContext(row.id), lastUsedAt: null })),
  ];
  return { recipients, codeRequestedAt: code?.createdAt ?? null };
};

const recipientPriority = ["person", "invitation", "sign_up"] as const;

/**
 * Chooses one of the recipients found in all shards. Prefers a person to an invitation, and an invitation to a sign-up. Returns null if
 * there are no recipients.
 */
export const preferredRecipient = (found: readonly SignInRecipient[]): SignInRecipient | null =>
  recipientPriority.map((kind) => found.find((recipient) => recipient.kind === kind)).find((recipient) => recipient !== undefined) ?? null;

/** Returns the ID of the most recently used membership among the recipients found in all shards, or null if there is none. */
export const findLastUsedMemberId = (found: readonly SignInRecipient[]): string | null =>
  found.filter(({ kind }) => kind === "person").toSorted((a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0))[0]?.id ?? null;

export interface NewConsumer {
  readonly id: string;
  readonly email: string;
  readonly emailIndex: AddressIndex;
  readonly name: string | null;
  /** The random tag of the person's audit chain. It reveals nothing about the person. */
  readonly chainTag: string;
  readonly now: Instant;
}

/**
 * Returns the statements that create a consumer at the first sign-in. They do nothing if the session has not used the code, or if a
 * consumer with this address already exists.
 */
export const insertConsumer = async (
  db: Database,
  vault: Vault,
  { id, email, emailIndex, name, chainTag, now }: NewConsumer,
  spent: { readonly codeId: string; readonly sessionHash: string },
): Promise<readonly Statement[]> => {
  const emailSealed = await vault.seal(consumerEmailContext(id), email);
  const nameSealed = name === null ? null : await vault.seal(consumerNameContext(id), name);
  const row = { id, emailSealed, emailIndex: toStoredIndex(emailIndex), nameSealed, auditChain: chainTag, createdAt: now };
  const isUsed = isCodeUsedBySession(spent.codeId, spent.sessionHash);
  // The UNIQUE constraint prevents only a second row with the same form of the index, so this condition checks the other forms.
  const others = listOtherForms(emailIndex);
  const isNew = others.length === 0 ? isUsed : allOf(isUsed, notExistsIn(consumers, inArray(consumers.emailIndex, [...others])));
  return [insertIf(db, consumers, row, isNew).onConflictDoNothing({ target: consumers.emailIndex })];
};

const { createdAt, emailSealed, emailIndex, plan } = consumers;
/** Builds a condition for queries on `consumers`. It is true if the consumer exists and is not erased. */
export const isExistingConsumer = (id: ConsumerId): SQL => allOf(eq(consumers.id, id), isNull(consumers.erasedAt));

/** Builds a condition for statements on other tables. It is true if the ID is that of a member, or of a consumer who is not erased. */
export const isExistingPrincipal = (id: string): SQL =>
  id.startsWith("con_") ? existsIn(consumers, isExistingConsumer(id as ConsumerId)) : existsIn(members, eq(members.id, id));

/** Returns a consumer's record, or null if the person is unknown or the account is erased. */
export const findPersonRecord = (db: Database, id: ConsumerId) =>
  createLookup(
    db,
    [db.select({ createdAt, emailSealed, emailIndex, plan }).from(consumers).where(isExistingConsumer(id))],
    ([[row]]) => row ?? null,
  );

/**
 * Selects the blind index of the person's email address. Use it in the person's shard. The value is NULL if the person is unknown or the
 * account is erased.
 */
export const addressIndexField = (id: ConsumerId): SQL<StoredIndex> =>
  sql`${query.select({ emailIndex }).from(consumers).where(isExistingConsumer(id))}`;

/** Returns the person's email address, or null if the person is unknown or the account is erased. */
export const findConsumerAddress = async (db: Database, vault: Vault, id: ConsumerId): Promise<string | null> => {
  const row = await db.select({ emailSealed }).from(consumers).where(isExistingConsumer(id)).get();
  return row === undefined ? null : vault.open(consumerEmailContext(id), row.emailSealed);
};

/** Returns the sealed email addresses of several people. Omits people who are unknown or whose account is erased. */
export const listSealedAddresses = async (db: Database, ids: readonly ConsumerId[]): Promise<ReadonlyMap<ConsumerId, string>> => {
  const rows = await db
    .select({ id: consumers.id, emailSealed })
    .from(consumers)
    .where(allOf(inArray(consumers.id, jsonList(ids)), isNull(consumers.erasedAt)));
  return new Map(rows.map((row) => [row.id as ConsumerId, row.emailSealed]));
};

/** Returns the email address of an account that is being erased, and its index. Returns null once the erasure is complete. */
export const findAddressToErase = async (db: Database, vault: Vault, id: ConsumerId) => {
  const row = await db.select({ emailSealed, emailIndex }).from(consumers).where(eq(consumers.id, id)).get();
  if (row === undefined || row.emailSealed === "") return null;
  return { email: await vault.open(consumerEmailContext(id), row.emailSealed), emailIndex: vault.readIndex(row.emailIndex) };
};

/** Fields for queries on `consumers`: the audit chain of a person. */
export const consumerChainFields = { tag: consumers.auditChain, auditLog: auditLogOf(consumers.id) };

/** Returns the person's audit chain, even if the account is erased. Returns null if the person is unknown. */
export const findPersonChain = async (db: Database, id: ConsumerId): Promise<AuditChain | null> =>
  (await db.select(consumerChainFields).from(consumers).where(eq(consumers.id, id)).get()) ?? null;

/** Lists the shards in which the person can have shares. */
export const listPersonShards = (db: Database, id: ConsumerId): Lookup<readonly ShardId[]> =>
  createLookup(db, [db.select({ shard: consumerShards.shard }).from(consumerShards).where(eq(consumerShards.consumerId, id))], ([rows]) =>
    rows.map(({ shard }) => shard),
  );

export const countActiveShares = (db: Database, id: ConsumerId, now: Instant): Lookup<number> => {
  const isActive = allOf(eq(shares.consumerId, id), eq(shares.state, "active"), gt(shares.expiresAt, now));
  return createLookup(db, [db.select({ active: count() }).from(shares).where(isActive)], ([[row]]) => row?.active ?? 0);
};
