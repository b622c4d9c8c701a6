// Implements POST /v1/auth/logout.
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { deleteSession } from "../../../storage/sessions.ts";
import type { Stores } from "../dependencies.ts";

/** Ends the token's session immediately. Does nothing for a malformed or unknown token. */
export const signOut = async (services: Stores, token: string): Promise<void> => {
  if (hasSecretShape(token, "ses_")) await deleteSession(services.shards.forId(token), sha256Hex(token)).run();
};
