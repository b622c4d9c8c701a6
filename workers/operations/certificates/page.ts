// The public page of a certificate is opened: the open is noted in the view trail and the certificate read, in one round
// trip. Noting fails open: a trail that cannot be written never keeps anybody from checking a certificate.
import type { PublishedCertificate, View } from "../../../core/certificates/published.ts";
import { isKnownBot, osFamily } from "../../../core/certificates/user-agent.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { certificateForPage } from "../../../storage/certificates.ts";
import { insertView } from "../../../storage/page-views.ts";
import { kindOfError } from "../../log.ts";
import type { Memories, Proofs, Runtime, Stores } from "../../services.ts";
import { attestedCertificate } from "../attestations.ts";
import { reachOf, type Reach } from "./verify.ts";

export interface Opener {
  readonly ip: string;
  readonly userAgent: string;
  /** Only headers asked for, or fetched ahead: kept in the trail as no person's, and not counted. */
  readonly isUnread: boolean;
}

export interface CertificatePage {
  readonly certificate: PublishedCertificate;
  /** When the issuance was entered in the audit log; null while it waits. */
  readonly loggedAt: Instant | null;
  /** Where the business can be reached, of a certificate with which the person is sent no code; null of every other. */
  readonly reach: Reach | null;
}

const maxUserAgentLength = 512;

const viewOf = ({ ip, userAgent, isUnread }: Opener, at: Instant): View => {
  const named = userAgent.replaceAll(/\p{Cc}/gu, "").slice(0, maxUserAgentLength);
  return { at, ip, userAgent: named, os: osFamily(named), bot: isUnread || isKnownBot(named) };
};

const readWithTrail = async (
  services: Runtime & Stores,
  certId: CertId,
  opener: Opener,
): Promise<Omit<CertificatePage, "reach"> | null> => {
  const db = services.homes.of(certId);
  try {
    return await certificateForPage(db, certId, await insertView(db, services.vault, certId, viewOf(opener, services.clock())));
  } catch (error) {
    services.log.fault({ at: "view trail", error: kindOfError(error) });
    return certificateForPage(db, certId);
  }
};

/** Refuses `cert_not_found`; nothing is noted for a certificate that does not exist. */
export const openCertificatePage = async (
  services: Runtime & Stores & Memories & Proofs,
  certId: CertId,
  opener: Opener,
): Promise<Result<CertificatePage, "cert_not_found">> => {
  const page = await readWithTrail(services, certId, opener);
  if (page === null) return refuse("cert_not_found");
  const { certificate } = page;
  const isMailed = certificate.subjectErasedAt === null && (certificate.subjectMasked.email ?? "") !== "";
  const [attested, reach] = await Promise.all([
    attestedCertificate(services, certificate),
    isMailed || certificate.status === "revoked" ? null : reachOf(services, certificate),
  ]);
  return ok({ ...page, certificate: attested, reach });
};
