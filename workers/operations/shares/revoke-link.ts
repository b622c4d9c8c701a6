// Creates and checks the link that revokes a share. The link is included in emails about the share.
import type { ShareId } from "../../../core/ids.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/**
 * The text that the link's token is derived from. The token does not expire, and only people who received an email about the share know it.
 */
const toPurpose = (id: ShareId): string => `share\n${id}`;

/** Returns whether a link's token belongs to this share. Compares in constant time. */
export const isRevokeToken = ({ vault }: Stores, id: ShareId, token: string): Promise<boolean> => vault.isLinkToken(toPurpose(id), token);

/** Returns the link's URL. The token is in the fragment, which browsers do not send to servers. */
export const createRevokeUrl = async (services: ReadDependencies, id: ShareId): Promise<string> =>
  `${services.config.appUrl}/stop/${id}#t=${await services.vault.linkToken(toPurpose(id))}`;
