// The audit outbox: entries waiting to be added to the audit chains. They are written in the same batch as the change. The rows are kept
// afterward, because they contain the payloads that the chains commit to.
import { desc, eq, gt, inArray, isNull, sql, type Column, type SQL } from "drizzle-orm";
import { hashAuditPayload } from "../../core/audit/payload.ts";
import type { CommittedPayload, PendingEntry } from "../../core/audit/trail.ts";
import { toBase64Url } from "../../core/bytes.ts";
import { toCanonicalJson } from "../../core/canonical-json.ts";
import type { DomainEventType } from "../../core/domain-events.ts";
import type { Instant } from "../../core/time.ts";
import { onPrimary, type Database } from "../database.ts";
import { createLookup, type Lookup } from "../lookups.ts";
import { allOf, existsIn, jsonList } from "../query.ts";
import { auditOutbox, businesses, shares } from "../schema.ts";
import { columnContext, type Vault } from "../vault.ts";

const { ord, id, chain, type, entityType, entityId, at, payloadHash, payloadSealed, drainedAt } = auditOutbox;

/** The columns of a new entry. */
export const auditEntryColumns = [
  "id",
  "auditLog",
  "chain",
  "type",
  "entityType",
  "entityId",
  "at",
  "payloadHash",
  "payloadSealed",
] as const;

/**
 * Lists rows after `afterOrd` that no audit log has recorded yet, oldest first. Reads from the primary, to see rows that were just
 * committed.
 */
export const listUndrainedRows = (db: Database, auditLogNumber: number, afterOrd: number, max: number) =>
  onPrimary(db)
    .select({ ord, id, chain, type, entityType, entityId, at, payloadHash })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.auditLog, auditLogNumber), isNull(drainedAt), gt(ord, afterOrd)))
    .orderBy(ord)
    .limit(max)
    .all();

/**
 * Returns which of these audit logs have undrained rows in this shard. Takes one index lookup per log, regardless of the number of waiting
 * rows.
 */
export const listUndrainedLogs = async (db: Database, logs: readonly number[]): Promise<readonly number[]> => {
  const rows = await onPrimary(db)
    .select({ auditLog: sql<number>`j.value` })
    .from(sql`json_each(${JSON.stringify(logs)}) j`)
    .where(existsIn(auditOutbox, sql`${auditOutbox.auditLog} = j.value`, isNull(drainedAt)));
  return rows.map(({ auditLog }) => auditLog);
};

/** Marks rows as recorded in their chains. The first mark is kept. */
export const markDrained = (db: Database, ords: readonly number[], now: Instant) =>
  db
    .update(auditOutbox)
    .set({ drainedAt: now })
    .where(allOf(isNull(drainedAt), inArray(ord, jsonList(ords))));

/** Encryption context of an entry's salt and payload. Their owner is the chain. */
export const auditPayloadContext = columnContext("audit_outbox", "payload");

/** Prefix of an unsealed payload. No master key version starts with it. */
const unsealedPrefix = "0.";

/** Event types whose entries are stored unsealed, because their statements do not know the chain, which sealing requires. */
export const unsealedEventTypes = [
  "share.redeemed",
  "consumer.current_read",
  "share.expiring",
  "share.expired",
] as const satisfies readonly DomainEventType[];

export type UnsealedEventType = (typeof unsealedEventTypes)[number];

/**
 * Creates a payload that is stored as plain text, with its hash. Use it only for constant words, times and our own IDs, never for personal
 * data.
 */
export const createUnsealedPayload = (payload: { readonly [key: string]: string }) => {
  const salt = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
  return { hash: hashAuditPayload(salt, payload), text: `${unsealedPrefix}${toCanonicalJson([salt, payload])}` };
};

interface UnsealedPayload {
  readonly hash: string | SQL;
  readonly text: string | SQL;
}

/**
 * For each selected share, inserts an entry in the business's chain, and one in the person's chain if the person has an account and
 * `personEntryIf` is true.
 */
