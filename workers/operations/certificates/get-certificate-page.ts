// Implements GET /c/{id}, the public page of a certificate. Recording the view and reading the certificate take one database round trip. If
// recording fails, the page is still shown.
import { cutText } from "../../../core/cut-text.ts";
import type { PublishedCertificate, PageView } from "../../../core/certificates/published-certificate.ts";
import { hasEmailAddress } from "../../../core/certificates/recognized-fields.ts";
import { isKnownBot, parseOsFamily } from "../../../core/certificates/user-agent.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { findCertificateForPage } from "../../../storage/certificates.ts";
import { insertCertificateView } from "../../../storage/certificate-views.ts";
import { getErrorKind } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { findWhileAway } from "../intake/find-journaled.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { withCertificateAttestations } from "../attestations/with-attestations.ts";
import { getBusinessContact, type BusinessContactDetails } from "./get-business-contact.ts";

export interface PageVisitor {
  readonly ip: string;
  readonly userAgent: string;
  /** True for a HEAD request or a prefetch. In that case, the view is stored as automated and not counted. */
  readonly isPrefetch: boolean;
  /** True if a page that is already open asks for the certificate's current status. In that case, no view is recorded. */
  readonly isRefresh?: boolean;
}

export interface CertificatePage {
  readonly certificate: PublishedCertificate;
  /** When the issuance was added to the audit log; null if it has not been added yet. */
  readonly loggedAt: Instant | null;
  /** Set only if the certificate is withdrawn, or if no email address on it can receive a withdrawal code. */
  readonly businessContact: BusinessContactDetails | null;
}

const maxUserAgentLength = 512;

const toView = ({ ip, userAgent, isPrefetch }: PageVisitor, at: Instant): PageView => {
  const named = cutText(userAgent.replaceAll(/\p{Cc}/gu, ""), maxUserAgentLength);
  return { at, ip, userAgent: named, os: parseOsFamily(named), bot: isPrefetch || isKnownBot(named) };
};

interface LoadedPage extends Omit<CertificatePage, "businessContact"> {
  /** True if the database does not respond and the certificate comes from the journal. In that case, the view is not recorded. */
  readonly isJournaled?: true;
}

const loadAndRecordView = async (services: ReadDependencies, certId: CertId, visitor: PageVisitor): Promise<LoadedPage | null> => {
  const db = services.shards.forId(certId);
  if (visitor.isRefresh === true) return findCertificateForPage(db, certId);
  try {
    return await findCertificateForPage(
      db,
      certId,
      await insertCertificateView(db, services.vault, certId, toView(visitor, services.clock())),
    );
  } catch (error) {
    services.log.error({ at: "view trail", error: getErrorKind(error) });
    return findCertificateForPage(db, certId);
  }
};

/**
 * Loads the page's data and records the view in the view trail (SPEC Certificate, view trail). If the certificate does not exist, returns
 * `cert_not_found` and records nothing.
 */
export const getCertificatePage = async (
  services: CertificateDependencies,
  certId: CertId,
  visitor: PageVisitor,
): Promise<Result<CertificatePage, "cert_not_found">> => {
  const page = await findWhileAway<LoadedPage>(
    services,
    certId,
    () => loadAndRecordView(services, certId, visitor),
    (certificate) => ({ certificate, loggedAt: null, isJournaled: true }),
  );
  if (page === null) return refuse("cert_not_found");
  const { certificate } = page;
  const isMailed = certificate.subjectErasedAt === null && hasEmailAddress(certificate);
  const [attested, businessContact] = await Promise.all([
    withCertificateAttestations(services, certificate),
    page.isJournaled === true || (isMailed && certificate.status === "active") ? null : getBusinessContact(services, certificate),
  ]);
  return ok({ loggedAt: page.loggedAt, certificate: attested, businessContact });
};
