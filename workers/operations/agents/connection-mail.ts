// What the mails about a connection share: whom they go to, and the link that ends it.
import { isSameSecret } from "../../../core/hash.ts";
import type { BusinessId, ConsumerId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { personOf } from "../../../storage/members.ts";
import { consumerAddress } from "../../../storage/people.ts";
import type { Runtime, Stores } from "../../services.ts";

/** Null for a person who is gone. */
export const addressOfHolder = async (
  services: Runtime & Stores,
  db: Database,
  { principalId, businessId }: { readonly principalId: string; readonly businessId: string | null },
): Promise<string | null> => {
  if (businessId === null) return consumerAddress(db, services.vault, principalId as ConsumerId);
  return (await personOf(db, services.vault, businessId as BusinessId, principalId, services.clock()))?.email ?? null;
};

/** Proves that somebody holds a mail about the connection; made again from the key, so that it is stored nowhere. */
const endToken = ({ vault }: Stores, id: string): Promise<string> => vault.linkToken(`end connection\n${id}`);

export const endLinkOf = async (services: Runtime & Stores, id: string): Promise<string> =>
  `${services.config.appUrl}/oauth/end/${id}?t=${await endToken(services, id)}`;

/** Whether the link is the one that was mailed about this connection. */
export const isEndLink = async (services: Stores, id: string, token: string): Promise<boolean> =>
  /^tok_[0-9a-z]{26}$/.test(id) && isSameSecret(token, await endToken(services, id));
