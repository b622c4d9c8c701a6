// A withdrawal from everything that is too large for one batch goes on from here: a row until the last certificate is done,
// taken for a minute at a time, so that a worker that dies leaves it to the next.
import { eq, lte } from "drizzle-orm";
import type { CertId } from "../../core/ids.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import type { Database } from "../database.ts";
import { withdrawalWork } from "../schema.ts";
import { query } from "../query.ts";
import type { SameAddress } from "../withdrawals.ts";

const leaseMs = minuteMs; // more than a batch takes

export interface WithdrawalWork extends SameAddress {
  /** The certificate on which the person withdrew. */
  readonly certId: CertId;
  readonly method: "email_code" | "manage_link";
}

export const insertWithdrawalWork = (db: Database, { issuedUntil, ...work }: WithdrawalWork) =>
  db.insert(withdrawalWork).values({ ...work, withdrawnAt: issuedUntil, nextAt: issuedUntil });

/** Takes what has been due longest; of two workers at once, one gets it. */
export const claimWithdrawalWork = async (db: Database, now: Instant): Promise<WithdrawalWork | null> => {
  const { certId, businessId, environment, addressIndex, withdrawnAt, method, nextAt } = withdrawalWork;
  const due = query.select({ certId }).from(withdrawalWork).where(lte(nextAt, now)).orderBy(nextAt).limit(1);
  const work = await db
    .update(withdrawalWork)
    .set({ nextAt: now + leaseMs })
    .where(eq(certId, due))
    .returning({ certId, businessId, environment, addressIndex, issuedUntil: withdrawnAt, method })
    .get();
  return work ?? null;
};

export const finishWithdrawalWork = (db: Database, certId: CertId) => db.delete(withdrawalWork).where(eq(withdrawalWork.certId, certId));

/** The rest is due at once. */
export const continueWithdrawalWork = (db: Database, certId: CertId, now: Instant) =>
  db.update(withdrawalWork).set({ nextAt: now }).where(eq(withdrawalWork.certId, certId));
