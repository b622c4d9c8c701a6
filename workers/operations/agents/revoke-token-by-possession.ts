import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import type { Runtime, Stores, Schedules } from "../../services.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/** RFC 7009: whoever has a token may end it. Nothing tells whether there was one. */
export const revokeTokenByPossession = async (services: Runtime & Stores & Schedules, token: string): Promise<void> => {
  if (hasSecretShape(token, "pat_")) await revokeLiveToken(services, services.shards.forId(token), { tokenHash: sha256Hex(token) });
};
