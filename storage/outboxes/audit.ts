// Entries on their way into the audit chains, written with the change they tell of; and what those committed to that are there: the rows
// that carried them stay.
import { desc, eq, gt, inArray, isNull, sql, type Column, type SQL } from "drizzle-orm";
import { auditPayloadHash } from "../../core/audit/payload.ts";
import type { CommittedPayload, WaitingEntry } from "../../core/audit/trail.ts";
import { base64UrlOf } from "../../core/bytes.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { FactType } from "../../core/facts.ts";
import type { Instant } from "../../core/time.ts";
import { onPrimary, type Database } from "../database.ts";
import { lookup, type Lookup } from "../lookups.ts";
import { allOf, existsIn, listed } from "../query.ts";
import { auditOutbox, businesses, shares } from "../schema.ts";
import { contextIn, type Vault } from "../vault.ts";

const { ord, id, chain, type, entityType, entityId, at, payloadHash, payloadSealed, drainedAt } = auditOutbox;

/** What an entry is written with. */
export const entryColumns = ["id", "shard", "chain", "type", "entityType", "entityId", "at", "payloadHash", "payloadSealed"] as const;

/** Oldest first, from behind `afterOrd` on; read from the primary, so that what was just committed is seen. */
export const undrainedRows = (db: Database, shard: number, afterOrd: number, max: number) =>
  onPrimary(db)
    .select({ ord, id, chain, type, entityType, entityId, at, payloadHash })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.shard, shard), isNull(drainedAt), gt(ord, afterOrd)))
    .orderBy(ord)
    .limit(max)
    .all();

/** Which of these shards have rows to drain here: one look at the index for each, however many rows wait. */
export const shardsToDrain = async (db: Database, shards: readonly number[]): Promise<readonly number[]> => {
  const rows = await onPrimary(db)
    .select({ shard: sql<number>`j.value` })
    .from(sql`json_each(${JSON.stringify(shards)}) j`)
    .where(existsIn(auditOutbox, sql`${auditOutbox.shard} = j.value`, isNull(drainedAt)));
  return rows.map(({ shard }) => shard);
};

/** Marks rows that their chains hold. The first mark stays. */
export const markDrained = (db: Database, ords: readonly number[], now: Instant) =>
  db
    .update(auditOutbox)
    .set({ drainedAt: now })
    .where(allOf(isNull(drainedAt), inArray(ord, listed(ords))));

/** Where the salt and the payload of an entry are sealed; it belongs to its chain. */
export const payloadContext = contextIn("audit_outbox", "payload");

/** Marks a payload that is not sealed; no version of a master key is spelt so. */
const openMark = "0.";

/** The facts whose entries a statement writes without knowing their chain, which a seal would have to name; and no other fact. */
export const openFacts = [
  "share.redeemed",
  "consumer.current_read",
  "share.expiring",
  "share.expired",
] as const satisfies readonly FactType[];

export type OpenFact = (typeof openFacts)[number];

/** A payload of constant words, times and ids of ours, kept as it is; what of a person must not lie in the open goes into no such entry. */
export const openEntry = (payload: { readonly [key: string]: string }) => {
  const salt = base64UrlOf(crypto.getRandomValues(new Uint8Array(16)));
  return { hash: auditPayloadHash(salt, payload), text: `${openMark}${canonicalJson([salt, payload])}` };
};

interface OpenPayload {
  readonly hash: string | SQL;
  readonly text: string | SQL;
}