export const insertShareAuditEntries = (
  db: Database,
  entries: {
    /** The tables to read from; must include `shares`. */
    readonly from: SQL;
    readonly where: SQL;
    readonly id: string | SQL;
    readonly type: UnsealedEventType | SQL;
    readonly at: Instant;
    readonly business: UnsealedPayload;
    readonly person: UnsealedPayload;
    readonly personEntryIf?: SQL;
  },
) => {
  const { from, where, id: entryId, type: eventType, at: now, business, person, personEntryIf = sql`true` } = entries;
  const row = (auditLog: Column, chainTag: Column, { hash, text }: UnsealedPayload, source: SQL) =>
    sql`select ${entryId}, ${auditLog}, ${chainTag}, ${eventType}, 'share', ${shares.id}, ${now}, ${hash}, ${text} from ${source} where (${where})`;
  const withBusiness = sql`${from} inner join ${businesses} on ${businesses.id} = ${shares.businessId}`;
  const ofBusiness = row(businesses.auditLog, businesses.auditChain, business, withBusiness);
  const ofPerson = row(shares.consumerAuditLog, shares.consumerChain, person, from);
  return db
    .insert(auditOutbox, ...auditEntryColumns)
    .select(sql`${ofBusiness} union all ${ofPerson} and ${shares.consumerChain} is not null and ${personEntryIf}`);
};

/** Lists a chain's entries that the audit log has not recorded yet, oldest first. */
export const listWaitingEntries = (
  db: Database,
  filter: { readonly auditLog: number; readonly chainTag: string; readonly max: number },
): Lookup<readonly PendingEntry[]> => {
  const waiting = db
    .select({ type, entityType, entityId, at })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.auditLog, filter.auditLog), isNull(drainedAt), eq(chain, filter.chainTag)))
    .orderBy(ord)
    .limit(filter.max);
  return createLookup(db, [waiting], ([rows]) => rows);
};

/** Returns whether a record has any audit entry. Reads from the primary, to see a commit whose response was lost. */
export const hasAuditEntry = async (db: Database, recordId: string): Promise<boolean> =>
  (await onPrimary(db).select({ ord }).from(auditOutbox).where(eq(entityId, recordId)).limit(1).all()).length > 0;

const priorityTypes: DomainEventType[] = ["certificate.issued", "certificate.revoked", "certificate.entities_withdrawn"];

/** Lists a certificate's audit entries of these types, up to `max`: issuance and withdrawals first, then the others, oldest first. */
export const listCertificateEntries = async (
  db: Database,
  vault: Vault,
  filter: { readonly certId: string; readonly chainTag: string; readonly types: readonly DomainEventType[]; readonly max: number },
) => {
  const rows = await db
    .select({ id, type, payloadSealed, drained: sql`${drainedAt} is not null`.mapWith(Boolean) })
    .from(auditOutbox)
    .where(allOf(eq(entityId, filter.certId), eq(chain, filter.chainTag), inArray(type, [...filter.types])))
    .orderBy(desc(inArray(type, priorityTypes)), ord)
    .limit(filter.max);
  return Promise.all(
    rows.map(async ({ payloadSealed: stored, ...row }) => ({
      ...row,
      committed: await openPayload(vault, filter.chainTag, row.id, stored),
    })),
  );
};

/** Opens an entry's salt and payload, whether sealed or plain. Returns null after an erasure. */
const openPayload = async (vault: Vault, chainTag: string, entry: string, stored: string | null): Promise<CommittedPayload | null> => {
  if (stored === null) return null;
  const isOpen = stored.startsWith(unsealedPrefix);
  const text = isOpen ? stored.slice(unsealedPrefix.length) : await vault.open(auditPayloadContext(entry, chainTag), stored);
  const [salt, payload] = JSON.parse(text) as [string, CommittedPayload["payload"]];
  return { salt, payload };
};

/** Returns the salts and payloads of these rows of a chain, keyed by row ID. A value is null after an erasure. */
export const listCommittedPayloads = (
  db: Database,
  vault: Vault,
  chainTag: string,
  ids: readonly string[],
): Lookup<ReadonlyMap<string, CommittedPayload | null>> => {
  const carried = db
    .select({ id, payloadSealed })
    .from(auditOutbox)
    .where(allOf(eq(chain, chainTag), inArray(id, jsonList(ids))));
  return createLookup(
    db,
    [carried],
    async ([rows]) =>
      new Map(await Promise.all(rows.map(async (row) => [row.id, await openPayload(vault, chainTag, row.id, row.payloadSealed)] as const))),
  );
};
