import type { MemberSession } from "../../../core/access/session.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Stores } from "../dependencies.ts";

const getSearchContext = ({ business }: MemberSession): EncryptionContext => ({
  table: "url",
  record: "search",
  field: "person",
  owner: business.id,
});

export const sealSearchedPerson = ({ vault }: Stores, member: MemberSession, person: string): Promise<string> =>
  vault.seal(getSearchContext(member), person);

/** For whatever we did not seal for this business, somebody who is nobody. */
export const openSearchedPerson = async ({ vault }: Stores, member: MemberSession, sealed: string): Promise<string> => {
  try {
    return await vault.open(getSearchContext(member), sealed);
  } catch {
    return "@"; // an address is whatever somebody types: it finds nobody
  }
};
