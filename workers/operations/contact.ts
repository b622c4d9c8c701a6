// Before contacting somebody: may I still, and is this certificate about this person? Both compare blind indexes; nothing
// personal is opened or answered.
import type { Principal } from "../../core/access/principal.ts";
import { comparablePhone } from "../../core/certificates/matching.ts";
import type { CertificateStatus } from "../../core/certificates/certificate.ts";
import { isConsentedTo, isNamed, isOneToOne } from "../../core/contact/recipient.ts";
import { contactVerdict, type ContactBasis, type ContactVerdict } from "../../core/contact/verdict.ts";
import type { CertId } from "../../core/ids.ts";
import { comparableMailbox } from "../../core/mailbox.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { dayMs, type Instant } from "../../core/time.ts";
import { batch } from "../../storage/database.ts";
import { businessNames } from "../../storage/accounts.ts";
import { compareSubject, contactBasis, matchable, type Matched, type SubjectIndexes } from "../../storage/contact.ts";
import { insertView } from "../../storage/views.ts";
import { kindOfError } from "../log.ts";
import type { Services } from "../services.ts";

/** An address and a number, each as itself or as the SHA-256 of its comparable form; at least one is there. */
export interface AskedSubject {
  readonly email: string | null;
  readonly emailSha256: string | null;
  readonly phone: string | null;
  readonly phoneSha256: string | null;
}

const indexesOf = async (services: Services, country: string, asked: AskedSubject): Promise<SubjectIndexes> => {
  const { vault } = services;
  const email =
    asked.email !== null
      ? await vault.blindIndex("email", comparableMailbox(asked.email) ?? "") // what is no address is on no certificate
      : asked.emailSha256 !== null
        ? await vault.blindIndexOfHash("email", asked.emailSha256)
        : null;
  const phone =
    asked.phone !== null
      ? await vault.blindIndex("phone", comparablePhone(asked.phone, country, services.toE164))
      : asked.phoneSha256 !== null
        ? await vault.blindIndexOfHash("phone", asked.phoneSha256)
        : null;
  return { email, phone };
};

export interface CheckedContact extends ContactVerdict {
  readonly basis: readonly ContactBasis[];
  readonly checkedAt: Instant;
}

/** From the business's own records, as they stand at this moment. */
export const checkContact = async (
  services: Services,
  principal: Principal,
  asked: { readonly subjects: readonly AskedSubject[]; readonly entity: string | null; readonly purpose: string | null },
): Promise<readonly CheckedContact[]> => {
  const { business, environment } = principal;
  const db = services.homes.of(business.id);
  if (db === null) throw new Error("contact: the business has no home");
  const subjects = await Promise.all(asked.subjects.map((subject) => indexesOf(services, business.country, subject)));
  const checkedAt = services.clock();
  const found = await contactBasis(db, { businessId: business.id, environment, subjects, entity: asked.entity, purpose: asked.purpose });
  return found.map((basis) => ({ ...contactVerdict(basis), basis, checkedAt }));
};

export interface MatchedSubject extends Matched {
  readonly status: CertificateStatus;
  readonly entityNamed: boolean;
  readonly oneToOne: boolean;
}

/**
 * Compares an address and a number with those on a certificate: for its issuer, and for a recipient it names that has proved
 * a domain. Noted in the view trail, and at most twenty misses a day. Refuses cert_not_found (unknown, or not for you),
 * rate_limited.
 */
export const matchSubject = async (
  services: Services,
  principal: Principal,
  certId: CertId,
  asked: AskedSubject,
  caller: { readonly ip: string },
): Promise<Result<MatchedSubject, "cert_not_found" | "rate_limited">> => {
  const db = services.homes.of(certId);
  const own = services.homes.of(principal.business.id);
  const [certificate, names] = await Promise.all([
    db === null ? null : matchable(db, certId),
    own === null ? null : businessNames(own, principal.business.id),
  ]);
  if (db === null || certificate === null || names === null || certificate.environment !== principal.environment)
    return refuse("cert_not_found");
  const known = [names.name, names.legalName];
  const isIssuer = certificate.businessId === principal.business.id;
  if (!isIssuer && !(names.hasVerifiedDomain && isNamed(certificate, known))) return refuse("cert_not_found");

  const now = services.clock();
  const guess = await indexesOf(services, principal.business.country, asked);
  const matched = await compareSubject(db, certId, guess, Math.floor(now / dayMs));
  if (matched === null) return refuse("rate_limited");
  const view = { at: now, ip: caller.ip, userAgent: `svc-match/1 (${principal.business.id})`, os: null, bot: true };
  try {
    await batch(db, await insertView(db, services.vault, certId, view));
  } catch (error) {
    services.log.fault({ at: "view trail", error: kindOfError(error) }); // as for the page: the trail fails open
  }
  return ok({
    ...matched,
    status: certificate.status,
    entityNamed: isConsentedTo(certificate, known),
    oneToOne: isOneToOne(certificate),
  });
};
