// Lets someone who has an emailed link withdraw more than one certificate.
import { sha256Hex, isEqualConstantTime } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { listMailedLinkHashes } from "./list-mailed-link-hashes.ts";
import { loadOtherCertificates, type OtherCertificates } from "./load-other-certificates.ts";
import { locateRecord } from "./locate-record.ts";

/**
 * Returns the person's other active certificates with the business. Returns null for an unknown certificate, and for a token that was not
 * emailed to the address, because only an emailed token proves control of the address.
 */
export const listOtherCertificatesByLink = async (
  services: ReadDependencies,
  certId: CertId,
  token: string,
): Promise<OtherCertificates | null> => {
  const located = await locateRecord(services, certId);
  if (located === null) return null;
  const given = sha256Hex(token);
  const mailed = await listMailedLinkHashes(services, located, services.clock());
  return mailed.some((hash) => isEqualConstantTime(hash, given)) ? loadOtherCertificates(located) : null;
};
