// Ends all of the signed-in person's other sessions.
import type { Session } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { deleteOtherSessions } from "../../../storage/sessions.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { deleteOwnCredential } from "./own-credentials.ts";

/**
 * Immediately ends all of the person's live sessions except this one, and writes one audit entry if there were any. Returns the number of
 * ended sessions.
 */
export const revokeOtherSessions = (services: WriteDependencies, session: Session): Promise<number> => {
  const entityType = session.realm === "consumer" ? "consumer" : "member";
  const action: AuditedAction = { type: "session.ended", entityType, entityId: session.userId, payload: { kept: session.sessionId } };
  return deleteOwnCredential(services, session, action, (db, now) => deleteOtherSessions(db, session, now));
};
