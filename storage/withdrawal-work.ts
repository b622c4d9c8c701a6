// A withdrawal from everything that is too large for one batch goes on from here: a row until the last certificate is done,
// taken for a minute at a time, so that a worker that dies leaves it to the next.
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { SameAddress } from "./withdrawals.ts";

const turnMs = minuteMs; // more than a batch takes

export interface WithdrawalWork extends SameAddress {
  /** The certificate on which the person withdrew. */
  readonly certId: CertId;
  readonly method: "email_code" | "manage_link";
}

export const insertWithdrawalWork = (db: D1Database, work: WithdrawalWork): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO withdrawal_work (cert_id, business_id, environment, address_index, withdrawn_at, method, next_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .bind(work.certId, work.businessId, work.environment, work.addressIndex, work.issuedUntil, work.method, work.issuedUntil);

/** Takes what has been due longest; of two workers at once, one gets it. */
export const claimWithdrawalWork = async (db: D1Database, now: Instant): Promise<WithdrawalWork | null> => {
  const row = await db
    .prepare(
      `UPDATE withdrawal_work SET next_at = ?1 + ${turnMs}
       WHERE cert_id = (SELECT cert_id FROM withdrawal_work WHERE next_at <= ?1 ORDER BY next_at LIMIT 1)
       RETURNING cert_id, business_id, environment, address_index, withdrawn_at, method`,
    )
    .bind(now)
    .first<{
      cert_id: string;
      business_id: string;
      environment: Environment;
      address_index: string;
      withdrawn_at: Instant;
      method: WithdrawalWork["method"];
    }>();
  if (row === null) return null;
  return {
    certId: row.cert_id as CertId,
    businessId: row.business_id as BusinessId,
    environment: row.environment,
    addressIndex: row.address_index,
    issuedUntil: row.withdrawn_at,
    method: row.method,
  };
};

export const finishWithdrawalWork = (db: D1Database, certId: CertId): D1PreparedStatement =>
  db.prepare("DELETE FROM withdrawal_work WHERE cert_id = ?").bind(certId);

/** The rest is due at once. */
export const continueWithdrawalWork = (db: D1Database, certId: CertId, now: Instant): D1PreparedStatement =>
  db.prepare("UPDATE withdrawal_work SET next_at = ? WHERE cert_id = ?").bind(now, certId);
