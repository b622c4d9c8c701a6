// Members and consumers: found by the blind index of their address, their address sealed.
import { asc, desc, eq, inArray, isNull } from "drizzle-orm";
import type { Realm } from "../core/access/session.ts";
import type { ConsumerId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { consumerEmailContext, memberEmailContext } from "./people-contexts.ts";
import { isSpentOn } from "./mailed-codes.ts";
import { consumers, members } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { allOf, listed } from "./query.ts";
import { ownContextIn, type EncryptionContext, type Vault } from "./vault.ts";

export interface Person {
  readonly id: string;
  readonly emailSealed: string;
  readonly emailContext: EncryptionContext;
  /** Of a member: when a session of the seat last began; null for none yet, and for a consumer. */
  readonly usedAt: Instant | null;
}

const nameContext = ownContextIn("consumers", "name");

/** The seats of an address, the one that was used last first. */
export const lastUsed = [desc(members.usedAt), asc(members.createdAt), asc(members.id)] as const;

/** Who has the address, of several seats the one that was used last; null when nobody does in this home. */
export const personByAddress = async (db: Database, realm: Realm, emailIndex: string): Promise<Person | null> => {
  if (realm === "business") {
    const { id, businessId, emailSealed, usedAt } = members;
    const member = await db
      .select({ id, businessId, emailSealed, usedAt })
      .from(members)
      .where(eq(members.emailIndex, emailIndex))
      .orderBy(...lastUsed)
      .limit(1)
      .get();
    if (member === undefined) return null;
    const { businessId: of, ...seat } = member;
    return { ...seat, emailContext: memberEmailContext(seat.id, of) };
  }
  const { id, emailSealed } = consumers;
  const consumer = await db.select({ id, emailSealed }).from(consumers).where(eq(consumers.emailIndex, emailIndex)).get();
  return consumer === undefined ? null : { ...consumer, emailContext: consumerEmailContext(consumer.id), usedAt: null };
};

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
  const nameSealed = name === null ? null : await vault.seal(nameContext(id), name);
  return [
    insertIf(
      db,
      consumers,
      { id, emailSealed, emailIndex, nameSealed, auditChain: chainTag, createdAt: now },
      isSpentOn(spent.codeId, spent.sessionHash),
    ).onConflictDoNothing({ target: consumers.emailIndex }),
  ];
};

/** Where a person is written to; null for one who is not here, or is erased. */
export const consumerAddress = async (db: Database, vault: Vault, id: ConsumerId): Promise<string | null> => {
  const { emailSealed, erasedAt } = consumers;
  const row = await db.select({ emailSealed, erasedAt }).from(consumers).where(eq(consumers.id, id)).get();
  return row === undefined || row.erasedAt !== null ? null : vault.open(consumerEmailContext(id), row.emailSealed);
};

/** Likewise of several, sealed; those who are not here or are erased are left out. */
export const sealedAddresses = async (db: Database, ids: readonly ConsumerId[]): Promise<ReadonlyMap<ConsumerId, string>> => {
  const { id, emailSealed, erasedAt } = consumers;
  const rows = await db
    .select({ id, emailSealed })
    .from(consumers)
    .where(allOf(inArray(id, listed(ids)), isNull(erasedAt)));
  return new Map(rows.map((row) => [row.id as ConsumerId, row.emailSealed]));
};

export const openAddress = (vault: Vault, id: ConsumerId, sealed: string): Promise<string> => vault.open(consumerEmailContext(id), sealed);

/** The address of an account that is being erased, for the last mail to it; null once it is done. */
export const addressToErase = async (db: Database, vault: Vault, id: ConsumerId): Promise<string | null> => {
  const row = await db.select({ emailSealed: consumers.emailSealed }).from(consumers).where(eq(consumers.id, id)).get();
  return row === undefined || row.emailSealed === "" ? null : vault.open(consumerEmailContext(id), row.emailSealed);
};
