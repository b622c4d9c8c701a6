import type { MemberSession } from "../../../core/access/session.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { getCertificateAs, type CertificateDetail } from "../certificates/get-certificate.ts";
import { getBusinessCertificate } from "./get-business-certificate.ts";

/** With the person and the circumstances, once it stands in the audit chain who asked. */
export const revealCertificate = async (
  services: PortalWriteDependencies,
  member: MemberSession,
  certId: CertId,
): Promise<Result<CertificateDetail, "cert_not_found">> => {
  const own = await getBusinessCertificate(services, member, certId);
  if (!own.ok) return own;
  const reader = { business: member.business, environment: own.value.environment };
  return getCertificateAs(services, reader, { kind: "member", id: member.userId }, certId);
};
