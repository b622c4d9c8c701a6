// Prepares emails to a person whose account may be in another shard.
import type { ConsumerId } from "../../../core/ids.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail, type NewMail } from "../../../storage/outboxes/mail.ts";
import { findConsumerAddress } from "../../../storage/people.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * Returns the statements that write the email to the outbox of `db`. Returns none for a test person (null) or if the account no longer
 * exists.
 */
export const prepareMailToPerson = async (
  services: ReadDependencies,
  db: Database,
  id: ConsumerId | null,
  mail: Omit<NewMail, "to" | "now" | "consumerId">,
): Promise<readonly Statement[]> => {
  if (id === null) return [];
  const to = await findConsumerAddress(services.shards.forId(id), services.vault, id);
  return to === null ? [] : insertMail(db, services.vault, { ...mail, to, consumerId: id, now: services.clock() } as NewMail);
};
