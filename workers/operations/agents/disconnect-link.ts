import { isEqualConstantTime } from "../../../core/hash.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** Proves that somebody holds a mail about the connection; made again from the key, so that it is stored nowhere. */
const createDisconnectToken = ({ vault }: Stores, id: string): Promise<string> => vault.linkToken(`end connection\n${id}`);

export const createDisconnectUrl = async (services: ReadDependencies, id: string): Promise<string> =>
  `${services.config.appUrl}/oauth/end/${id}?t=${await createDisconnectToken(services, id)}`;

/** Whether the link is the one that was mailed about this connection. */
export const isDisconnectLink = async (services: Stores, id: string, token: string): Promise<boolean> =>
  /^tok_[0-9a-z]{26}$/.test(id) && isEqualConstantTime(token, await createDisconnectToken(services, id));
