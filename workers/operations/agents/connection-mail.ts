// Finds the recipient of emails about a connection.
import type { ConsumerId, BusinessId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { findMember } from "../../../storage/members.ts";
import { findConsumerAddress } from "../../../storage/people.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** The recipient of an email. For a consumer, `consumerId` is set, so that erasing the account also deletes the email. */
export interface MailRecipient {
  readonly to: string;
  readonly consumerId?: ConsumerId;
}

/** Returns the token's holder as the recipient. Returns null if the consumer or member no longer exists. */
export const findHolderRecipient = async (
  services: ReadDependencies,
  db: Database,
  { principalId, businessId }: { readonly principalId: string; readonly businessId: string | null },
): Promise<MailRecipient | null> => {
  if (businessId === null) {
    const consumerId = principalId as ConsumerId;
    const to = await findConsumerAddress(db, services.vault, consumerId);
    return to === null ? null : { to, consumerId };
  }
  const member = await findMember(db, services.vault, businessId as BusinessId, principalId, services.clock());
  return member === null ? null : { to: member.email };
};
