// What the entries of the audit chains committed to: read from the rows that carried them there, which stay.
import { desc, eq, inArray } from "drizzle-orm";
import type { CommittedPayload } from "../core/audit/trail.ts";
import type { FactType } from "../core/facts.ts";
import { onPrimary, type Database } from "./database.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { entryText } from "./outboxes/audit.ts";
import { allOf, listed } from "./query.ts";
import { auditOutbox } from "./schema.ts";
import type { Vault } from "./vault.ts";

const { ord, id, chain, type, entityId, payloadSealed, drainedAt } = auditOutbox;

/** What was committed to by an entry of a certificate. */
export interface CommittedEntry {
  readonly id: string;
  readonly type: FactType;
  readonly drained: boolean;
  /** Null once erased. */
  readonly committed: CommittedPayload | null;
}

/** Whether anything was entered about a record; read where it is written, so that a commit whose answer was lost is seen. */
export const isEntered = async (db: Database, recordId: string): Promise<boolean> =>
  (await onPrimary(db).select({ ord }).from(auditOutbox).where(eq(entityId, recordId)).limit(1).all()).length > 0;

const deciding: FactType[] = ["certificate.issued", "certificate.revoked", "certificate.entities_withdrawn"];

/** What happened to a certificate, as far as it is of these types: issuance and withdrawals first, whatever else there is; then oldest first. */
export const certificateEntries = async (
  db: Database,
  vault: Vault,
  asked: { readonly certId: string; readonly chainTag: string; readonly types: readonly FactType[]; readonly max: number },
): Promise<CommittedEntry[]> => {
  const rows = await db
    .select({ id, type, payloadSealed, drainedAt })
    .from(auditOutbox)
    .where(allOf(eq(entityId, asked.certId), eq(chain, asked.chainTag), inArray(type, [...asked.types])))
    .orderBy(desc(inArray(type, deciding)), ord)
    .limit(asked.max);
  return Promise.all(
    rows.map(async (row) => ({
      id: row.id,
      type: row.type,
      drained: row.drainedAt !== null,
      committed: await openedPayload(vault, asked.chainTag, row.id, row.payloadSealed),
    })),
  );
};

const openedPayload = async (vault: Vault, chainTag: string, id: string, sealed: string | null): Promise<CommittedPayload | null> => {
  if (sealed === null) return null;
  const [salt, payload] = JSON.parse(await entryText(vault, chainTag, id, sealed)) as [string, CommittedPayload["payload"]];
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
