// Finds the same business's other certificates that name the person's email address.
import { findOtherCertificates } from "../../../storage/withdrawals.ts";
import type { LocatedRecord } from "./locate-record.ts";

const maxShownCertificates = 20;

export type OtherCertificates = Awaited<ReturnType<typeof findOtherCertificates>>;

/**
 * Returns the number of other active certificates, and the newest 20 of them. After a withdrawal with scope `business`, counts only
 * certificates issued later, because earlier ones are already withdrawn or will be within minutes.
 */
export const loadOtherCertificates = async ({ db, record }: LocatedRecord): Promise<OtherCertificates> => {
  const { certificate, emailIndex, withdrawal } = record;
  if (emailIndex === null) return { count: 0, newest: [] };
  const { id: certId, businessId, environment } = certificate;
  const issuedAfter = withdrawal?.scope === "business" ? withdrawal.withdrawnAt : null;
  return findOtherCertificates(
    db,
    { businessId, environment, address: { kind: "email", index: emailIndex } },
    { certId, issuedAfter },
    maxShownCertificates,
  );
};
