// The email addresses for notices to a business: its owners' or, if it has no owner yet, its published contact address.
import { eq, inArray } from "drizzle-orm";
import { isEmailAddress } from "../core/email-address.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { memberEmailContext } from "./people-contexts.ts";
import { businesses, members } from "./schema.ts";
import { allOf, jsonList } from "./query.ts";
import type { Vault } from "./vault.ts";

const maxOwners = 10; // limited, because each owner gets a separate email

/** Lists the email addresses for several businesses in one shard, up to ten per business. */
export const listOwnerAddresses = async (
  db: Database,
  vault: Vault,
  ids: readonly BusinessId[],
): Promise<ReadonlyMap<BusinessId, readonly string[]>> => {
  const rows = await db
    .select({ id: businesses.id, contact: businesses.contactEmail, owner: { id: members.id, emailSealed: members.emailSealed } })
    .from(businesses)
    .leftJoin(members, allOf(eq(members.businessId, businesses.id), eq(members.role, "owner")))
    .where(inArray(businesses.id, jsonList(ids)))
    .orderBy(members.createdAt, members.id);
  const addresses = async (id: BusinessId, of: typeof rows): Promise<readonly [BusinessId, readonly string[]]> => {
    const owners = await Promise.all(
      of
        .slice(0, maxOwners)
        .flatMap(({ owner }) => (owner === null ? [] : [vault.open(memberEmailContext(owner.id, id), owner.emailSealed)])),
    );
    const contact = of[0]?.contact ?? null;
    return [id, owners.length > 0 || contact === null || !isEmailAddress(contact) ? owners : [contact]];
  };
  return new Map(await Promise.all([...Map.groupBy(rows, ({ id }) => id)].map(([id, of]) => addresses(id, of))));
};
