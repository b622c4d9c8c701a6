// Finds the recipient of emails about a connection.
import type { ConsumerId, BusinessId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { findMember } from "../../../storage/members.ts";
import { findConsumerAddress } from "../../../storage/people.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Returns the current email address of the token's holder. Returns null if the consumer or member no longer exists. */
export const loadHolderEmail = async (
  services: ReadDependencies,
  db: Database,
  { principalId, businessId }: { readonly principalId: string; readonly businessId: string | null },
): Promise<string | null> => {
  if (businessId === null) return findConsumerAddress(db, services.vault, principalId as ConsumerId);
  return (await findMember(db, services.vault, businessId as BusinessId, principalId, services.clock()))?.email ?? null;
};
