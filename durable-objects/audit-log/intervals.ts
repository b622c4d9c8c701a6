// Closes a 15-minute interval: records the newest entry of every chain, and signs a checkpoint that covers this record.
import { toHex } from "../../core/bytes.ts";
import type { CheckpointSubject } from "../../core/ledger/statement.ts";
import { findCheckpoint, findFreezeReason } from "../transparency-log/tables.ts";
import type { ProofPorts } from "./proofs.ts";
import * as tables from "./tables.ts";
import type { ClosedInterval } from "./tables.ts";

/** The checkpoint of an interval, with the data for the ledger statement about it. */
export interface IntervalCheckpoint extends Omit<CheckpointSubject, "at"> {
  readonly interval: number;
  readonly at: string;
}

/** Implements `AuditLog.checkpoint`. */
export const checkpointInterval = async (
  { storage, openKeys, getSignedCheckpoint }: ProofPorts,
  interval: number,
  nowIso: string,
): Promise<IntervalCheckpoint | null> => {
  if (findFreezeReason(storage.sql) !== null) return null;
  const { origin } = await openKeys();
  const close = (): ClosedInterval => storage.transactionSync(() => tables.closeInterval(storage.sql, interval, nowIso));
  let closed = close();
  if (closed.checkpointSize === null) {
    const newest = await getSignedCheckpoint(closed.size);
    if (newest === null) return null;
    tables.saveIntervalCheckpoint(storage.sql, interval, newest.size);
    closed = close(); // reads the saved size, because a concurrent call may have saved another checkpoint first
  }
  const signed = findCheckpoint(storage.sql, closed.checkpointSize ?? -1);
  if (signed === null) throw new Error("the checkpoint of the interval is missing");
  return {
    origin,
    interval,
    at: closed.at,
    size: String(signed.size),
    root: toHex(signed.root),
    note: signed.note,
    headsRoot: closed.headsRoot,
    headsSize: String(closed.headsSize),
  };
};
