// Ends a connection through the link in an email about it.
import type { WriteDependencies } from "../dependencies.ts";
import { isDisconnectLink } from "./disconnect-link.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/** Revokes the link's token. Returns false only if the link is invalid. Does nothing if the token has already ended. */
export const revokeTokenByLink = async (services: WriteDependencies, id: string, token: string): Promise<boolean> => {
  if (!(await isDisconnectLink(services, id, token))) return false;
  await revokeLiveToken(services, services.shards.forId(id), { id }, "owner");
  return true;
};
