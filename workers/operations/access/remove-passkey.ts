import type { ConsumerSession } from "../../../core/access/session.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { deletePasskey } from "../../../storage/passkeys.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { deleteOwnCredential } from "./own-credentials.ts";

/** Nobody signs in with it from then on; who is signed in stays so. */
export const removePasskey = async (
  services: WriteDependencies,
  session: ConsumerSession,
  id: string,
): Promise<Result<string, "not_found">> => {
  const act = { type: "passkey.removed", entityType: "passkey", entityId: id } as const;
  const removed = await deleteOwnCredential(services, session, act, (db) => deletePasskey(db, session.userId, id));
  return removed === 0 ? refuse("not_found") : ok(id);
};
