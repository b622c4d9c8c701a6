// Audit entries. A committed change has one row for each audit chain that records it, written in the same batch. These rows are never
// deleted, because nothing else contains the payloads whose hashes are in the chains. Two kinds of changes have no row: live issuances, and
// reads of a certificate's personal data. The row in `changes` contains their entry until the audit log has recorded it. After that, an
// issuance's entry is rebuilt from the certificate, and a read's payload is stored in the audit log.
import { desc, eq, inArray, isNotNull, sql, type Column, type SQL } from "drizzle-orm";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import { unionAll } from "drizzle-orm/sqlite-core";
import { hashAuditPayload } from "../core/audit/payload.ts";
import type { CommittedPayload, PendingEntry } from "../core/audit/trail.ts";
import { toBase64Url } from "../core/bytes.ts";
import { toCanonicalJson, type JsonObject } from "../core/canonical-json.ts";
import { buildIssuanceEntry, type IssuanceEntry, type IssuanceFacts } from "../core/certificates/issuance-entry.ts";
import type { DomainEventType, EntityType } from "../core/domain-events.ts";
import type { CertId, ShardId } from "../core/ids.ts";
import { hourMs, type Instant } from "../core/time.ts";
import type { ChangeReader } from "./change-reader.ts";
import { isInLog, isSetAside, lastChangeOrd, positionInReaders, readerOffset } from "./changes.ts";
import { batch, onPrimary, type Database, type Found } from "./database.ts";
import { bulkInsert, excluded, insertIf } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, existsIn, jsonList, notExistsIn, query } from "./query.ts";
import { auditBatches, auditEntries, businesses, certificateForms, certificates, changeReaders, changes, shares } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

const { ord, id, chain, type, entityType, entityId, at, payloadHash, payloadSealed } = auditEntries;

/** Returns the name of the change log reader that fills an audit log. */
export const getAuditReader = (auditLog: ShardId): string => `audit/${auditLog}`;

/** Selects the audit log of a business or person. Its name is the shard in their ID: the two characters after a prefix of four. */
export const auditLogOf = (principalId: Column): SQL<ShardId> => sql<ShardId>`substr(${principalId}, 5, 2)`;

const auditReaderOf = (auditLog: SQL | Column): SQL => sql`('audit/' || ${auditLog})`;

/**
 * Selects the number of the last change that an audit log has read. If the last page of changes contained an issuance, this position is in
 * `audit_batches`, which also stores the time of recording, so that only one row is written. Otherwise, it is in `change_readers`.
 */
const auditOffset = (auditLog: SQL | Column): SQL<number> =>
  readerOffset(
    sql`select max(ord) from (${positionInReaders(auditReaderOf(auditLog))}
      union all select max(${auditBatches.ord}) from ${auditBatches} where ${auditBatches.auditLog} = ${auditLog})`,
  );

/** Selects the number of the last change that all of these audit logs have read. */
export const slowestAuditOffset = (auditLogs: readonly ShardId[]): SQL<number> =>
  sql`(select min(${auditOffset(sql`j.value`)}) from json_each(${JSON.stringify(auditLogs)}) j)`;

const entryColumns = ["ord", "chain", "id", "auditLog", "type", "entityType", "entityId", "at", "payloadHash", "payloadSealed"] as const;

/**
 * Inserts the entries of changes that earlier statements in the batch have appended. `back` is 0 for an entry of the newest change, 1 for
 * an entry of the change before it, and so on.
 */
export const insertAuditEntries = bulkInsert(auditEntries, entryColumns, { ord: sql<number>`${lastChangeOrd} - (value ->> 'back')` });

const pendingFields = {
  ord,
  id,
  chain,
  type,
  entityType,
  entityId,
  at,
  payloadHash,
  /** The payload to store in the audit log, or null if only the database stores it. */
  payload: sql<string | null>`null`.as("payload"),
};