/** Of each share that is found, an entry in its business's chain, and one in its person's where that is somebody with an account. */
export const insertShareEntries = (
  db: Database,
  entries: {
    /** Holds the table of shares. */
    readonly from: SQL;
    readonly where: SQL;
    readonly id: string | SQL;
    readonly type: OpenFact | SQL;
    readonly at: Instant;
    readonly business: OpenPayload;
    readonly person: OpenPayload;
    readonly toldToPersonIf?: SQL;
  },
) => {
  const { from, where, id: entryId, type: fact, at: now, business, person, toldToPersonIf = sql`true` } = entries;
  const row = (shard: Column, chainTag: Column, { hash, text }: OpenPayload, source: SQL) =>
    sql`select ${entryId}, ${shard}, ${chainTag}, ${fact}, 'share', ${shares.id}, ${now}, ${hash}, ${text} from ${source} where (${where})`;
  const withBusiness = sql`${from} inner join ${businesses} on ${businesses.id} = ${shares.businessId}`;
  const ofBusiness = row(businesses.auditShard, businesses.auditChain, business, withBusiness);
  const ofPerson = row(shares.consumerShard, shares.consumerChain, person, from);
  return db
    .insert(auditOutbox, ...entryColumns)
    .select(sql`${ofBusiness} union all ${ofPerson} and ${shares.consumerChain} is not null and ${toldToPersonIf}`);
};

/** Rows of a chain that its log has not taken yet, oldest first. */
export const waitingEntries = (
  db: Database,
  asked: { readonly shard: number; readonly chainTag: string; readonly max: number },
): Lookup<readonly WaitingEntry[]> => {
  const waiting = db
    .select({ type, entityType, entityId, at })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.shard, asked.shard), isNull(drainedAt), eq(chain, asked.chainTag)))
    .orderBy(ord)
    .limit(asked.max);
  return lookup(db, [waiting], ([rows]) => rows);
};

/** Whether anything was entered about a record; read where it is written, so that a commit whose answer was lost is seen. */
export const isEntered = async (db: Database, recordId: string): Promise<boolean> =>
  (await onPrimary(db).select({ ord }).from(auditOutbox).where(eq(entityId, recordId)).limit(1).all()).length > 0;

const deciding: FactType[] = ["certificate.issued", "certificate.revoked", "certificate.entities_withdrawn"];

/** What happened to a certificate, as far as it is of these types: issuance and withdrawals first, whatever else there is; then oldest first. */
export const certificateEntries = async (
  db: Database,
  vault: Vault,
  asked: { readonly certId: string; readonly chainTag: string; readonly types: readonly FactType[]; readonly max: number },
) => {
  const rows = await db
    .select({ id, type, payloadSealed, drained: sql`${drainedAt} is not null`.mapWith(Boolean) })
    .from(auditOutbox)
    .where(allOf(eq(entityId, asked.certId), eq(chain, asked.chainTag), inArray(type, [...asked.types])))
    .orderBy(desc(inArray(type, deciding)), ord)
    .limit(asked.max);
  return Promise.all(
    rows.map(async ({ payloadSealed: stored, ...row }) => ({
      ...row,
      committed: await openedPayload(vault, asked.chainTag, row.id, stored),
    })),
  );
};

/** The salt and the payload of an entry, of either form; null once erased. */
const openedPayload = async (vault: Vault, chainTag: string, entry: string, stored: string | null): Promise<CommittedPayload | null> => {
  if (stored === null) return null;
  const isOpen = stored.startsWith(openMark);
  const text = isOpen ? stored.slice(openMark.length) : await vault.open(payloadContext(entry, chainTag), stored);
  const [salt, payload] = JSON.parse(text) as [string, CommittedPayload["payload"]];
  return { salt, payload };
};

/** What these rows of a chain committed to, by row; null once erased. */
export const committedPayloads = (
  db: Database,
  vault: Vault,
  chainTag: string,
  ids: readonly string[],
): Lookup<ReadonlyMap<string, CommittedPayload | null>> => {
  const carried = db
    .select({ id, payloadSealed })
    .from(auditOutbox)
    .where(allOf(eq(chain, chainTag), inArray(id, listed(ids))));
  return lookup(
    db,
    [carried],
    async ([rows]) =>
      new Map(
        await Promise.all(rows.map(async (row) => [row.id, await openedPayload(vault, chainTag, row.id, row.payloadSealed)] as const)),
      ),
  );
};
