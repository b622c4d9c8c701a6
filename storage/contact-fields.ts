// The contact fields a person keeps, sealed as one. Each change counts the revision, and names the one it was decided on: of two
// changes at once the second fails and is decided again.
import { eq, sql, type SQL } from "drizzle-orm";
import { shardOfId, type ConsumerId } from "../core/ids.ts";
import type { ContactFields, ContactKey } from "../core/shares/fields.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { createLookup, combineLookups } from "./lookups.ts";
import { listPersonShards, isExistingConsumer } from "./people.ts";
import { allOf, query } from "./query.ts";
import { consumers } from "./schema.ts";
import { listOutdatedShares } from "./share-copies.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const fieldsContext = selfOwnedContext("consumers", "fields");

type SerializedFields = Partial<Record<ContactKey, readonly [value: string, updatedAt: Instant]>>;

const fieldEntries = Object.entries as <T extends object>(of: T) => [ContactKey, NonNullable<T[keyof T]>][];

/** As JSON to be sealed: the person's own record, and the copy of a share. */
export const serializeContactFields = (fields: ContactFields): string =>
  JSON.stringify(Object.fromEntries(fieldEntries(fields).map(([key, { value, updatedAt }]) => [key, [value, updatedAt]])));

export const parseContactFields = (text: string): ContactFields =>
  Object.fromEntries(fieldEntries(JSON.parse(text) as SerializedFields).map(([key, [value, updatedAt]]) => [key, { value, updatedAt }]));

/** Null for a person who is gone. */
export const findContactFields = (db: Database, vault: Vault, id: ConsumerId) => {
  const { fieldsSealed: sealed, fieldsRevision: revision } = consumers;
  return createLookup(db, [db.select({ sealed, revision }).from(consumers).where(isExistingConsumer(id))], async ([[row]]) => {
    if (row === undefined) return null;
    return {
      revision: row.revision,
      fields: row.sealed === null ? {} : parseContactFields(await vault.open(fieldsContext(id), row.sealed)),
    };
  });
};

type StoredContactFields = Found<typeof findContactFields>;

const maxRevision = Number.MAX_SAFE_INTEGER; // every copy is older than a change that has no revision yet

/**
 * Everything a change of these keys is decided on: the fields, the homes other than the person's own where they may have shares, and the
 * shares of the own home that hold one of the keys, the first of them if there are many. One round trip; null for a person who is gone.
 */
export const findFieldsForUpdate = async (db: Database, vault: Vault, id: ConsumerId, keys: readonly ContactKey[], now: Instant) => {
  const outdated = createLookup(db, [listOutdatedShares(db, id, { keys, revision: maxRevision, now })], ([rows]) => rows);
  const [kept, homes, shares] = await combineLookups(db, [findContactFields(db, vault, id), listPersonShards(db, id), outdated]);
  return kept && { ...kept, otherHomes: homes.filter((home) => home !== shardOfId(id)), shares };
};

/** Fails as `isOutdatedFields` says when the fields are of another revision by now, or the person is erased. */
export const updateStoredFields = async (db: Database, vault: Vault, id: ConsumerId, { fields, revision }: StoredContactFields) => {
  const fieldsSealed = await vault.seal(fieldsContext(id), serializeContactFields(fields));
  const next = sql`case when ${consumers.fieldsRevision} = ${revision} and ${consumers.erasedAt} is null then ${revision + 1} end`;
  return [db.update(consumers).set({ fieldsSealed, fieldsRevision: next }).where(eq(consumers.id, id))] as const;
};

/** The revision, to be read inside the change that depends on it: NULL where it is another one by now, or the person is erased. */
export const unchangedFieldsRevision = (id: ConsumerId, revision: number): SQL<number> => {
  const { fieldsRevision } = consumers;
  return sql`${query
    .select({ fieldsRevision })
    .from(consumers)
    .where(allOf(isExistingConsumer(id), eq(fieldsRevision, revision)))}`;
};

export const isOutdatedFields = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", consumers.fieldsRevision);