/** The fields of an entry that is stored in the `changes` table. */
const containedFields = {
  ord: changes.ord,
  id: changes.id,
  chain: sql<string>`${changes.chain}`.as("chain"),
  type: sql<DomainEventType>`${changes.type}`.as("type"),
  entityType: sql<EntityType>`${changes.entityType}`.as("entity_type"),
  entityId: changes.entityId,
  at: changes.at,
  payloadHash: sql<string>`${changes.payloadHash}`.as("payload_hash"),
  payload: changes.payload,
};

/** Selects an audit log's entries, oldest first. `ofChange` builds a condition on the column that contains the number of the change. */
const selectAuditEntries = (db: Database | DrizzleD1Database, auditLog: ShardId, ofChange: (changeOrd: Column) => SQL) =>
  unionAll(
    db
      .select(pendingFields)
      .from(auditEntries)
      .where(allOf(ofChange(ord), eq(auditEntries.auditLog, auditLog))),
    db
      .select(containedFields)
      .from(changes)
      .where(allOf(ofChange(changes.ord), eq(changes.auditLog, auditLog), isNotNull(changes.payloadHash))),
  ).orderBy(sql`ord`, sql`chain`);

/** Lists an audit log's entries for these changes, oldest first. */
const listAuditEntriesOf = (db: Database, auditLog: ShardId, ords: readonly number[]) =>
  selectAuditEntries(db, auditLog, (changeOrd) => inArray(changeOrd, jsonList(ords))).all();

export type PendingAuditEntry = Found<typeof listAuditEntriesOf>[number];

const issuanceType = "certificate.issued" satisfies DomainEventType;

// A malformed entry cannot be recorded until the code is fixed, so retries are rare.
const backoff = { firstMs: hourMs, maxMs: 6 * hourMs };

/**
 * Creates the reader with which an audit log reads the change log. A change with malformed entries is set aside, and the reader continues
 * with the others.
 */
export const createAuditReader = (
  auditLog: ShardId,
  { maxPerPage, process, clock }: Pick<ChangeReader<PendingAuditEntry>, "maxPerPage" | "process"> & { readonly clock: () => Instant },
): ChangeReader<PendingAuditEntry> => ({
  name: getAuditReader(auditLog),
  maxPerPage,
  offset: auditOffset(sql`${auditLog}`),
  selectUnread: (db, max) =>
    selectAuditEntries(db, auditLog, (changeOrd) => sql`${changeOrd} > ${auditOffset(sql`${auditLog}`)}`).limit(max),
  listWorkOf: (db, exceptions) =>
    listAuditEntriesOf(
      db,
      auditLog,
      exceptions.map((exception) => exception.ord),
    ),
  getSubject: (entry) => String(entry.ord),
  process,
  // The time of recording is shown only for issuances, so it is stored only after a page with an issuance.
  savePosition: (db, position, entries) =>
    entries.some((entry) => entry.type === issuanceType)
      ? insertIf(db, auditBatches, { auditLog, ord: position.ord, recordedAt: clock() }, isInLog(position)).onConflictDoNothing()
      : null,
  backoff,
});

const isReadBy = (auditLog: SQL | Column, changeOrd: Column): SQL =>
  sql`(${changeOrd} <= ${auditOffset(auditLog)} and not ${isSetAside(auditReaderOf(auditLog), sql`cast(${changeOrd} as text)`)})`;

/** True if the audit log has recorded the outer query's entry. */
export const isRecorded: SQL = isReadBy(auditEntries.auditLog, ord);

/** True if the audit log has recorded the issuance of the certificate in the outer query. */
export const isIssuanceRecorded: SQL = isReadBy(auditLogOf(certificates.businessId), certificates.changeOrd);

/** True if the change in the outer query contains an audit entry that the audit log has not recorded yet. */
export const hasUnrecordedEntry: SQL = allOf(isNotNull(changes.payloadHash), sql`not ${isReadBy(changes.auditLog, changes.ord)}`);

/** Selects the time at which the audit log recorded the issuance of the certificate in the outer query. */
export const issuanceRecordedAtField = sql<Instant | null>`(${query
  .select({ at: auditBatches.recordedAt })
  .from(auditBatches)
  .where(
    allOf(sql`${auditBatches.auditLog} = ${auditLogOf(certificates.businessId)}`, sql`${auditBatches.ord} >= ${certificates.changeOrd}`),
  )
  .orderBy(auditBatches.ord)
  .limit(1)})`;

