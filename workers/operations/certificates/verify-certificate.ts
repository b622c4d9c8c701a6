// GET /v1/certs/{id}/verify.
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findPublishedCertificate } from "../../../storage/certificates.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { withCertificateAttestations } from "../attestations/with-attestations.ts";

/**
 * Returns a certificate's public data and its anchor's attestations, with a single database query (SPEC Public verification). Can return
 * `cert_not_found`.
 */
export const verifyCertificate = async (
  services: CertificateDependencies,
  certId: CertId,
): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const certificate = await findPublishedCertificate(services.shards.forId(certId), certId);
  return certificate === null ? refuse("cert_not_found") : ok(await withCertificateAttestations(services, certificate));
};
