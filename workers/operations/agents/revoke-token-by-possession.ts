// Revokes an agent token for a program that has the token (RFC 7009).
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/** Revokes the given token. Does not reveal whether it existed. */
export const revokeTokenByPossession = async (services: WriteDependencies, token: string): Promise<void> => {
  if (!hasSecretShape(token, "pat_")) return;
  await revokeLiveToken(services, services.shards.forId(token), { tokenHash: sha256Hex(token) }, "agent");
};
