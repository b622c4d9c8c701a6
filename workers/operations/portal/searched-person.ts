// Seals the text of a member's search for a person, so that it can be part of a URL.
import type { MemberSession } from "../../../core/access/session.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Stores } from "../dependencies.ts";

const getSearchContext = ({ business }: MemberSession): EncryptionContext => ({
  table: "url",
  record: "search",
  field: "person",
  owner: business.id,
});

/** Seals the search text. Only this business can open it. */
export const sealSearchedPerson = ({ vault }: Stores, member: MemberSession, person: string): Promise<string> =>
  vault.seal(getSearchContext(member), person);

/** Opens the search text. If the text was not sealed for this business, returns a search that matches no one. */
export const openSearchedPerson = async ({ vault }: Stores, member: MemberSession, sealed: string): Promise<string> => {
  try {
    return await vault.open(getSearchContext(member), sealed);
  } catch {
    return "@"; // a URL can contain anything; "@" is not an email address and matches no one
  }
};
