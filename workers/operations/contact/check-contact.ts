// May these people still be contacted? Answered from the business's own records, as they stand at this moment.
import type { Principal } from "../../../core/access/principal.ts";
import { contactVerdict, type ContactBasis, type ContactVerdict } from "../../../core/contact/verdict.ts";
import type { Instant } from "../../../core/time.ts";
import { contactBasis } from "../../../storage/contact.ts";
import type { Phones, Runtime, Stores } from "../../services.ts";
import { subjectIndexes, type AskedSubject } from "./asked-subject.ts";

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
