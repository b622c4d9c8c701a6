// Implements POST /v1/certs/{id}/match. Tells the business that issued a certificate, and the recipients that it has linked, whether the
// certificate is about a given person.
import type { Principal } from "../../../core/access/principal.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { isConsentedTo, isNamedRecipient, isOneToOne, isWithdrawnFrom } from "../../../core/contact/recipient.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { toDayNumber } from "../../../core/time.ts";
import { findBusinessNames } from "../../../storage/accounts.ts";
import { compareSubject, findMatchableCertificate, type SubjectComparison } from "../../../storage/contact.ts";
import { batch } from "../../../storage/database.ts";
import { insertCertificateView } from "../../../storage/certificate-views.ts";
import { listLinkedNames } from "../../../storage/linked-recipients.ts";
import { runIsolated } from "../../log.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import type { ContactDependencies } from "./dependencies.ts";
import { computeSubjectIndexes, type SubjectQuery } from "./compute-subject-indexes.ts";

export interface SubjectMatch extends SubjectComparison {
  /** The status for this caller. It is also `revoked` if the person withdrew consent only for this caller. */
  readonly status: CertificateStatus;
  readonly entityNamed: boolean;
  readonly oneToOne: boolean;
}

/** The result if the personal data was erased and there is nothing to compare. */
const noMatch: SubjectComparison = { email: null, phone: null };

/**
 * Compares an email address, a phone number or both with those on the certificate. The caller must be the business that issued the
 * certificate, or a recipient that this business has linked to a name on it. Having the same name is not enough, because a business can
 * choose any name. Each comparison is recorded in the view trail. Returns `cert_not_found` for unknown certificates and other callers.
 * Returns `rate_limited` after 20 mismatches per certificate, caller and UTC day, so that callers cannot guess contact details.
 */
export const matchSubject = async (
  services: ContactDependencies,
  principal: Principal,
  certId: CertId,
  query: SubjectQuery,
  caller: { readonly ip: string },
): Promise<Result<SubjectMatch, "cert_not_found" | "rate_limited">> => {
  const { business, environment } = principal;
  const db = services.shards.forId(certId);
  const certificate = await findOrPlace(services, certId, () => findMatchableCertificate(db, certId));
  if (certificate === null || certificate.environment !== environment) return refuse("cert_not_found");
  const isIssuer = certificate.businessId === business.id;
  const names = isIssuer ? await findBusinessNames(db, business.id) : null;
  const ownNames = isIssuer
    ? [names?.name ?? null, names?.legalName ?? null]
    : await listLinkedNames(services.shards.forId(certificate.businessId), certificate.businessId, business.id);
  if (!isIssuer && !isNamedRecipient(certificate, ownNames)) return refuse("cert_not_found");

  const now = services.clock();
  const indexes = await computeSubjectIndexes(services, business.country, query);
  const matched = certificate.isErased ? noMatch : await compareSubject(db, certId, business.id, indexes, toDayNumber(now));
  if (matched === null) return refuse("rate_limited");
  const view = { at: now, ip: caller.ip, userAgent: `svc-match/1 (${business.id})`, os: null, bot: true };
  // As on the public page, the request succeeds even if recording the view fails.
  await runIsolated(services, "view trail", async () => batch(db, await insertCertificateView(db, services.vault, certId, view)));
  return ok({
    ...matched,
    status: isWithdrawnFrom(certificate, ownNames) ? "revoked" : certificate.status,
    entityNamed: isConsentedTo(certificate, ownNames),
    oneToOne: isOneToOne(certificate),
  });
};
