// May these people still be contacted? Answered from the business's own records, as they stand at this moment. Only blind indexes are compared;
// nothing personal is opened or answered.
import type { Principal } from "../../../core/access/principal.ts";
import { resolveContactVerdict, type ContactVerdict, type ContactBasis } from "../../../core/contact/verdict.ts";
import type { Instant } from "../../../core/time.ts";
import { listContactBasis } from "../../../storage/contact.ts";
import type { ContactDependencies } from "./dependencies.ts";
import { computeSubjectIndexes, type SubjectQuery } from "./compute-subject-indexes.ts";

export interface ContactQuery {
  readonly subjects: readonly SubjectQuery[];
  /** Only consent that names this recipient, and shares with a business of that name; null: whoever is named. */
  readonly entity: string | null;
  /** Only consent for this purpose; null: whatever it is for. */
  readonly purpose: string | null;
}

export interface ContactCheck extends ContactVerdict {
  readonly basis: readonly ContactBasis[];
  readonly checkedAt: Instant;
}

/** One for each subject, in their order. */
export const checkContact = async (
  services: ContactDependencies,
  principal: Principal,
  { subjects, entity, purpose }: ContactQuery,
): Promise<readonly ContactCheck[]> => {
  const { business, environment } = principal;
  const indexes = await Promise.all(subjects.map((subject) => computeSubjectIndexes(services, business.country, subject)));
  const checkedAt = services.clock();
  const asked = { businessId: business.id, environment, subjects: indexes, entity, purpose };
  const found = await listContactBasis(services.shards.forId(business.id), asked, checkedAt);
  return found.map((basis) => ({ ...resolveContactVerdict(basis), basis, checkedAt }));
};
