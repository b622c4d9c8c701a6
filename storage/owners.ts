// Where a business is told something: the addresses of its owners, or the published contact of one that has none yet.
import { eq } from "drizzle-orm";
import { isMailbox } from "../core/mailbox.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { memberEmailContext } from "./people-contexts.ts";
import { businesses, members } from "./schema.ts";
import { allOf } from "./query.ts";
import type { Vault } from "./vault.ts";

const maxOwners = 10; // each is one more statement in the batch of a withdrawal

export const ownerAddresses = async (db: Database, vault: Vault, businessId: BusinessId): Promise<readonly string[]> => {
  const rows = await db
    .select({ contact: businesses.contactEmail, owner: { id: members.id, emailSealed: members.emailSealed } })
    .from(businesses)
    .leftJoin(members, allOf(eq(members.businessId, businesses.id), eq(members.role, "owner")))
    .where(eq(businesses.id, businessId))
    .orderBy(members.createdAt, members.id)
    .limit(maxOwners);
  const owners = await Promise.all(
    rows.flatMap(({ owner }) => (owner === null ? [] : [vault.open(memberEmailContext(owner.id, businessId), owner.emailSealed)])),
  );
  const contact = rows[0]?.contact ?? null;
  return owners.length > 0 || contact === null || !isMailbox(contact) ? owners : [contact];
};
