// Lists a database's ledger statements and their state. A statement about an issuance usually has no row in `anchors`. Until the ledger has
// such a statement, it is stored with its change. After that, it is stored in a batch of receipts.
import { env } from "cloudflare:workers";
import { listLeaves } from "../../core/ledger/receipt-batch.ts";
import type { Instant } from "../../core/time.ts";
import { statementsSql } from "./statements-sql.ts";

export interface StatementRow {
  readonly ord: number;
  readonly entity_id: string;
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_at: Instant;
  readonly last_error: string | null;
  /** `<origin>#<leaf index>`; null while the ledger does not have the statement. */
  readonly tx_ref: string | null;
}

/** Lists all statements in commit order. */
export const listStatements = async (db: D1Database = env.DB): Promise<StatementRow[]> => {
  const [statements, batches] = await db.batch<Record<string, string & number>>([
    db.prepare(`SELECT * FROM ${statementsSql} ORDER BY ord`),
    db.prepare("SELECT ord, ledger_id, leaves FROM receipts"),
  ]);
  const indexes = new Map<string, string>(
    (batches?.results ?? []).flatMap(({ ord, ledger_id, leaves }) => {
      const origin = String(ledger_id).slice(String(ledger_id).indexOf(":") + 1);
      return listLeaves({ leaves: String(leaves) }).map((leaf) => [`${ord} ${leaf.ord}`, `${origin}#${leaf.index}`] as const);
    }),
  );
  return (statements?.results ?? []).map(
    (row) => ({ ...row, tx_ref: indexes.get(`${row.receipt_ord} ${row.ord}`) ?? null }) as unknown as StatementRow,
  );
};

/** Deletes all statements and all of the ledger's pending work, but keeps the records that the statements are about. */
export const deleteStatements = async (db: D1Database = env.DB): Promise<void> => {
  await db.batch([
    db.prepare("DELETE FROM anchors"),
    db.prepare("DELETE FROM receipts"),
    db.prepare("UPDATE changes SET ledger_id = NULL, statement = NULL"),
    db.prepare("DELETE FROM ledger_state"),
  ]);
};
