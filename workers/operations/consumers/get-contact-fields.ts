// Reads the person's saved contact fields.
import type { Person } from "../../../core/access/principal.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import type { Stores } from "../dependencies.ts";

/** Returns the fields, or `unauthorized` if the account no longer exists. */
export const getContactFields = async (services: Stores, person: Person): Promise<Result<ContactFields, "unauthorized">> => {
  const stored = await findContactFields(services.shards.forId(person.id), services.vault, person.id);
  return stored === null ? refuse("unauthorized") : ok(stored.fields);
};
