// The witness's table: the newest checkpoint that the witness has cosigned for each log.
import type { Checkpoint } from "../../core/ledger/checkpoint.ts";
import { computeEmptyRoot, type TreeHead } from "../../core/ledger/merkle.ts";

/** Returns the tree that the witness last cosigned for the log, or the empty tree if there is none. */
export const getWitnessedHead = (sql: SqlStorage, origin: string): TreeHead => {
  const [row] = sql.exec<{ size: string; root: ArrayBuffer }>("SELECT size, root FROM witnessed WHERE origin = ?", origin).toArray();
  return row === undefined ? { size: 0n, root: computeEmptyRoot() } : { size: BigInt(row.size), root: new Uint8Array(row.root) };
};

export const saveWitnessedHead = (sql: SqlStorage, { origin, size, root }: Checkpoint, note: string): void => {
  sql.exec(
    `INSERT INTO witnessed (origin, size, root, note) VALUES (?, ?, ?, ?)
     ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note`,
    origin,
    size.toString(),
    root,
    note,
  );
};