const offsetInList = auditOffset(sql`j.value`);

/** True if there are unread entries for the audit log in the current row of the list (`j.value`). */
const hasUnread = sql`(${existsIn(auditEntries, sql`${ord} > ${offsetInList}`, sql`${auditEntries.auditLog} = j.value`)}
  or ${existsIn(changes, sql`${changes.ord} > ${offsetInList}`, sql`${changes.auditLog} = j.value`, isNotNull(changes.payloadHash))})`;

/**
 * Returns which of the given audit logs have unread entries in this shard. Moves the positions of the other logs to the newest change.
 * Otherwise, a log with nothing to read would prevent old changes from being deleted.
 */
export const listUndrainedLogs = async (db: Database, logs: readonly ShardId[]): Promise<readonly ShardId[]> => {
  const each = sql`json_each(${JSON.stringify(logs)}) j`;
  const newest = sql`(select max(${changes.ord}) as ord from ${changes}) c`;
  const [, rows] = await batch(db, [
    db
      .insert(changeReaders, "reader", "ord")
      .select(sql`select ${auditReaderOf(sql`j.value`)}, c.ord from ${each}, ${newest} where c.ord > ${offsetInList} and not ${hasUnread}`)
      .onConflictDoUpdate({ target: changeReaders.reader, set: { ord: excluded(changeReaders.ord) } }),
    db
      .select({ auditLog: sql<ShardId>`j.value`.as("audit_log") })
      .from(each)
      .where(hasUnread),
  ]);
  return rows.map(({ auditLog }) => auditLog);
};

/** The encryption context of an entry's salt and payload. The owner is the entry's chain. */
export const auditPayloadContext = columnContext("audit_entries", "payload");

/** The prefix of an unsealed payload. Sealed values begin with the version of a master key, which is never 0. */
const unsealedPrefix = "0.";

/**
 * The event types whose entries are stored unsealed. To seal an entry, the code must know its chain, but for these types, the chain is
 * selected in SQL.
 */
export const unsealedEventTypes = [
  "share.redeemed",
  "consumer.current_read",
  "share.expiring",
  "share.expired",
] as const satisfies readonly DomainEventType[];

export type UnsealedEventType = (typeof unsealedEventTypes)[number];

/**
 * Creates an unencrypted payload and its hash. The payload must contain only fixed text, times and IDs that the service generates, never
 * personal data.
 */
export const createUnsealedPayload = (payload: JsonObject) => {
  const salt = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
  return { hash: hashAuditPayload(salt, payload), text: `${unsealedPrefix}${toCanonicalJson([salt, payload])}` };
};

interface UnsealedPayload {
  readonly hash: string | SQL;
  readonly text: string | SQL;
}

/**
 * Returns the statements that record a change of each selected share in the business's chain. If the person has an account and
 * `personEntryIf` is true, they also record it in the person's chain.
 */
