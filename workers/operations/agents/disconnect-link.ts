// The link in mails about a connection that ends it.
import { isEqualConstantTime } from "../../../core/hash.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** Proves possession of a mail about the connection. Derived from a secret key, so it is not stored. */
const createDisconnectToken = ({ vault }: Stores, id: string): Promise<string> => vault.linkToken(`end connection\n${id}`);

/** The URL that ends the connection of this token. */
export const createDisconnectUrl = async (services: ReadDependencies, id: string): Promise<string> =>
  `${services.config.appUrl}/oauth/end/${id}?t=${await createDisconnectToken(services, id)}`;

/** Whether the token of a link belongs to this connection. Compares in constant time. */
export const isDisconnectLink = async (services: Stores, id: string, token: string): Promise<boolean> =>
  /^tok_[0-9a-z]{26}$/.test(id) && isEqualConstantTime(token, await createDisconnectToken(services, id));
