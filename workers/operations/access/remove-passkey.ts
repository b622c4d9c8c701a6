// Removes one of a person's passkeys.
import type { Session } from "../../../core/access/session.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { deletePasskey } from "../../../storage/passkeys.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { deleteOwnCredential } from "./own-credentials.ts";

/**
 * Removes a passkey immediately. Sessions that were started with it continue. Returns `not_found` for unknown passkeys and other people's
 * passkeys.
 */
export const removePasskey = async (services: WriteDependencies, session: Session, id: string): Promise<Result<string, "not_found">> => {
  const action = { type: "passkey.removed", entityType: "passkey", entityId: id } as const;
  const removed = await deleteOwnCredential(services, session, action, (db) => deletePasskey(db, session.userId, id));
  return removed === 0 ? refuse("not_found") : ok(id);
};
