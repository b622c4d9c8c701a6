// Entries on their way into the audit chains, written with the change they tell of; and what those committed to that are there: the rows
// that carried them stay.
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

/** What an entry is written with. */
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

/** Oldest first, from behind `afterOrd` on; read from the primary, so that what was just committed is seen. */
export const listUndrainedRows = (db: Database, shard: number, afterOrd: number, max: number) =>
  onPrimary(db)
    .select({ ord, id, chain, type, entityType, entityId, at, payloadHash })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.auditLog, shard), isNull(drainedAt), gt(ord, afterOrd)))
    .orderBy(ord)
    .limit(max)
    .all();

/** Which of these shards have rows to drain here: one look at the index for each, however many rows wait. */
export const listUndrainedLogs = async (db: Database, shards: readonly number[]): Promise<readonly number[]> => {
  const rows = await onPrimary(db)
    .select({ shard: sql<number>`j.value` })
    .from(sql`json_each(${JSON.stringify(shards)}) j`)
    .where(existsIn(auditOutbox, sql`${auditOutbox.auditLog} = j.value`, isNull(drainedAt)));
  return rows.map(({ shard }) => shard);
};

/** Marks rows that their chains hold. The first mark stays. */
export const markDrained = (db: Database, ords: readonly number[], now: Instant) =>
  db
    .update(auditOutbox)
    .set({ drainedAt: now })
    .where(allOf(isNull(drainedAt), inArray(ord, jsonList(ords))));

/** Where the salt and the payload of an entry are sealed; it belongs to its chain. */
export const auditPayloadContext = columnContext("audit_outbox", "payload");

/** Marks a payload that is not sealed; no version of a master key is spelt so. */
const unsealedPrefix = "0.";

/** The facts whose entries a statement writes without knowing their chain, which a seal would have to name; and no other fact. */
export const unsealedEventTypes = [
  "share.redeemed",
  "consumer.current_read",
  "share.expiring",
  "share.expired",
] as const satisfies readonly DomainEventType[];

export type UnsealedEventType = (typeof unsealedEventTypes)[number];

/** A payload of constant words, times and ids of ours, kept as it is; what of a person must not lie in the open goes into no such entry. */
export const createUnsealedPayload = (payload: { readonly [key: string]: string }) => {
  const salt = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
  return { hash: hashAuditPayload(salt, payload), text: `${unsealedPrefix}${toCanonicalJson([salt, payload])}` };
};

interface UnsealedPayload {
  readonly hash: string | SQL;
  readonly text: string | SQL;
}

/** Of each share that is found, an entry in its business's chain, and one in its person's where that is somebody with an account. */
export const insertShareAuditEntries = (
  db: Database,
  entries: {
    /** Holds the table of shares. */
    readonly from: SQL;
    readonly where: SQL;
    readonly id: string | SQL;
    readonly type: UnsealedEventType | SQL;
    readonly at: Instant;
    readonly business: UnsealedPayload;
    readonly person: UnsealedPayload;
    readonly toldToPersonIf?: SQL;
  },
) => {
  const { from, where, id: entryId, type: fact, at: now, business, person, toldToPersonIf = sql`true` } = entries;
  const row = (shard: Column, chainTag: Column, { hash, text }: UnsealedPayload, source: SQL) =>
    sql`select ${entryId}, ${shard}, ${chainTag}, ${fact}, 'share', ${shares.id}, ${now}, ${hash}, ${text} from ${source} where (${where})`;
  const withBusiness = sql`${from} inner join ${businesses} on ${businesses.id} = ${shares.businessId}`;
  const ofBusiness = row(businesses.auditLog, businesses.auditChain, business, withBusiness);
  const ofPerson = row(shares.consumerAuditLog, shares.consumerChain, person, from);
  return db
    .insert(auditOutbox, ...auditEntryColumns)
    .select(sql`${ofBusiness} union all ${ofPerson} and ${shares.consumerChain} is not null and ${toldToPersonIf}`);
};

/** Rows of a chain that its log has not taken yet, oldest first. */
export const listWaitingEntries = (
  db: Database,
  asked: { readonly shard: number; readonly chainTag: string; readonly max: number },
): Lookup<readonly PendingEntry[]> => {
  const waiting = db
    .select({ type, entityType, entityId, at })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.auditLog, asked.shard), isNull(drainedAt), eq(chain, asked.chainTag)))
    .orderBy(ord)
    .limit(asked.max);
  return createLookup(db, [waiting], ([rows]) => rows);
};

/** Whether anything was entered about a record; read where it is written, so that a commit whose answer was lost is seen. */
export const hasAuditEntry = async (db: Database, recordId: string): Promise<boolean> =>
  (await onPrimary(db).select({ ord }).from(auditOutbox).where(eq(entityId, recordId)).limit(1).all()).length > 0;

const priorityTypes: DomainEventType[] = ["certificate.issued", "certificate.revoked", "certificate.entities_withdrawn"];

/** What happened to a certificate, as far as it is of these types: issuance and withdrawals first, whatever else there is; then oldest first. */
export const listCertificateEntries = async (
  db: Database,
  vault: Vault,
  asked: { readonly certId: string; readonly chainTag: string; readonly types: readonly DomainEventType[]; readonly max: number },
) => {
  const rows = await db
    .select({ id, type, payloadSealed, drained: sql`${drainedAt} is not null`.mapWith(Boolean) })
    .from(auditOutbox)
    .where(allOf(eq(entityId, asked.certId), eq(chain, asked.chainTag), inArray(type, [...asked.types])))
    .orderBy(desc(inArray(type, priorityTypes)), ord)
    .limit(asked.max);
  return Promise.all(
    rows.map(async ({ payloadSealed: stored, ...row }) => ({
      ...row,
      committed: await openPayload(vault, asked.chainTag, row.id, stored),
    })),
  );
};

/** The salt and the payload of an entry, of either form; null once erased. */
const openPayload = async (vault: Vault, chainTag: string, entry: string, stored: string | null): Promise<CommittedPayload | null> => {
  if (stored === null) return null;
  const isOpen = stored.startsWith(unsealedPrefix);
  const text = isOpen ? stored.slice(unsealedPrefix.length) : await vault.open(auditPayloadContext(entry, chainTag), stored);
  const [salt, payload] = JSON.parse(text) as [string, CommittedPayload["payload"]];
  return { salt, payload };
};

/** What these rows of a chain committed to, by row; null once erased. */
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
