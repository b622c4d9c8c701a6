import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/** RFC 7009: whoever has a token may end it. Nothing tells whether there was one. */
export const revokeTokenByPossession = async (services: WriteDependencies, token: string): Promise<void> => {
  if (hasSecretShape(token, "pat_")) await revokeLiveToken(services, services.shards.forId(token), { tokenHash: sha256Hex(token) });
};
