// A person's contact fields, sealed as one value. Each change increases the revision. If the fields have a newer revision than the caller
// has read, the change fails, and the caller must read the fields again.
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

/** The JSON is sealed in the person's record or in a share. */
export const serializeContactFields = (fields: ContactFields): string =>
  JSON.stringify(Object.fromEntries(fieldEntries(fields).map(([key, { value, updatedAt }]) => [key, [value, updatedAt]])));

export const parseContactFields = (text: string): ContactFields =>
  Object.fromEntries(fieldEntries(JSON.parse(text) as SerializedFields).map(([key, [value, updatedAt]]) => [key, { value, updatedAt }]));

/** Returns the fields and their revision, or null if the person is unknown or the account is erased. */
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

const maxRevision = Number.MAX_SAFE_INTEGER; // greater than any revision in a share, so that all shares are listed

/**
 * Loads the data for a change of these fields in one round trip:
 * - all fields
 * - the other shards in which the person may have shares
 * - the shares in the shard of the person's account that contain one of the fields, at most as many as one batch can update
 *
 * Returns null if the person is unknown or the account is erased.
 */
export const findFieldsForUpdate = async (db: Database, vault: Vault, id: ConsumerId, keys: readonly ContactKey[], now: Instant) => {
  const outdated = createLookup(db, [listOutdatedShares(db, id, { keys, revision: maxRevision, now })], ([rows]) => rows);
  const [stored, shards, shares] = await combineLookups(db, [findContactFields(db, vault, id), listPersonShards(db, id), outdated]);
  return stored && { ...stored, otherShards: shards.filter((shard) => shard !== shardOfId(id)), shares };
};

/** Updates the fields. Fails if the fields have changed since they were read or the account is erased (`isOutdatedFields`). */
export const updateStoredFields = async (db: Database, vault: Vault, id: ConsumerId, { fields, revision }: StoredContactFields) => {
  const fieldsSealed = await vault.seal(fieldsContext(id), serializeContactFields(fields));
  const next = sql`case when ${consumers.fieldsRevision} = ${revision} and ${consumers.erasedAt} is null then ${revision + 1} end`;
  return [db.update(consumers).set({ fieldsSealed, fieldsRevision: next }).where(eq(consumers.id, id))] as const;
};

/**
 * Selects the revision of the fields for a row to insert. If the fields have changed or the account is erased, the result is NULL, so that
 * the insert fails.
 */
export const unchangedFieldsRevision = (id: ConsumerId, revision: number): SQL<number> => {
  const { fieldsRevision } = consumers;
  return sql`${query
    .select({ fieldsRevision })
    .from(consumers)
    .where(allOf(isExistingConsumer(id), eq(fieldsRevision, revision)))}`;
};

/** Returns true if the batch failed because the fields have changed or the account is erased. */
export const isOutdatedFields = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", consumers.fieldsRevision);
