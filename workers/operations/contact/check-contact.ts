// May these people still be contacted? Answered from the business's own records, as they stand at this moment. Only blind indexes are compared;
// nothing personal is opened or answered.
import type { Principal } from "../../../core/access/principal.ts";
import { comparablePhone } from "../../../core/certificates/matching.ts";
import { contactVerdict, type ContactBasis, type ContactVerdict } from "../../../core/contact/verdict.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import type { Instant } from "../../../core/time.ts";
import { contactBasis, type SubjectIndexes } from "../../../storage/contact.ts";
import type { Phones, Runtime, Stores } from "../../services.ts";

/** An address and a number, each as itself or as the SHA-256 of its comparable form; at least one is there. */
export interface AskedSubject {
  readonly email: string | null;
  readonly emailSha256: string | null;
  readonly phone: string | null;
  readonly phoneSha256: string | null;
}

/** `country` is that of the business: numbers without a country code are taken as numbers there. What is no address is on no certificate. */
export const subjectIndexes = async ({ vault, toE164 }: Stores & Phones, country: string, asked: AskedSubject): Promise<SubjectIndexes> => {
  const { email, emailSha256, phone, phoneSha256 } = asked;
  const ofHash = (kind: "email" | "phone", hash: string | null) => (hash === null ? null : vault.blindIndexOfHash(kind, hash));
  return {
    email: await (email === null ? ofHash("email", emailSha256) : vault.blindIndex("email", comparableMailbox(email) ?? "")),
    phone: await (phone === null ? ofHash("phone", phoneSha256) : vault.blindIndex("phone", comparablePhone(phone, country, toE164))),
  };
};

export interface ContactQuestion {
  readonly subjects: readonly AskedSubject[];
  /** Only consent that names this recipient, and shares with a business of that name; null: whoever is named. */
  readonly entity: string | null;
  /** Only consent for this purpose; null: whatever it is for. */
  readonly purpose: string | null;
}

export interface CheckedContact extends ContactVerdict {
  readonly basis: readonly ContactBasis[];
  readonly checkedAt: Instant;
}

/** One for each subject, in their order. */
export const checkContact = async (
  services: Runtime & Stores & Phones,
  principal: Principal,
  { subjects, entity, purpose }: ContactQuestion,
): Promise<readonly CheckedContact[]> => {
  const { business, environment } = principal;
  const indexes = await Promise.all(subjects.map((subject) => subjectIndexes(services, business.country, subject)));
  const checkedAt = services.clock();
  const asked = { businessId: business.id, environment, subjects: indexes, entity, purpose };
  const found = await contactBasis(services.homes.of(business.id), asked, checkedAt);
  return found.map((basis) => ({ ...contactVerdict(basis), basis, checkedAt }));
};
