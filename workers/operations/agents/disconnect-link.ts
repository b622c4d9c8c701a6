// Creates and checks the link that ends a connection. The link is included in emails about the connection.
import { isEqualConstantTime } from "../../../core/hash.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/**
 * Derives a token that proves possession of an email about the connection. The token is derived from a secret key, so it does not have to
 * be stored.
 */
const createDisconnectToken = ({ vault }: Stores, id: string): Promise<string> => vault.linkToken(`end connection\n${id}`);

/** Returns the URL that ends a connection by revoking its token. */
export const createDisconnectUrl = async (services: ReadDependencies, id: string): Promise<string> =>
  `${services.config.appUrl}/oauth/end/${id}?t=${await createDisconnectToken(services, id)}`;

/** Returns whether a link's token belongs to this connection. Compares in constant time. */
export const isDisconnectLink = async (services: Stores, id: string, token: string): Promise<boolean> =>
  /^tok_[0-9a-z]{26}$/.test(id) && isEqualConstantTime(token, await createDisconnectToken(services, id));
