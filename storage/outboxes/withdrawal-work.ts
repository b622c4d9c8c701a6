// The remaining work of a withdrawal that covers all of a person's certificates with a business and does not fit into one batch. A row is
// kept until the last certificate is withdrawn.
import { eq } from "drizzle-orm";
import { listStoredForms } from "../../core/access/address-index.ts";
import type { CertId } from "../../core/ids.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { WithdrawalMethod } from "../../core/withdrawals/withdrawal.ts";
import type { Database } from "../database.ts";
import { withdrawalWork } from "../schema.ts";
import type { IndexReader } from "../vault.ts";
import { claimDueRows } from "./claim.ts";
import type { AddressWithdrawalScope } from "../withdrawals.ts";

const leaseMs = minuteMs; // longer than one batch takes

export interface WithdrawalWork extends AddressWithdrawalScope {
  /** The certificate whose withdrawal started this work. */
  readonly certId: CertId;
  readonly method: WithdrawalMethod;
  /** The API key with which the business recorded the withdrawal. Null if the person withdrew consent. */
  readonly apiKeyId: string | null;
  /** True if the work must still be copied to the business's other shards. */
  readonly forAllShards: boolean;
}

/**
 * Saves the remaining work, which is due immediately. In the shard of `certId`, it must be in the same batch as that certificate's
 * withdrawal. Does nothing if the shard already has the work. The row contains all forms of each index, because other queries compare them
 * with the indexes on certificates.
 */
export const insertWithdrawalWork = (db: Database, { issuedUntil, addressIndexes, ...work }: WithdrawalWork) =>
  db
    .insert(withdrawalWork)
    .values({ ...work, addressIndexes: addressIndexes.flatMap(listStoredForms), withdrawnAt: issuedUntil, nextAt: issuedUntil })
    .onConflictDoNothing();

/** Records that the work was copied to the business's other shards. */
export const markWorkSpread = (db: Database, certId: CertId) =>
  db.update(withdrawalWork).set({ forAllShards: false }).where(eq(withdrawalWork.certId, certId));

/** Claims the work that has been due for the longest time. The claim lasts for one minute. Returns null if no work is due. */
export const claimWithdrawalWork = async (db: Database, vault: IndexReader, now: Instant): Promise<WithdrawalWork | null> => {
  const [work] = await claimDueRows(db, withdrawalWork, { now, leaseMs, max: 1 });
  if (work === undefined) return null;
  const { withdrawnAt, addressIndexes, ...rest } = work;
  return { ...rest, addressIndexes: [...new Set(addressIndexes.map(vault.readIndex))], issuedUntil: withdrawnAt };
};

export const finishWithdrawalWork = (db: Database, certId: CertId) => db.delete(withdrawalWork).where(eq(withdrawalWork.certId, certId));

export const continueWithdrawalWork = (db: Database, certId: CertId, now: Instant) =>
  db.update(withdrawalWork).set({ nextAt: now }).where(eq(withdrawalWork.certId, certId));
