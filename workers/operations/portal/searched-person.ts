// Seals the person that a member searches for, for use in a URL.
import type { MemberSession } from "../../../core/access/session.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Stores } from "../dependencies.ts";

const getSearchContext = ({ business }: MemberSession): EncryptionContext => ({
  table: "url",
  record: "search",
  field: "person",
  owner: business.id,
});

/** Seals the search text for this business. */
export const sealSearchedPerson = ({ vault }: Stores, member: MemberSession, person: string): Promise<string> =>
  vault.seal(getSearchContext(member), person);

/** Opens the search text. If the text was not sealed for this business, returns a search that matches nobody. */
export const openSearchedPerson = async ({ vault }: Stores, member: MemberSession, sealed: string): Promise<string> => {
  try {
    return await vault.open(getSearchContext(member), sealed);
  } catch {
    return "@"; // URLs are untrusted input; "@" does not match anyone
  }
};
