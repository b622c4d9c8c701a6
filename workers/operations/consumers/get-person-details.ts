// Reads the person's contact fields and shares.
import type { Person } from "../../../core/access/principal.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { loadSharesWith } from "./list-own-shares.ts";

/** Returns the fields and shares. There are no fields if the account no longer exists. */
export const getPersonDetails = async (
  services: ReadDependencies,
  person: Person,
): Promise<{ readonly fields: ContactFields; readonly shares: readonly Share[] }> => {
  const [{ shares }, stored] = await loadSharesWith(services, person, (ownDb) => findContactFields(ownDb, services.vault, person.id));
  return { fields: stored?.fields ?? {}, shares };
};
