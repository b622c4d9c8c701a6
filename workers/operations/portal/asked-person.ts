// Whom a member searches for: an address or a number belongs into no URL, so the list is asked for by a sealed one, which only that
// business's pages can open.
import type { MemberSession } from "../../../core/access/session.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Stores } from "../../services.ts";

const contextOf = ({ business }: MemberSession): EncryptionContext => ({
  table: "url",
  record: "search",
  field: "person",
  owner: business.id,
});

export const sealAskedPerson = ({ vault }: Stores, member: MemberSession, person: string): Promise<string> =>
  vault.seal(contextOf(member), person);

/** For whatever we did not seal for this business, somebody who is nobody. */
export const openAskedPerson = async ({ vault }: Stores, member: MemberSession, sealed: string): Promise<string> => {
  try {
    return await vault.open(contextOf(member), sealed);
  } catch {
    return "@"; // an address is whatever somebody types: it finds nobody
  }
};
