// Implements GET /v1/business/portal/certs/{cert_id}/views.
import type { MemberSession } from "../../../core/access/session.ts";
import type { PublishedCertificate, PageView } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { listViewTrail, countStoredViews } from "../../../storage/certificate-views.ts";
import { lookUpCustody, lookUpPublishedCertificate } from "../../../storage/certificates.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import type { PortalWriteDependencies } from "./dependencies.ts";
import { withCertificateAttestations } from "../attestations/with-attestations.ts";
import { commitWithAudit } from "./commit-with-audit.ts";

export interface CertificateViewPage {
  readonly certificate: PublishedCertificate;
  /** When the person's details will be erased. */
  readonly retentionUntil: Instant;
  /** When the issuance was added to the audit log; null if it has not been added yet. */
  readonly loggedAt: Instant | null;
  readonly views: readonly PageView[];
  /** The number of stored views on all pages. */
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
}

/**
 * Returns a certificate and one page of views of its public page, newest first. Views contain IP addresses, so an audit entry about the
 * read is committed before they are returned. Returns `cert_not_found` for unknown certificates and other businesses' certificates.
 */
export const listCertificateViews = async (
  services: PortalWriteDependencies,
  member: MemberSession,
  certId: CertId,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<Result<CertificateViewPage, "cert_not_found">> => {
  const db = services.shards.forId(certId);
  const loaded = await findOrPlace(services, certId, async () => {
    const [certificate, custody, views, total] = await combineLookups(db, [
      lookUpPublishedCertificate(db, certId),
      lookUpCustody(db, certId),
      listViewTrail(db, services.vault, certId, perPage, (page - 1) * perPage),
      countStoredViews(db, certId),
    ]);
    return certificate === null || custody === null ? null : { certificate, ...custody, views, total };
  });
  if (loaded === null || loaded.certificate.businessId !== member.business.id) return refuse("cert_not_found");
  await commitWithAudit(services, member, [], {
    type: "certificate.subject_read",
    entityType: "certificate",
    entityId: certId,
    payload: { part: "view_trail" },
  });
  return ok({ ...loaded, certificate: await withCertificateAttestations(services, loaded.certificate), page, perPage });
};
