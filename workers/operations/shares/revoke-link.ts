// Creates the link that revokes a share. The link is included in emails about the share.
import type { ShareId } from "../../../core/ids.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** Creates the link's token, which proves access to an email about the share. The token does not expire. */
export const createRevokeToken = ({ vault }: Stores, id: ShareId): Promise<string> => vault.linkToken(`share\n${id}`);

/** Returns the link's URL. The token is in the fragment, which browsers do not send to servers. */
export const createRevokeUrl = async (services: ReadDependencies, id: ShareId): Promise<string> =>
  `${services.config.appUrl}/stop/${id}#t=${await createRevokeToken(services, id)}`;
