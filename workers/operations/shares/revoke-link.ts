import type { ShareId } from "../../../core/ids.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** Proves that somebody holds the mail of a grant. */
export const createRevokeToken = ({ vault }: Stores, id: ShareId): Promise<string> => vault.linkToken(`share\n${id}`);

export const createRevokeUrl = async (services: ReadDependencies, id: ShareId): Promise<string> =>
  `${services.config.appUrl}/stop/${id}#t=${await createRevokeToken(services, id)}`;
