// Ends a connection by the link in a mail about it.
import type { WriteDependencies } from "../dependencies.ts";
import { isDisconnectLink } from "./disconnect-link.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/** Revokes the token of the link. False if the link is invalid; true also if the token has ended already. */
export const revokeTokenByLink = async (services: WriteDependencies, id: string, token: string): Promise<boolean> => {
  if (!(await isDisconnectLink(services, id, token))) return false;
  await revokeLiveToken(services, services.shards.forId(id), { id });
  return true;
};
