// Finds a certificate that contains the signed-in person's email address.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { Person } from "../../../core/access/principal.ts";
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import { verifyCertificate } from "../certificates/verify-certificate.ts";
import { locateRecord, type LocatedRecord } from "../withdrawals/locate-record.ts";
import { loadEmailIndex } from "./load-email-index.ts";

/**
 * Finds a live certificate that names the person, with the data for a withdrawal. Returns the same errors as `getCertificateNamingPerson`.
 */
export const locateRecordNamingPerson = async (
  services: CertificateDependencies,
  person: Pick<Person, "id">,
  certId: CertId | null,
): Promise<Result<LocatedRecord & { readonly addressIndex: AddressIndex }, "unauthorized" | "cert_not_found">> => {
  const address = await loadEmailIndex(services, person);
  if (address === null) return refuse("unauthorized");
  const located = certId === null ? null : await locateRecord(services, certId);
  const isNamed = located?.record.emailIndexes.includes(address) === true && located.record.certificate.environment === "live";
  return isNamed ? ok({ ...located, addressIndex: address }) : refuse("cert_not_found");
};

/**
 * Returns the data of the certificate's public page. Returns `unauthorized` if the account no longer exists, and `cert_not_found` if the
 * certificate does not name the person.
 */
export const getCertificateNamingPerson = async (
  services: CertificateDependencies,
  person: Pick<Person, "id">,
  certId: CertId | null,
): Promise<Result<PublishedCertificate, "unauthorized" | "cert_not_found">> => {
  const named = await locateRecordNamingPerson(services, person, certId);
  return named.ok ? verifyCertificate(services, named.value.record.certificate.id) : named;
};
