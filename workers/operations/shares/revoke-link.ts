import type { ShareId } from "../../../core/ids.ts";
import type { Stores, Runtime } from "../../services.ts";

/** Proves that somebody holds the mail of a grant. */
export const createRevokeToken = ({ vault }: Stores, id: ShareId): Promise<string> => vault.linkToken(`share\n${id}`);

export const createRevokeUrl = async (services: Runtime & Stores, id: ShareId): Promise<string> =>
  `${services.config.appUrl}/stop/${id}#t=${await createRevokeToken(services, id)}`;
