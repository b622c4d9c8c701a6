// Creates and checks the link that ends a connection. The link is included in emails about the connection.
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** The link's token is derived from this text, so it is valid for only one connection. */
const toPurpose = (id: string): string => `end connection\n${id}`;

/** Returns the URL that ends a connection by revoking its token. */
export const createDisconnectUrl = async (services: ReadDependencies, id: string): Promise<string> =>
  `${services.config.appUrl}/oauth/end/${id}?t=${await services.vault.linkToken(toPurpose(id))}`;

/** Returns whether a link's token belongs to this connection. Compares in constant time. */
export const isDisconnectLink = async (services: Stores, id: string, token: string): Promise<boolean> =>
  /^tok_[0-9a-z]{26}$/.test(id) && (await services.vault.isLinkToken(toPurpose(id), token));
