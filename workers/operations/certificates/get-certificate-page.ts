// The public page of a certificate is opened: the open is noted in the view trail and the certificate read, in one round
// trip. Noting fails open: a trail that cannot be written never keeps anybody from checking a certificate.
import type { PublishedCertificate, PageView } from "../../../core/certificates/published-certificate.ts";
import { isKnownBot, parseOsFamily } from "../../../core/certificates/user-agent.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { findCertificateForPage } from "../../../storage/certificates.ts";
import { insertCertificateView } from "../../../storage/certificate-views.ts";
import { getErrorKind } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { withCertificateAttestations } from "../attestations/with-attestations.ts";
import { getBusinessContact, type BusinessContactDetails } from "./get-business-contact.ts";

export interface PageVisitor {
  readonly ip: string;
  readonly userAgent: string;
  /** Only headers asked for, or fetched ahead: kept in the trail as no person's, and not counted. */
  readonly isPrefetch: boolean;
}

export interface CertificatePage {
  readonly certificate: PublishedCertificate;
  /** When the issuance was entered in the audit log; null while it waits. */
  readonly loggedAt: Instant | null;
  /** Where the business can be reached, of a certificate with which the person is sent no code; null of every other. */
  readonly reach: BusinessContactDetails | null;
}

const maxUserAgentLength = 512;

const toView = ({ ip, userAgent, isPrefetch }: PageVisitor, at: Instant): PageView => {
  const named = userAgent.replaceAll(/\p{Cc}/gu, "").slice(0, maxUserAgentLength);
  return { at, ip, userAgent: named, os: parseOsFamily(named), bot: isPrefetch || isKnownBot(named) };
};

const loadAndRecordView = async (
  services: ReadDependencies,
  certId: CertId,
  opener: PageVisitor,
): Promise<Omit<CertificatePage, "reach"> | null> => {
  const db = services.shards.forId(certId);
  try {
    return await findCertificateForPage(
      db,
      certId,
      await insertCertificateView(db, services.vault, certId, toView(opener, services.clock())),
    );
  } catch (error) {
    services.log.error({ at: "view trail", error: getErrorKind(error) });
    return findCertificateForPage(db, certId);
  }
};

/** Refuses `cert_not_found`; nothing is noted for a certificate that does not exist. */
export const getCertificatePage = async (
  services: CertificateDependencies,
  certId: CertId,
  opener: PageVisitor,
): Promise<Result<CertificatePage, "cert_not_found">> => {
  const page = await loadAndRecordView(services, certId, opener);
  if (page === null) return refuse("cert_not_found");
  const { certificate } = page;
  const isMailed = certificate.subjectErasedAt === null && (certificate.subjectMasked.email ?? "") !== "";
  const [attested, reach] = await Promise.all([
    withCertificateAttestations(services, certificate),
    isMailed || certificate.status === "revoked" ? null : getBusinessContact(services, certificate),
  ]);
  return ok({ ...page, certificate: attested, reach });
};
