import type { Person } from "../../../core/access/principal.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { loadSharesWith } from "./list-own-shares.ts";

/** What a person keeps, and who holds some of it; no fields for a person who is gone. */
export const getPersonDetails = async (
  services: ReadDependencies,
  person: Person,
): Promise<{ readonly fields: ContactFields; readonly shares: readonly Share[] }> => {
  const [{ shares }, kept] = await loadSharesWith(services, person, (own) => findContactFields(own, services.vault, person.id));
  return { fields: kept?.fields ?? {}, shares };
};