export const recordShareChanges = (
  db: Database,
  recorded: {
    /** The tables to select from, including `shares`. */
    readonly from: SQL;
    readonly where: SQL;
    readonly id: string | SQL;
    readonly type: UnsealedEventType | SQL;
    readonly at: Instant;
    readonly max: number;
    readonly business: UnsealedPayload;
    readonly person: UnsealedPayload;
    readonly personEntryIf?: SQL;
    /** Set only for public events: the event sequence, the time shown in each event, and the order of the events. */
    readonly event?: { readonly sequence: SQL; readonly at: SQL; readonly order: SQL };
  },
) => {
  const { from, where, id: changeId, type: eventType, at: now, max, business, person, personEntryIf = sql`true`, event } = recorded;
  const about = sql`${eventType}, 'share', ${shares.id}, ${now}`;
  // `limit -1` makes SQLite build an index for these rows. Without the index, 2,000 shares took 12 s, because the time grew quadratically.
  const appended = sql`(select ${changes.ord}, ${changes.id} from ${changes} where ${changes.ord} > ${lastChangeOrd} - ${max} limit -1)`;
  const withChange = sql`${from} inner join ${appended} ${changes} on ${changes.id} = ${changeId}`;
  const withBusiness = sql`${withChange} inner join ${businesses} on ${businesses.id} = ${shares.businessId}`;
  const row = (auditLog: SQL, tag: Column, { hash, text }: UnsealedPayload, source: SQL) =>
    sql`select ${changes.ord}, ${tag}, ${changeId}, ${auditLog}, ${about}, ${hash}, ${text} from ${source} where (${where})`;
  const ofBusiness = row(auditLogOf(businesses.id), businesses.auditChain, business, withBusiness);
  const ofPerson = row(auditLogOf(shares.consumerId), shares.consumerChain, person, withChange);
  return {
    changes: db
      .insert(changes, "id", "type", "entityType", "entityId", "at", "sequence", "eventAt")
      .select(
        sql`select ${changeId}, ${about}, ${event?.sequence ?? null}, ${event?.at ?? null} from ${from} where (${where}) order by ${event?.order ?? changeId}`,
      ),
    auditEntries: db
      .insert(auditEntries, ...entryColumns)
      .select(sql`${ofBusiness} union all ${ofPerson} and ${shares.consumerChain} is not null and ${personEntryIf}`),
  };
};

/** Lists up to `max` entries of a chain that the audit log has not read yet, oldest first. */
export const listWaitingEntries = (
  db: Database,
  filter: { readonly auditLog: ShardId; readonly chainTag: string; readonly max: number },
): Lookup<readonly PendingEntry[]> => {
  const offset = auditOffset(sql`${filter.auditLog}`);
  const waiting = selectAuditEntries(db, filter.auditLog, (changeOrd) =>
    allOf(sql`${changeOrd} > ${offset}`, eq(changeOrd === ord ? chain : changes.chain, filter.chainTag)),
  ).limit(filter.max);
  return createLookup(db, [waiting], ([rows]) =>
    rows.map((row) => ({ type: row.type, entityType: row.entityType, entityId: row.entityId, at: row.at })),
  );
};

/** Returns true if `audit_entries` has a row for a record. Reads the primary database, to see a commit whose response was lost. */
export const hasAuditEntry = async (db: Database, recordId: string): Promise<boolean> =>
  (await onPrimary(db).select({ ord }).from(auditEntries).where(eq(entityId, recordId)).limit(1).all()).length > 0;

/** Builds a condition that is true if `audit_entries` has no row of this type for a record. */
export const hasNoAuditEntryOf = (type: DomainEventType, recordId: string): SQL =>
  notExistsIn(auditEntries, eq(entityId, recordId), eq(auditEntries.type, type));

const priorityTypes: DomainEventType[] = ["certificate.issued", "certificate.revoked", "certificate.entities_withdrawn"];

const issuanceFacts = {
  auditSalt: certificates.auditSalt,
  clientId: certificateForms.clientId,
  fingerprint: certificates.fingerprint,
  evidenceHash: certificates.evidenceHash,
  environment: certificates.environment,
  gpc: certificates.gpc,
  capturedVia: certificateForms.capturedVia,
  notes: certificates.submissionNotes,
};

/** Rebuilds the audit entry of an issuance from its certificate. Returns null if the entry has its own row. */
const rebuildIssuanceEntry = ({ auditSalt, ...facts }: IssuanceFacts & { readonly auditSalt: string | null }): IssuanceEntry | null =>
  auditSalt === null ? null : buildIssuanceEntry(facts, auditSalt);

/**
 * Lists up to `max` of a certificate's audit entries of these types. The issuance and withdrawals come first, then the others, each oldest
 * first.
 */
