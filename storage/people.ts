// Members and consumers: found by the blind index of their address, their address sealed.
import type { Realm } from "../core/access/session.ts";
import type { Instant } from "../core/time.ts";
import { consumerEmailPlace, memberEmailPlace } from "./people-places.ts";
import type { SealedPlace, Vault } from "./vault.ts";

export interface Person {
  readonly id: string;
  readonly emailSealed: string;
  readonly emailPlace: SealedPlace;
}

const namePlace = (id: string): SealedPlace => ({ table: "consumers", record: id, field: "name", owner: id });

/** Who has the address; null when nobody does in this home. */
export const personByAddress = async (db: D1Database, realm: Realm, emailIndex: string): Promise<Person | null> => {
  if (realm === "business") {
    const member = await db
      .prepare("SELECT id, business_id, email_sealed FROM members WHERE email_index = ?")
      .bind(emailIndex)
      .first<{ id: string; business_id: string; email_sealed: string }>();
    return member === null
      ? null
      : { id: member.id, emailSealed: member.email_sealed, emailPlace: memberEmailPlace(member.id, member.business_id) };
  }
  const consumer = await db
    .prepare("SELECT id, email_sealed FROM consumers WHERE email_index = ?")
    .bind(emailIndex)
    .first<{ id: string; email_sealed: string }>();
  return consumer === null ? null : { id: consumer.id, emailSealed: consumer.email_sealed, emailPlace: consumerEmailPlace(consumer.id) };
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
  db: D1Database,
  vault: Vault,
  consumer: NewConsumer,
  spent: { readonly codeId: string; readonly sessionHash: string },
): Promise<D1PreparedStatement> =>
  db
    .prepare(
      `INSERT INTO consumers (id, email_sealed, email_index, name_sealed, audit_chain, created_at)
       SELECT ?, ?, ?, ?, ?, ? FROM login_codes WHERE id = ? AND session_hash = ?
       ON CONFLICT (email_index) DO NOTHING`,
    )
    .bind(
      consumer.id,
      await vault.seal(consumerEmailPlace(consumer.id), consumer.email),
      consumer.emailIndex,
      consumer.name === null ? null : await vault.seal(namePlace(consumer.id), consumer.name),
      consumer.chainTag,
      consumer.now,
      spent.codeId,
      spent.sessionHash,
    );
