import { findOtherCertificates } from "../../../storage/withdrawals.ts";
import type { LocatedRecord } from "./locate-record.ts";

const maxShownCertificates = 20;

// newest; more is not what one person looks through

export type OtherCertificates = Awaited<ReturnType<typeof findOtherCertificates>>;

/**
 * Those that stay active as things stand. After a withdrawal from everything the ones that were there then are withdrawn, or will be
 * in a moment: only what was given since counts.
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
