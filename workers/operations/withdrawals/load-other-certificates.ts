// Finds the same business's other certificates that name an email address of the person.
import { findOtherCertificates } from "../../../storage/withdrawals.ts";
import type { LocatedRecord } from "./locate-record.ts";

const maxShownCertificates = 20;

export type OtherCertificates = Awaited<ReturnType<typeof findOtherCertificates>>;

/**
 * Returns the number of other active certificates, and the newest 20 of them. After a withdrawal with scope `business`, counts only
 * certificates issued later, because consent for earlier ones has been withdrawn or will be within minutes.
 */
export const loadOtherCertificates = async ({ db, record }: LocatedRecord, addressIndex: string): Promise<OtherCertificates> => {
  const { certificate, withdrawal } = record;
  const { id: certId, businessId, environment } = certificate;
  const issuedAfter = withdrawal?.scope === "business" ? withdrawal.withdrawnAt : null;
  return findOtherCertificates(
    db,
    { businessId, environment, addressIndexes: [addressIndex] },
    { certId, issuedAfter },
    maxShownCertificates,
  );
};
