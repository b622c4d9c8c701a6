// Implements GET /v1/business/portal/certs/{cert_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, type Result } from "../../../core/result.ts";
import type { PortalDependencies } from "./dependencies.ts";
import { verifyCertificate } from "../certificates/verify-certificate.ts";

/**
 * Returns the published certificate, without personal data. Returns `cert_not_found` for unknown certificates and other businesses'
 * certificates.
 */
export const getBusinessCertificate = async (
  services: PortalDependencies,
  member: MemberSession,
  certId: CertId,
): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const found = await verifyCertificate(services, certId);
  return found.ok && found.value.businessId !== member.business.id ? refuse("cert_not_found") : found;
};
