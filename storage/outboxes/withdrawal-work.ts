// A withdrawal from everything that is too large for one batch goes on from here: a row until the last certificate is done,
// taken for a minute at a time, so that a worker that dies leaves it to the next.
import { eq } from "drizzle-orm";
import type { CertId } from "../../core/ids.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { WithdrawalMethod } from "../../core/withdrawals/withdrawal.ts";
import type { Database } from "../database.ts";
import { withdrawalWork } from "../schema.ts";
import { claimDueRows } from "./claim.ts";
import type { AddressWithdrawalScope } from "../withdrawals.ts";

const leaseMs = minuteMs; // more than a batch takes

export interface WithdrawalWork extends AddressWithdrawalScope {
  /** The certificate that was withdrawn first. */
  readonly certId: CertId;
  readonly method: WithdrawalMethod;
  /** The key with which the business recorded it. */
  readonly apiKeyId: string | null;
}

export const insertWithdrawalWork = (db: Database, { issuedUntil, address, ...work }: WithdrawalWork) =>
  db
    .insert(withdrawalWork)
    .values({ ...work, addressKind: address.kind, addressIndex: address.index, withdrawnAt: issuedUntil, nextAt: issuedUntil });

export const claimWithdrawalWork = async (db: Database, now: Instant): Promise<WithdrawalWork | null> => {
  const [work] = await claimDueRows(db, withdrawalWork, { now, leaseMs, max: 1 });
  if (work === undefined) return null;
  const { addressKind, addressIndex, withdrawnAt, ...rest } = work;
  return { ...rest, address: { kind: addressKind, index: addressIndex }, issuedUntil: withdrawnAt };
};

export const finishWithdrawalWork = (db: Database, certId: CertId) => db.delete(withdrawalWork).where(eq(withdrawalWork.certId, certId));

/** The rest is due at once. */
export const continueWithdrawalWork = (db: Database, certId: CertId, now: Instant) =>
  db.update(withdrawalWork).set({ nextAt: now }).where(eq(withdrawalWork.certId, certId));
