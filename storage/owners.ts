// The email addresses for notices to a business. If a business has no owner yet, notices are sent to its published contact address.
import { eq, inArray } from "drizzle-orm";
import { isEmailAddress } from "../core/email-address.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { memberEmailContext } from "./people-contexts.ts";
import { businesses, members } from "./schema.ts";
import { allOf, jsonList } from "./query.ts";
import type { EncryptionContext } from "./vault.ts";

const maxOwners = 10; // limited, because each owner gets a separate email

/** Decrypts a sealed address. Returns undefined if that fails. */
type OpenAddress = (context: EncryptionContext, sealed: string) => Promise<string | undefined>;

/**
 * Lists the email addresses for several businesses in one shard, up to ten per business. Omits addresses that cannot be decrypted. If a
 * business has owners but none of their addresses can be decrypted, the value is null, because an operator may restore the key.
 */
export const listOwnerAddresses = async (
  db: Database,
  openAddress: OpenAddress,
  ids: readonly BusinessId[],
): Promise<ReadonlyMap<BusinessId, readonly string[] | null>> => {
  const rows = await db
    .select({ id: businesses.id, contact: businesses.contactEmail, owner: { id: members.id, emailSealed: members.emailSealed } })
    .from(businesses)
    .leftJoin(members, allOf(eq(members.businessId, businesses.id), eq(members.role, "owner")))
    .where(inArray(businesses.id, jsonList(ids)))
    .orderBy(members.createdAt, members.id);
  const addresses = async (id: BusinessId, businessRows: typeof rows): Promise<readonly [BusinessId, readonly string[] | null]> => {
    const owners = businessRows.flatMap(({ owner }) => owner ?? []).slice(0, maxOwners);
    const contact = businessRows[0]?.contact ?? null;
    if (owners.length === 0) return [id, contact !== null && isEmailAddress(contact) ? [contact] : []];
    const opened = await Promise.all(owners.map((owner) => openAddress(memberEmailContext(owner.id, id), owner.emailSealed)));
    const readable = opened.filter((address) => address !== undefined);
    return [id, readable.length === 0 ? null : readable];
  };
  return new Map(await Promise.all([...Map.groupBy(rows, ({ id }) => id)].map(([id, businessRows]) => addresses(id, businessRows))));
};
