// Lists the other certificates that the holder of an emailed link can withdraw.
import type { CertId } from "../../../core/ids.ts";
import { findLink } from "./find-link.ts";
import { loadOtherCertificates, type OtherCertificates } from "./load-other-certificates.ts";
import { locateRecord } from "./locate-record.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";

/**
 * Returns the person's other active certificates with the business. Returns null for an unknown certificate, and for a token that was not
 * emailed, because only an emailed token proves control of the address.
 */
export const listOtherCertificatesByLink = async (
  services: IntakeDependencies,
  certId: CertId,
  token: string,
): Promise<OtherCertificates | null> => {
  const located = await locateRecord(services, certId);
  if (located === null) return null;
  const { mailed } = await findLink(services, located, token);
  return mailed === null ? null : loadOtherCertificates(services, located, mailed.addressIndex);
};
