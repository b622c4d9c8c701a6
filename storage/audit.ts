// The audit outbox of a home: entries written with the change they tell of, on their way into the audit chains.
import { eq, gt, inArray, isNull, notInArray } from "drizzle-orm";
import type { CommittedPayload, WaitingEntry } from "../core/audit/trail.ts";
import type { FactType } from "../core/facts.ts";
import type { Instant } from "../core/time.ts";
import { onPrimary, type Database } from "./database.ts";
import { auditOutbox } from "./schema.ts";
import { allOf, listed } from "./sql.ts";
import type { SealedPlace, Vault } from "./vault.ts";

export interface UndrainedRow {
  readonly ord: number;
  readonly id: string;
  readonly chain: string;
  readonly type: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly at: Instant;
  readonly payloadHash: string;
}

const { ord, id, chain, type, entityType, entityId, at, payloadHash, payloadSealed, drainedAt } = auditOutbox;

/** Oldest first, from behind `afterOrd` on; read from the primary, so that what was just committed is seen. */
export const undrainedRows = (db: Database, shard: number, afterOrd: number, most: number): Promise<UndrainedRow[]> =>
  onPrimary(db)
    .select({ ord, id, chain, type, entityType, entityId, at, payloadHash })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.shard, shard), isNull(drainedAt), gt(ord, afterOrd)))
    .orderBy(ord)
    .limit(most)
    .all();

/** Marks rows that their chains hold. The first mark stays. */
export const markDrained = (db: Database, ords: readonly number[], now: Instant) =>
  db
    .update(auditOutbox)
    .set({ drainedAt: now })
    .where(allOf(isNull(drainedAt), inArray(ord, listed(ords))));

/** Where the salt and the payload of an entry are sealed. */
export const payloadPlace = (id: string, chainTag: string): SealedPlace => ({
  table: "audit_outbox",
  record: id,
  field: "payload",
  owner: chainTag,
});

/** What was committed to by an entry of a certificate. */
export interface CommittedEntry {
  readonly id: string;
  readonly drained: boolean;
  /** Null once erased. */
  readonly committed: CommittedPayload | null;
}

const looks: FactType[] = ["certificate.subject_read", "evidence_pack.exported"];

/**
 * What happened to a certificate, oldest first. Who only looked at it is left out: that is the business's own record, and every
 * look would make the evidence another one.
 */
export const certificateEntries = async (
  db: Database,
  vault: Vault,
  asked: { readonly certId: string; readonly chainTag: string; readonly most: number },
): Promise<CommittedEntry[]> => {
  const rows = await db
    .select({ id, payloadSealed, drainedAt })
    .from(auditOutbox)
    .where(allOf(eq(entityId, asked.certId), eq(chain, asked.chainTag), notInArray(type, looks)))
    .orderBy(ord)
    .limit(asked.most);
  return Promise.all(
    rows.map(async (row) => ({
      id: row.id,
      drained: row.drainedAt !== null,
      committed: await openedPayload(vault, asked.chainTag, row.id, row.payloadSealed),
    })),
  );
};

const openedPayload = async (vault: Vault, chainTag: string, id: string, sealed: string | null): Promise<CommittedPayload | null> => {
  if (sealed === null) return null;
  const [salt, payload] = JSON.parse(await vault.open(payloadPlace(id, chainTag), sealed)) as [string, CommittedPayload["payload"]];
  return { salt, payload };
};

/** What these rows of a chain committed to, by row; null once erased. */
export const committedPayloads = async (
  db: Database,
  vault: Vault,
  chainTag: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CommittedPayload | null>> => {
  const rows = await db
    .select({ id, payloadSealed })
    .from(auditOutbox)
    .where(allOf(eq(chain, chainTag), inArray(id, listed(ids))));
  return new Map(
    await Promise.all(rows.map(async (row) => [row.id, await openedPayload(vault, chainTag, row.id, row.payloadSealed)] as const)),
  );
};

/** Rows of a chain that its log has not taken yet, oldest first. */
export const waitingEntries = (
  db: Database,
  asked: { readonly shard: number; readonly chainTag: string; readonly most: number },
): Promise<WaitingEntry[]> =>
  db
    .select({ type, entityType, entityId, at })
    .from(auditOutbox)
    .where(allOf(eq(auditOutbox.shard, asked.shard), isNull(drainedAt), eq(chain, asked.chainTag)))
    .orderBy(ord)
    .limit(asked.most);
