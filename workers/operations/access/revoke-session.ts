// Ends one of the signed-in person's sessions.
import type { Session } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { deleteOwnSession } from "../../../storage/sessions.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { deleteOwnCredential } from "./own-credentials.ts";

/** Ends one of the person's sessions immediately. Returns `not_found` for unknown sessions and other people's sessions. */
export const revokeSession = async (
  services: WriteDependencies,
  session: Session,
  id: string,
): Promise<Result<{ readonly id: string; readonly wasCurrent: boolean }, "not_found">> => {
  const action: AuditedAction = { type: "session.ended", entityType: "session", entityId: id };
  const ended = await deleteOwnCredential(services, session, action, (db, now) => deleteOwnSession(db, session, id, now));
  return ended === 0 ? refuse("not_found") : ok({ id, wasCurrent: id === session.sessionId });
};
