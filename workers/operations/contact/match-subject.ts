// Is this certificate about this person? For the business that issued it, and for a recipient it names.
import type { Principal } from "../../../core/access/principal.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { isConsentedTo, isNamedRecipient, isOneToOne, isWithdrawnFrom } from "../../../core/contact/recipient.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { dayMs } from "../../../core/time.ts";
import { findBusinessNames } from "../../../storage/accounts.ts";
import { compareSubject, findMatchableCertificate, type SubjectComparison } from "../../../storage/contact.ts";
import { batch } from "../../../storage/database.ts";
import { insertCertificateView } from "../../../storage/certificate-views.ts";
import { runIsolated } from "../../log.ts";
import type { ContactDependencies } from "./dependencies.ts";
import { computeSubjectIndexes, type SubjectQuery } from "./compute-subject-indexes.ts";

export interface SubjectMatch extends SubjectComparison {
  /** As far as the one who asks is concerned: `revoked` too where the person has withdrawn from it alone. */
  readonly status: CertificateStatus;
  readonly entityNamed: boolean;
  readonly oneToOne: boolean;
}

/** Nothing is left to compare with. */
const noMatch: SubjectComparison = { email: null, phone: null };

/**
 * Compares an address and a number with those on a certificate: for its issuer, and for a recipient it names that has proved
 * a domain. Noted in the view trail, and at most twenty misses a day. Refuses cert_not_found (unknown, or not for you),
 * rate_limited.
 */
export const matchSubject = async (
  services: ContactDependencies,
  principal: Principal,
  certId: CertId,
  asked: SubjectQuery,
  caller: { readonly ip: string },
): Promise<Result<SubjectMatch, "cert_not_found" | "rate_limited">> => {
  const { business, environment } = principal;
  const db = services.shards.forId(certId);
  const [certificate, names] = await Promise.all([
    findMatchableCertificate(db, certId),
    findBusinessNames(services.shards.forId(business.id), business.id),
  ]);
  if (certificate === null || names === null || certificate.environment !== environment) return refuse("cert_not_found");
  const known = [names.name, names.legalName];
  const isIssuer = certificate.businessId === business.id;
  if (!isIssuer && !(names.hasVerifiedDomain && isNamedRecipient(certificate, known))) return refuse("cert_not_found");

  const now = services.clock();
  const guess = await computeSubjectIndexes(services, business.country, asked);
  const matched = certificate.isErased ? noMatch : await compareSubject(db, certId, guess, Math.floor(now / dayMs));
  if (matched === null) return refuse("rate_limited");
  const view = { at: now, ip: caller.ip, userAgent: `svc-match/1 (${business.id})`, os: null, bot: true };
  // As for the page, the trail fails open.
  await runIsolated(services, "view trail", async () => batch(db, await insertCertificateView(db, services.vault, certId, view)));
  return ok({
    ...matched,
    status: isWithdrawnFrom(certificate, known) ? "revoked" : certificate.status,
    entityNamed: isConsentedTo(certificate, known),
    oneToOne: isOneToOne(certificate),
  });
};
