// Implements POST /v1/business/portal/certs/{cert_id}/reveal.
import type { MemberSession } from "../../../core/access/session.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { getCertificate, type CertificateDetail } from "../certificates/get-certificate.ts";
import { getBusinessCertificate } from "./get-business-certificate.ts";

/**
 * Returns a certificate with the person's details and the evidence decrypted. Before it returns them, commits an audit entry about the
 * read. Can return `cert_not_found`.
 */
export const revealCertificate = async (
  services: PortalWriteDependencies,
  member: MemberSession,
  certId: CertId,
): Promise<Result<CertificateDetail, "cert_not_found">> => {
  const certificate = await getBusinessCertificate(services, member, certId);
  if (!certificate.ok) return certificate;
  const reader = { business: member.business, environment: certificate.value.environment };
  return getCertificate(services, reader, { kind: "member", id: member.userId }, certId);
};
