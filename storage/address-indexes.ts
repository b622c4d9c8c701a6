// Conditions and statements for columns that contain the index of an email address or phone number. During a rotation of the index
// encryption keys, an index has several stored forms, usually two, and a row contains one of them. Searches must look for both.
import { eq, inArray, is, SQL, type Column } from "drizzle-orm";
import { listStoredForms, toStoredIndex, type AddressIndex, type StoredIndex } from "../core/access/address-index.ts";
import type { Database, Statement } from "./database.ts";
import { invitations, members } from "./schema.ts";

/** Builds a condition that is true if the column contains any stored form of `index`. An SQL expression has only one form: its value. */
export const hasIndex = (column: Column, index: AddressIndex | SQL): SQL => {
  if (is(index, SQL)) return eq(column, index);
  const forms = listStoredForms(index);
  return forms.length === 1 ? eq(column, forms[0]) : inArray(column, [...forms]);
};

/** Lists the stored forms except the one that new rows get. Returns an empty list if no key is being rotated. */
export const listOtherForms = (index: AddressIndex): readonly StoredIndex[] => listStoredForms(index).slice(1);

/**
 * Calls `build` for each form of the index. Use it instead of `hasIndex` if a query must read rows in the order of a database index. With
 * `hasIndex`, which compares the column with a list of values, SQLite would have to sort the rows.
 */
export const mapForms = <Result>(index: AddressIndex | SQL, build: (form: StoredIndex | SQL) => Result): readonly Result[] =>
  is(index, SQL) ? [build(index)] : listStoredForms(index).map(build);

/**
 * During a key rotation, returns the statements that rewrite an address's index to its new stored form, in all memberships and invitations
 * in the shard. Queries compare the indexes in these tables with each other, so every insert into them must be in a batch with these
 * statements. Returns no statements at other times.
 */
export const alignMembershipIndexes = (db: Database, index: AddressIndex): readonly Statement[] => {
  const others = listOtherForms(index);
  if (others.length === 0) return [];
  const emailIndex = toStoredIndex(index);
  return [members, invitations].map((table) =>
    db
      .update(table)
      .set({ emailIndex })
      .where(inArray(table.emailIndex, [...others])),
  );
};
