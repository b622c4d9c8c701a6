// Reads anchors for the API: statements with the ledger's receipts.
import { desc, eq, sql, type SQL } from "drizzle-orm";
import type { PublishedAnchor } from "../core/certificates/published-certificate.ts";
import { unpackReceipt, type ReceiptBatch } from "../core/ledger/receipt-batch.ts";
import { formatAnchorStatement, hashStatement } from "../core/ledger/statement.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { jsonRow } from "./json-rows.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, query, withTablePrefix } from "./query.ts";
import { anchors, certificates, changes, receipts } from "./schema.ts";

const { ord, event, statement } = anchors;

const { ledgerId: receiptLedger, note, leaves, nodes, leafBodies, submittedAt, verifiedAt, anchoredAt } = receipts;
const batchFields = { ledgerId: receiptLedger, note, leaves, nodes, leafBodies, submittedAt, verifiedAt, anchoredAt };
const statementFields = { ord, event, ledgerId: anchors.ledgerId, statement };

type StoredStatement = { readonly ord: number } & Pick<PublishedAnchor, "event" | "ledgerId" | "statement">;
type StoredBatch = ReceiptBatch & { readonly anchoredAt: Instant };

const toPublishedAnchor = (row: StoredStatement, from: StoredBatch | null): PublishedAnchor => {
  const receipt = from === null ? null : unpackReceipt(from, row.ord, row.statement);
  return {
    event: row.event,
    ledgerId: row.ledgerId,
    statement: row.statement,
    entryHash: hashStatement(row.statement),
    status: receipt === null ? "pending" : "anchored",
    receipt,
    anchoredAt: receipt === null ? null : (from as StoredBatch).anchoredAt,
  };
};

const ofReceipt = eq(receipts.ord, anchors.receiptOrd);

/**
 * Selects the first statement in commit order that matches `condition`, as one value. Do not use it for issuances, because their statements
 * may have no row in `anchors`.
 */
export const firstAnchorField = (condition: SQL): SQL<PublishedAnchor | null> => {
  return jsonRow(
    { ...batchFields, ...statementFields },
    (row) => query.select({ row }).from(anchors).leftJoin(receipts, ofReceipt).where(condition).orderBy(ord).limit(1),
    (row) => toPublishedAnchor(row, row.note === null ? null : row),
  );
};

/** Lists the statements of one type about an entity, in commit order. */
export const listEntityAnchors = async (db: Database, entityId: string, type: string): Promise<readonly PublishedAnchor[]> => {
  const rows = await db
    .select({ anchor: statementFields, batch: batchFields })
    .from(anchors)
    .leftJoin(receipts, ofReceipt)
    .where(allOf(eq(anchors.entityId, entityId), eq(event, type)))
    .orderBy(ord);
  return rows.map((row) => toPublishedAnchor(row.anchor, row.batch));
};

/**
 * The fields that `toIssuanceAnchor` needs. The query must join `anchors` with `isStoredIssuance`, and `receipts` with `isIssuanceReceipt`.
 */
export const issuanceAnchorFields = {
  changeOrd: certificates.changeOrd,
  storedStatement: withTablePrefix(statementFields),
  receipts: withTablePrefix(batchFields),
  /** The ledger that will get the statement, or null if the change log no longer contains the issuance. */
  waitsFor: sql<string | null>`(select ${changes.ledgerId} from ${changes} where ${changes.ord} = ${certificates.changeOrd})`.as(
    "waits_for",
  ),
};

export const isStoredIssuance: SQL = eq(ord, certificates.changeOrd);
export const isIssuanceReceipt: SQL = sql`${receipts.ord} = case when ${ord} is null then (${query
  .select({ ord: sql`r.ord`.as("r_ord") })
  .from(sql`${receipts} r`)
  .where(sql`r.ord >= ${certificates.changeOrd} and r.first_ord <= ${certificates.changeOrd}`)
  .orderBy(sql`r.ord`)
  .limit(1)}) else ${anchors.receiptOrd} end`;

/** Builds the anchor of a certificate's issuance. Returns null if no ledger contains the statement or will get it. */
export const toIssuanceAnchor = (
  certificate: { readonly id: string; readonly fingerprint: string; readonly originDomain: string; readonly issuedAt: Instant },
  row: {
    readonly changeOrd: number;
    readonly storedStatement: StoredStatement | null;
    readonly receipts: StoredBatch | null;
    readonly waitsFor: string | null;
  },
): PublishedAnchor | null => {
  const { id, fingerprint, originDomain, issuedAt } = certificate;
  const ledgerId = row.storedStatement?.ledgerId ?? row.receipts?.ledgerId ?? row.waitsFor;
  if (ledgerId === null) return null;
  const type = "certificate.issued";
  const text =
    row.storedStatement?.statement ?? formatAnchorStatement({ event: type, entityId: id, fingerprint, originDomain, at: issuedAt });
  return toPublishedAnchor({ ord: row.changeOrd, event: type, ledgerId, statement: text }, row.receipts);
};

/** Looks up a log's newest checkpoint with a receipt from the ledger. Returns null if there is none. */
export const findNewestCheckpointAnchor = (db: Database, ledgerId: string, origin: string): Lookup<PublishedAnchor | null> => {
  const newest = db
    .select({ anchor: withTablePrefix(statementFields), batch: withTablePrefix(batchFields) })
    .from(anchors)
    .innerJoin(receipts, ofReceipt)
    .where(allOf(eq(anchors.entityId, origin), eq(anchors.ledgerId, ledgerId), eq(anchors.kind, "checkpoint")))
    .orderBy(desc(ord))
    .limit(1);
  return createLookup(db, [newest], ([[row]]) => (row === undefined ? null : toPublishedAnchor(row.anchor, row.batch)));
};
