// Finds a certificate with the data that determines who may withdraw consent.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { findWithdrawable, type WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";
import { findOrPlace } from "../intake/find-journaled.ts";

export interface LocatedRecord {
  readonly db: Database;
  readonly record: WithdrawableRecord;
}

/**
 * Returns the certificate and its database, or null for an unknown ID. First moves a certificate that is still in the journal to its
 * database.
 */
export const locateRecord = async (services: IntakeDependencies, certId: CertId): Promise<LocatedRecord | null> => {
  const db = services.shards.forId(certId);
  const record = await findOrPlace(services, certId, () => findWithdrawable(db, services.vault, certId));
  return record === null ? null : { db, record };
};

/** Like `locateRecord`, but also returns null for certificates of another business or environment. */
export const locateOwnRecord = async (
  services: IntakeDependencies,
  reader: BusinessScope,
  certId: CertId,
): Promise<LocatedRecord | null> => {
  const located = await locateRecord(services, certId);
  const certificate = located?.record.certificate;
  return certificate?.businessId === reader.business.id && certificate.environment === reader.environment ? located : null;
};
