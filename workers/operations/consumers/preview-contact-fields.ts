// Computes the effect of a change to contact fields, without saving the change.
import type { Person } from "../../../core/access/principal.ts";
import { ok, type Result } from "../../../core/result.ts";
import { applyFieldChanges, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import { getContactFields } from "./get-contact-fields.ts";

export interface FieldsPreview {
  readonly before: ContactFields;
  readonly after: ContactFields;
  readonly changed: readonly ContactKey[];
}

/** Returns the result of the change. Returns `invalid_request` for an invalid value, and `unauthorized` if the account no longer exists. */
export const previewContactFields = async (
  services: CertificateDependencies,
  person: Person,
  change: ReadonlyMap<ContactKey, string | null>,
): Promise<Result<FieldsPreview, "invalid_request" | "unauthorized">> => {
  const before = await getContactFields(services, person);
  if (!before.ok) return before;
  const decided = applyFieldChanges(before.value, change, services.clock(), services.toE164);
  return decided.ok ? ok({ before: before.value, after: decided.value.fields, changed: decided.value.changedKeys }) : decided;
};