export const listCertificateEntries = async (
  db: Database,
  vault: Vault,
  filter: { readonly certId: string; readonly chainTag: string; readonly types: readonly DomainEventType[]; readonly max: number },
) => {
  const [issued, stored] = await batch(db, [
    db
      .select({ ...issuanceFacts, drained: sql<number>`${isIssuanceRecorded}`.as("drained") })
      .from(certificates)
      .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
      .innerJoin(businesses, eq(businesses.id, certificates.businessId))
      .where(allOf(eq(certificates.id, filter.certId as CertId), eq(businesses.auditChain, filter.chainTag))),
    db
      .select({ id, type, payloadSealed, drained: sql<number>`${isRecorded}`.as("drained") })
      .from(auditEntries)
      .where(allOf(eq(entityId, filter.certId), eq(chain, filter.chainTag), inArray(type, [...filter.types])))
      .orderBy(desc(inArray(type, priorityTypes)), ord)
      .limit(filter.max),
  ]);
  const rebuilt = issued.flatMap(({ drained, ...facts }) => {
    const entry = filter.types.includes(issuanceType) ? rebuildIssuanceEntry(facts) : null;
    return entry === null ? [] : [{ id: entry.id, type: issuanceType, drained: drained === 1, committed: entry.committed }];
  });
  const opened = stored.map(async ({ payloadSealed: sealed, drained, ...row }) => ({
    ...row,
    drained: drained === 1,
    committed: await openPayload(vault, filter.chainTag, row.id, sealed),
  }));
  return [...rebuilt, ...(await Promise.all(opened))].slice(0, filter.max);
};

const parsePayload = (text: string): CommittedPayload => {
  const [salt, payload] = JSON.parse(text) as [string, CommittedPayload["payload"]];
  return { salt, payload };
};

const parseUnsealedPayload = (stored: string): CommittedPayload => parsePayload(stored.slice(unsealedPrefix.length));

/** Opens an entry's salt and payload. Returns null if they were erased. */
const openPayload = async (vault: Vault, chainTag: string, entry: string, stored: string | null): Promise<CommittedPayload | null> => {
  if (stored === null) return null;
  if (stored.startsWith(unsealedPrefix)) return parseUnsealedPayload(stored);
  return parsePayload(await vault.open(auditPayloadContext(entry, chainTag), stored));
};

interface RecordedChange {
  readonly change_ord: number;
  readonly change_id: string;
  readonly type: string;
  readonly entity_id: string;
  /** Null if the audit log does not store the payload. */
  readonly payload: string | null;
}

/**
 * Returns the salts and payloads of a chain's entries for these changes, by change ID. A value is null if it was erased. After a database
 * restore, the result omits lost changes whose payload is not stored in the audit log.
 */
export const listCommittedPayloads = (
  db: Database,
  vault: Vault,
  chainTag: string,
  recorded: readonly RecordedChange[],
): Lookup<ReadonlyMap<string, CommittedPayload | null>> => {
  const known = new Set(recorded.map(({ change_id }) => change_id));
  const carried = db
    .select({ id, payloadSealed })
    .from(auditEntries)
    .where(allOf(inArray(ord, jsonList(recorded.map(({ change_ord }) => change_ord))), eq(chain, chainTag)));
  const openRow = async (row: { readonly id: string; readonly payloadSealed: string | null }) =>
    [row.id, await openPayload(vault, chainTag, row.id, row.payloadSealed)] as const;
  const issued = recorded.flatMap((row) => (row.type === issuanceType ? [row.entity_id] : []));
  const issuances = db
    .select(issuanceFacts)
    .from(certificates)
    .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
    .where(inArray(certificates.id, jsonList(issued)));
  return createLookup(db, [carried, issuances], async ([rows, certificateRows]) => {
    const rebuilt = certificateRows
      .flatMap((row) => rebuildIssuanceEntry(row) ?? [])
      .map(({ id: changeId, committed }) => [changeId, committed] as const);
    const opened = await Promise.all(rows.filter((row) => known.has(row.id)).map(openRow));
    const kept = recorded.flatMap(({ change_id, payload }) =>
      payload === null ? [] : [[change_id, parseUnsealedPayload(payload)] as const],
    );
    return new Map<string, CommittedPayload | null>([...rebuilt.filter(([changeId]) => known.has(changeId)), ...opened, ...kept]);
  });
};
