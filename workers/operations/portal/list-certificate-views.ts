// GET /v1/business/portal/certs/{cert_id}/views.
import type { MemberSession } from "../../../core/access/session.ts";
import type { PublishedCertificate, PageView } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, type Result } from "../../../core/result.ts";
import { listViewTrail, countStoredViews } from "../../../storage/certificate-views.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";
import { getBusinessCertificate } from "./get-business-certificate.ts";

export interface CertificateViewPage {
  readonly certificate: PublishedCertificate;
  readonly views: readonly PageView[];
  /** Number of stored views on all pages. */
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
}

/**
 * Returns a certificate and one page of views of its public page, newest first. Views contain IP addresses, so the read is audited before
 * this returns. Returns the same errors as
 * `getBusinessCertificate`.
 */
export const listCertificateViews = async (
  services: PortalWriteDependencies,
  member: MemberSession,
  certId: CertId,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<Result<CertificateViewPage, "cert_not_found">> => {
  const certificate = await getBusinessCertificate(services, member, certId);
  if (!certificate.ok) return certificate;
  const db = getBusinessDatabase(services, member);
  await commitWithAudit(services, member, [], {
    type: "certificate.subject_read",
    entityType: "certificate",
    entityId: certId,
    payload: { part: "view_trail" },
  });
  const [views, total] = await combineLookups(db, [
    listViewTrail(db, services.vault, certId, perPage, (page - 1) * perPage),
    countStoredViews(db, certId),
  ]);
  return ok({ certificate: certificate.value, views, total, page, perPage });
};
