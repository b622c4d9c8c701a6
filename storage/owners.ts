// Where a business is told something: the addresses of its owners, or the published contact of one that has none yet.
import { isMailbox } from "../core/mailbox.ts";
import type { BusinessId } from "../core/ids.ts";
import { memberEmailPlace } from "./people-places.ts";
import type { Vault } from "./vault.ts";

const mostOwners = 10; // with twenty withdrawals in the batch there is room for so many mails

export const ownerAddresses = async (db: D1Database, vault: Vault, businessId: BusinessId): Promise<readonly string[]> => {
  const { results } = await db
    .prepare(
      `SELECT b.contact_email, m.id, m.email_sealed FROM businesses b
       LEFT JOIN members m ON m.business_id = b.id AND m.role = 'owner' WHERE b.id = ? ORDER BY m.created_at, m.id LIMIT ${mostOwners}`,
    )
    .bind(businessId)
    .all<{ contact_email: string | null; id: string | null; email_sealed: string | null }>();
  const owners = await Promise.all(
    results.flatMap(({ id, email_sealed: sealed }) =>
      id === null || sealed === null ? [] : [vault.open(memberEmailPlace(id, businessId), sealed)],
    ),
  );
  const contact = results[0]?.contact_email ?? null;
  return owners.length > 0 || contact === null || !isMailbox(contact) ? owners : [contact];
};
