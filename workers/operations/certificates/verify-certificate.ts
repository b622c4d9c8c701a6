// Implements GET /v1/certs/{id}/verify.
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findPublishedCertificate } from "../../../storage/certificates.ts";
import { findWhileAway } from "../intake/find-journaled.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { withCertificateAttestations } from "../attestations/with-attestations.ts";

/**
 * Reads a certificate's public data with a single database query, and adds the attestations of its anchors (SPEC Public verification). If
 * the database has not responded recently, reads the journal first. Returns `cert_not_found` only if the database has confirmed that the
 * certificate does not exist.
 */
export const verifyCertificate = async (
  services: CertificateDependencies,
  certId: CertId,
): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const certificate = await findWhileAway(
    services,
    certId,
    () => findPublishedCertificate(services.shards.forId(certId), certId),
    (journaled) => journaled,
  );
  return certificate === null ? refuse("cert_not_found") : ok(await withCertificateAttestations(services, certificate));
};
