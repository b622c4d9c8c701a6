// Re-encrypts the stored indexes of a shard with the current index encryption key. A test checks that every column with indexes is in this
// file.
import { and, eq, isNull, notExists, sql, type Column, type SQL } from "drizzle-orm";
import { alias, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { listStoredForms, toStoredIndex, type StoredIndex } from "../core/access/address-index.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { allOf, jsonTable, query } from "./query.ts";
import * as schema from "./schema.ts";
import type { IndexReader } from "./vault.ts";

const { accountWithdrawals, certificateAddresses, certificates, withdrawalWork } = schema;

/** The last row that was read: a row ID, or the `ord` of a certificate. */
export type ReindexPosition = number;

interface ReindexRange {
  readonly position: ReindexPosition;
  readonly max: number;
  readonly isCheck: boolean;
}

export interface ReindexProgress {
  /** The number of rows with an index in an earlier form. */
  readonly outdated: number;
  /** The position of the last row that was read, or null at the end of the table. */
  readonly position: ReindexPosition | null;
}

type Reindex = (db: Database, vault: IndexReader, range: ReindexRange) => Promise<ReindexProgress>;

const rowId = sql<number>`rowid`;

const toProgress = (rows: readonly { readonly at: number }[], outdated: number, max: number): ReindexProgress => {
  const last = rows.at(-1);
  return { outdated, position: last === undefined || rows.length < max ? null : last.at };
};

interface IndexColumn {
  readonly table: SQLiteTable;
  readonly column: Column;
  /** The column's property name in the schema. */
  readonly key: string;
}

interface Replacement {
  readonly at: number;
  readonly from: StoredIndex;
  readonly to: StoredIndex;
}

type BuildUpdates = (db: Database, source: IndexColumn, replacements: readonly Replacement[]) => readonly Statement[];

/** Updates each row by its ID, unless it has changed since it was read. */
const updateEachRow =
  (isAllowed?: (to: SQL<StoredIndex>) => SQL): BuildUpdates =>
  (db, { table, column, key }, replacements) => {
    const rows = jsonTable(replacements);
    return [
      db
        .update(table)
        .set({ [key]: rows.cell("to") })
        .from(rows.each)
        .where(and(sql`${table}.rowid = ${rows.cell("at")}`, sql`${column} = ${rows.cell("from")}`, isAllowed?.(rows.cell("to")))),
    ];
  };

/** Updates all memberships and invitations of an address together, because queries compare their indexes with each other. */
const updateMemberships: BuildUpdates = (db, _, replacements) => {
  const rows = jsonTable(replacements);
  return [schema.members, schema.invitations].map((table) =>
    db
      .update(table)
      .set({ emailIndex: rows.cell("to") })
      .from(rows.each)
      .where(eq(table.emailIndex, rows.cell("from"))),
  );
};

/**
 * Builds a condition that is false if the withdrawal has a second row with the current form of the index. The row with the earlier form
 * then stays unchanged and is deleted when its work is done.
 */
const isOnlyWithdrawal = (to: SQL<StoredIndex>): SQL => {
  const twin = alias(accountWithdrawals, "twin");
  return notExists(
    query
      .select({ value: sql`1` })
      .from(twin)
      .where(allOf(eq(twin.addressIndex, to), eq(twin.businessId, accountWithdrawals.businessId))),
  );
};

const reindexColumn =
  (source: IndexColumn, buildUpdates: BuildUpdates): Reindex =>
  async (db, vault, { position, max, isCheck }) => {
    const { table, column } = source;
    const rows = await db
      .select({ at: rowId, stored: sql<StoredIndex | null>`${column}` })
      .from(table)
      .where(sql`rowid > ${position}`)
      .orderBy(rowId)
      .limit(max);
    const replacements = rows.flatMap(({ at, stored: from }) => {
      const to = from === null ? null : toStoredIndex(vault.readIndex(from));
      return from === null || to === null || to === from ? [] : [{ at, from, to }];
    });
    if (!isCheck && replacements.length > 0) await batch(db, buildUpdates(db, source, replacements));
    return toProgress(rows, replacements.length, max);
  };

/**
 * A row of `withdrawal_work` contains all stored forms of each index, so that the withdrawal also finds certificates that have not been
 * updated yet.
 */
const reindexWithdrawalWork: Reindex = async (db, vault, { position, max, isCheck }) => {
  const { addressIndexes } = withdrawalWork;
  const rows = await db
    .select({ at: rowId, addressIndexes })
    .from(withdrawalWork)
    .where(sql`rowid > ${position}`)
    .orderBy(rowId)
    .limit(max);
  const replacements = rows.flatMap(({ at, addressIndexes: from }) => {
    const to = [...new Set(from.map(vault.readIndex))].flatMap(listStoredForms);
    return to.every((form) => from.includes(form)) ? [] : [{ at, to }];
  });
  if (!isCheck && replacements.length > 0)
    await batch(
      db,
      replacements.map(({ at, to }) => db.update(withdrawalWork).set({ addressIndexes: to }).where(sql`rowid = ${at}`)),
    );
  return toProgress(rows, replacements.length, max);
};

/**
 * Updates a certificate's lists of indexes and its rows in `certificate_addresses` together, because triggers use the lists to find the
 * rows.
 */
const reindexCertificates: Reindex = async (db, vault, { position, max, isCheck }) => {
  const { ord, emailIndexes, phoneIndexes, environment, businessId, issuedAt, subjectErasedAt } = certificates;
  const rows = await db
    .select({ at: ord, emailIndexes, phoneIndexes, environment, businessId, issuedAt })
    .from(certificates)
    .where(sql`${ord} > ${position}`)
    .orderBy(ord)
    .limit(max);
  const toCurrent = (list: readonly StoredIndex[] | null) => list?.map((stored) => toStoredIndex(vault.readIndex(stored))) ?? null;
  const replacements = rows.flatMap((row) => {
    const earlier = [...(row.emailIndexes ?? []), ...(row.phoneIndexes ?? [])];
    const lists = { emails: toCurrent(row.emailIndexes), phones: toCurrent(row.phoneIndexes) };
    const newIndexes = [...(lists.emails ?? []), ...(lists.phones ?? [])];
    const changes = earlier.flatMap((from, index) => (newIndexes[index] === from ? [] : [{ from, to: newIndexes[index] as StoredIndex }]));
    return changes.length === 0 ? [] : [{ row, lists, changes }];
  });
  if (!isCheck && replacements.length > 0) {
    const addresses = jsonTable(
      replacements.flatMap(({ row, changes }) =>
        changes.map((change) => ({
          ...change,
          at: row.at,
          environment: row.environment,
          businessId: row.businessId,
          issuedAt: row.issuedAt,
        })),
      ),
    );
    const lists = jsonTable(
      replacements.map(({ row, lists: { emails, phones } }) => ({
        at: row.at,
        emails: emails && JSON.stringify(emails),
        phones: phones && JSON.stringify(phones),
      })),
    );
    const named = certificateAddresses;
    await batch(db, [
      db
        .update(named)
        .set({ addressIndex: addresses.cell("to") })
        .from(addresses.each)
        .where(
          and(
            eq(named.addressIndex, addresses.cell("from")),
            eq(named.environment, addresses.cell("environment")),
            sql`${named.active} in (0, 1)`,
            eq(named.businessId, addresses.cell("businessId")),
            eq(named.issuedAt, addresses.cell("issuedAt")),
            eq(named.certOrd, addresses.cell("at")),
          ),
        ),
      // If a certificate was erased after it was read, its lists must stay NULL.
      db
        .update(certificates)
        .set({ emailIndexes: lists.cell("emails") as never, phoneIndexes: lists.cell("phones") as never })
        .from(lists.each)
        .where(allOf(eq(ord, lists.cell("at")), isNull(subjectErasedAt))),
    ]);
  }
  return toProgress(rows, replacements.length, max);
};

const { members, invitations, signups, consumers, emailCodes, emailCodeFailures, shares, capturedMail } = schema;

/**
 * The steps by name, in order. `withdrawal_work` comes before `certificates`, because it must contain the new forms before the certificates
 * do.
 */
export const reindexSteps: ReadonlyMap<string, Reindex> = new Map<string, Reindex>([
  ["members", reindexColumn({ table: members, column: members.emailIndex, key: "emailIndex" }, updateMemberships)],
  ["invitations", reindexColumn({ table: invitations, column: invitations.emailIndex, key: "emailIndex" }, updateMemberships)],
  ["signups", reindexColumn({ table: signups, column: signups.emailIndex, key: "emailIndex" }, updateEachRow())],
  ["consumers", reindexColumn({ table: consumers, column: consumers.emailIndex, key: "emailIndex" }, updateEachRow())],
  ["email_codes", reindexColumn({ table: emailCodes, column: emailCodes.addressIndex, key: "addressIndex" }, updateEachRow())],
  [
    "email_code_failures",
    reindexColumn({ table: emailCodeFailures, column: emailCodeFailures.addressIndex, key: "addressIndex" }, updateEachRow()),
  ],
  [
    "account_withdrawals",
    reindexColumn(
      { table: accountWithdrawals, column: accountWithdrawals.addressIndex, key: "addressIndex" },
      updateEachRow(isOnlyWithdrawal),
    ),
  ],
  ["withdrawal_work", reindexWithdrawalWork],
  ["certificates", reindexCertificates],
  ["shares.email", reindexColumn({ table: shares, column: shares.emailIndex, key: "emailIndex" }, updateEachRow())],
  ["shares.phone", reindexColumn({ table: shares, column: shares.phoneIndex, key: "phoneIndex" }, updateEachRow())],
  ["captured_mail", reindexColumn({ table: capturedMail, column: capturedMail.recipientIndex, key: "recipientIndex" }, updateEachRow())],
]);
