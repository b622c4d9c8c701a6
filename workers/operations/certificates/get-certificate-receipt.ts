// Implements GET /v1/certs/{id}/receipt.
import { buildConsentReceipt, type ReceiptFormat } from "../../../core/certificates/consent-receipt.ts";
import { isConsentRefused, type PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findBusinessCountry } from "../../../storage/accounts.ts";
import { getCertificateEvidence, findPublishedCertificate } from "../../../storage/certificates.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { getViewContext } from "./get-view-context.ts";

/** Returns true if the person checked the consent box. Returns false after an erasure, because the evidence was deleted. */
const isExplicitConsent = async ({ vault }: Stores, db: Database, certificate: PublishedCertificate): Promise<boolean> => {
  const evidence = await getCertificateEvidence(db, vault, certificate);
  return (evidence?.presentation as { readonly opt_in_type?: string } | null | undefined)?.opt_in_type === "manual";
};

/**
 * Returns the certificate as a consent receipt (ISO/IEC TS 27560 or Kantara). Returns `cert_not_found` if the certificate does not exist,
 * and `not_a_consent` if the person declined every recipient.
 */
export const getCertificateReceipt = async (
  services: CertificateDependencies,
  certId: CertId,
  format: ReceiptFormat,
): Promise<Result<ReturnType<typeof buildConsentReceipt>, "cert_not_found" | "not_a_consent">> => {
  const db = services.shards.forId(certId);
  const certificate = await findOrPlace(services, certId, () => findPublishedCertificate(db, certId));
  if (certificate === null) return refuse("cert_not_found");
  if (isConsentRefused(certificate)) return refuse("not_a_consent");
  const country = await findBusinessCountry(db, certificate.businessId);
  if (country === null) throw new Error("receipt: the business of the certificate is missing");
  return ok(
    buildConsentReceipt(format, {
      certificate,
      country,
      isExplicit: await isExplicitConsent(services, db, certificate),
      context: getViewContext(services),
    }),
  );
};
