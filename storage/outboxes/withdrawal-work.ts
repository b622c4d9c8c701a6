// Withdrawals of all of a person's certificates that do not fit into one batch. A row stays until the last certificate is withdrawn. A
// worker takes the row for one minute at a time, so if the worker dies, another one continues.
import { eq } from "drizzle-orm";
import type { CertId } from "../../core/ids.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { WithdrawalMethod } from "../../core/withdrawals/withdrawal.ts";
import type { Database } from "../database.ts";
import { withdrawalWork } from "../schema.ts";
import { claimDueRows } from "./claim.ts";
import type { AddressWithdrawalScope } from "../withdrawals.ts";

const leaseMs = minuteMs; // longer than one batch takes

export interface WithdrawalWork extends AddressWithdrawalScope {
  /** The certificate that was withdrawn first. */
  readonly certId: CertId;
  readonly method: WithdrawalMethod;
  /** The API key that the business used to record the withdrawal; null when the person withdrew. */
  readonly apiKeyId: string | null;
  /** Whether this work must still be added to the business's other shards. */
  readonly forAllShards: boolean;
}

/**
 * Returns the statement that saves the remaining work, for the first withdrawal's batch. The work is due immediately. The statement does
 * nothing if the shard already has the work.
 */
export const insertWithdrawalWork = (db: Database, { issuedUntil, ...work }: WithdrawalWork) =>
  db
    .insert(withdrawalWork)
    .values({ ...work, withdrawnAt: issuedUntil, nextAt: issuedUntil })
    .onConflictDoNothing();

/** Records that the business's other shards have the work. */
export const markWorkSpread = (db: Database, certId: CertId) =>
  db.update(withdrawalWork).set({ forAllShards: false }).where(eq(withdrawalWork.certId, certId));

/** Takes the most overdue work. Returns null if no work is due. */
export const claimWithdrawalWork = async (db: Database, now: Instant): Promise<WithdrawalWork | null> => {
  const [work] = await claimDueRows(db, withdrawalWork, { now, leaseMs, max: 1 });
  if (work === undefined) return null;
  const { withdrawnAt, ...rest } = work;
  return { ...rest, issuedUntil: withdrawnAt };
};

/** Deletes completed work. */
export const finishWithdrawalWork = (db: Database, certId: CertId) => db.delete(withdrawalWork).where(eq(withdrawalWork.certId, certId));

/** Makes the remaining work due immediately. */
export const continueWithdrawalWork = (db: Database, certId: CertId, now: Instant) =>
  db.update(withdrawalWork).set({ nextAt: now }).where(eq(withdrawalWork.certId, certId));
